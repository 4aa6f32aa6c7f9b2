//! Which instructions a candidate may hold: those that compute, and near jumps, calls and returns.
//!
//! A list of what is allowed, by the processor's own features: what the next processor adds is
//! refused until someone has looked at it. Vectors and prefetching are not forbidden here: the
//! compiler may write them by itself, and a stage looks for them in the source.

use iced_x86::{Code, CpuidFeature as F, FlowControl, Instruction, Mnemonic, OpKind, Register};

/// The rule that an instruction breaks; `bytes` are its own.
pub(super) fn refusal(instruction: &Instruction, bytes: &[u8]) -> Option<String> {
    if instruction.is_invalid() {
        return Some("these bytes are no instruction".into());
    }
    let code = instruction.code();
    let known = code
        .cpuid_features()
        .iter()
        .all(|feature| computes(*feature));
    let plain = goes_near(instruction, bytes)
        && !code.is_privileged()
        && !moves_many_registers(instruction)
        && !touches_segment_register(instruction)
        && !asks_the_system(instruction)
        && !sets_flags_of_the_system(instruction);
    if plain && (known || is_harmless(code)) {
        return None;
    }
    let name = format!("{:?}", instruction.mnemonic()).to_lowercase();
    Some(format!("the instruction `{name}` is prohibited"))
}

/// Where an instruction jumps to by itself.
pub(super) fn jumps_to(instruction: &Instruction) -> Option<u64> {
    (instruction.op0_kind() == OpKind::NearBranch64).then(|| instruction.near_branch64())
}

/// The place that an instruction names as a distance from itself: what it reads, writes or takes
/// the address of.
pub(super) fn refers_to(instruction: &Instruction) -> Option<u64> {
    instruction
        .is_ip_rel_memory_operand()
        .then(|| instruction.ip_rel_memory_address())
}

/// Whether control stays in this process and mode: no system call, interrupt, far jump or
/// transaction.
fn goes_near(instruction: &Instruction, bytes: &[u8]) -> bool {
    let code = instruction.code();
    match code.flow_control() {
        FlowControl::Next => true,
        _ if is_ambiguous(bytes) => false,
        FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch | FlowControl::Call => {
            instruction.op0_kind() == OpKind::NearBranch64
        }
        FlowControl::IndirectBranch => code == Code::Jmp_rm64,
        FlowControl::IndirectCall => code == Code::Call_rm64,
        FlowControl::Return => matches!(code, Code::Retnq | Code::Retnq_imm16),
        FlowControl::Exception => is_harmless(code),
        FlowControl::Interrupt | FlowControl::XbeginXabortXend => false,
    }
}

/// Whether makers of processors disagree on a branch: behind an operand-size prefix, one has 16
/// bits of address where the other has 64. A wide prefix settles it, as in the sequence that finds
/// a thread's own storage.
fn is_ambiguous(bytes: &[u8]) -> bool {
    let is_prefix = |byte: &&u8| {
        matches!(
            byte,
            0x26 | 0x2e | 0x36 | 0x3e | 0x64..=0x67 | 0xf0 | 0xf2 | 0xf3
        )
    };
    let prefixes = bytes.iter().take_while(is_prefix).count();
    let is_wide = matches!(bytes.get(prefixes), Some(0x48..=0x4f));
    bytes[..prefixes].contains(&0x66) && !is_wide
}

/// Whether it saves or restores registers by the dozen: no compiler writes that by itself.
fn moves_many_registers(instruction: &Instruction) -> bool {
    let old = matches!(instruction.mnemonic(), Mnemonic::Fnsave | Mnemonic::Frstor);
    old || instruction.code().is_save_restore_instruction()
}

fn touches_segment_register(instruction: &Instruction) -> bool {
    let named = (0..instruction.op_count())
        .any(|at| instruction.op_kind(at) == OpKind::Register && is_segment(instruction, at));
    let loaded = matches!(
        instruction.mnemonic(),
        Mnemonic::Lss | Mnemonic::Lfs | Mnemonic::Lgs | Mnemonic::Lds | Mnemonic::Les
    );
    named || loaded
}

/// Whether it reads the system's own tables and registers, which processors allow and nobody needs.
fn asks_the_system(instruction: &Instruction) -> bool {
    matches!(
        instruction.mnemonic(),
        Mnemonic::Verr
            | Mnemonic::Verw
            | Mnemonic::Lar
            | Mnemonic::Lsl
            | Mnemonic::Sgdt
            | Mnemonic::Sidt
            | Mnemonic::Sldt
            | Mnemonic::Str
            | Mnemonic::Smsw
    )
}

/// Whether it sets all flags from memory, also those that trap each instruction or each load across
/// words.
fn sets_flags_of_the_system(instruction: &Instruction) -> bool {
    matches!(
        instruction.mnemonic(),
        Mnemonic::Popf | Mnemonic::Popfd | Mnemonic::Popfq
    )
}

fn is_segment(instruction: &Instruction, operand: u32) -> bool {
    matches!(
        instruction.op_register(operand),
        Register::ES | Register::CS | Register::SS | Register::DS | Register::FS | Register::GS
    )
}

/// Single instructions of features that are refused otherwise: which vectors the system saves, as
/// code asks that picks its version by the processor; and what compilers write where shadow stacks
/// may be in use, or nothing should ever come.
fn is_harmless(code: Code) -> bool {
    matches!(
        code,
        Code::Xgetbv
            | Code::Rdsspd_r32
            | Code::Rdsspq_r64
            | Code::Incsspd_r32
            | Code::Incsspq_r64
            | Code::Ud1_r32_rm32
            | Code::Ud2
    )
}

/// Whether all that a feature brings is arithmetic, data movement or a hint to caches.
fn computes(feature: F) -> bool {
    is_scalar(feature) || is_vector(feature) || is_wide_vector(feature)
}

/// Plain words, the old floating-point unit, and hints to caches.
fn is_scalar(feature: F) -> bool {
    matches!(
        feature,
        F::INTEL8086
            | F::INTEL186
            | F::INTEL386
            | F::INTEL486
            | F::X64
            | F::CMOV
            | F::CX8
            | F::CMPXCHG16B
            | F::CPUID
            | F::FPU
            | F::FPU287
            | F::FPU387
            | F::MULTIBYTENOP
            | F::PAUSE
            | F::MMX
            | F::D3NOW
            | F::D3NOWEXT
            | F::CET_IBT
            | F::ADX
            | F::BMI1
            | F::BMI2
            | F::TBM
            | F::LZCNT
            | F::POPCNT
            | F::MOVBE
            | F::MOVDIRI
            | F::MOVDIR64B
            | F::RDRAND
            | F::RDSEED
            | F::RAO_INT
            | F::CMPCCXADD
            | F::SERIALIZE
            | F::CLFSH
            | F::CLFLUSHOPT
            | F::CLWB
            | F::CLDEMOTE
            | F::CLZERO
            | F::PREFETCHW
            | F::PREFETCHWT1
            | F::PREFETCHITI
    )
}

/// Vectors of up to 32 bytes, and tiles.
fn is_vector(feature: F) -> bool {
    matches!(
        feature,
        F::SSE
            | F::SSE2
            | F::SSE3
            | F::SSSE3
            | F::SSE4_1
            | F::SSE4_2
            | F::SSE4A
            | F::AES
            | F::PCLMULQDQ
            | F::SHA
            | F::SHA512
            | F::SM3
            | F::SM4
            | F::GFNI
            | F::VAES
            | F::VPCLMULQDQ
            | F::AVX
            | F::AVX2
            | F::F16C
            | F::FMA
            | F::FMA4
            | F::XOP
            | F::AVX_VNNI
            | F::AVX_IFMA
            | F::AVX_NE_CONVERT
            | F::AVX_VNNI_INT8
            | F::AVX_VNNI_INT16
            | F::AMX_TILE
            | F::AMX_INT8
            | F::AMX_BF16
            | F::AMX_FP16
            | F::AMX_COMPLEX
    )
}

/// Vectors of 64 bytes.
fn is_wide_vector(feature: F) -> bool {
    matches!(
        feature,
        F::AVX512F
            | F::AVX512VL
            | F::AVX512BW
            | F::AVX512CD
            | F::AVX512DQ
            | F::AVX512ER
            | F::AVX512PF
            | F::AVX512_4FMAPS
            | F::AVX512_4VNNIW
            | F::AVX512_BF16
            | F::AVX512_BITALG
            | F::AVX512_FP16
            | F::AVX512_IFMA
            | F::AVX512_VBMI
            | F::AVX512_VBMI2
            | F::AVX512_VNNI
            | F::AVX512_VP2INTERSECT
            | F::AVX512_VPOPCNTDQ
    )
}

/// The names of all instructions on several numbers at once, without those on one number in a
/// vector's register, or on no number.
#[cfg(test)]
pub(super) fn vector_mnemonics() -> std::collections::BTreeSet<String> {
    let of_vectors =
        |feature: &F| is_vector(*feature) || is_wide_vector(*feature) || *feature == F::MMX;
    let codes = Code::values().filter(|code| code.cpuid_features().iter().any(of_vectors));
    let names = codes.map(|code| format!("{:?}", code.mnemonic()).to_lowercase());
    names.filter(|name| !is_scalar_name(name)).collect()
}

#[cfg(test)]
fn is_scalar_name(name: &str) -> bool {
    let plain = name.strip_prefix('v').unwrap_or(name);
    let arithmetic = [
        "add", "cmp", "comi", "cvt", "div", "fixupimm", "fmadd", "fmsub", "fnmadd", "fnmsub",
        "fpclass", "frcz", "getexp", "getmant", "max", "min", "mov", "mul", "range", "rcp",
        "reduce", "round", "rndscale", "rsqrt", "scalef", "sqrt", "sub", "ucomi",
    ];
    let of_one = ["sd", "ss", "sh", "2si", "2usi", "s"];
    let is_arithmetic = arithmetic.iter().any(|start| plain.starts_with(start))
        && of_one.iter().any(|end| plain.ends_with(end));
    let others = [
        "movd",
        "movq",
        "movnti",
        "crc32",
        "ldmxcsr",
        "stmxcsr",
        "sfence",
        "lfence",
        "mfence",
        "pause",
        "zeroupper",
        "zeroall",
        "fisttp",
    ];
    is_arithmetic && !plain.ends_with("ps")
        || others.contains(&plain)
        || plain.starts_with("prefetch")
}
