use std::path::Path;
use std::process::Command;

use super::*;

fn run(program: &str, arguments: &[&str], folder: &Path) {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
}

/// A shared object of a C source, as the bench links it, and without the screen before it.
fn linked(compiler: &str, level: &str, source: &Path, room: &Path) -> Vec<u8> {
    let shim = "void hotloop_call(void *const *a) { (void)a; }\n";
    std::fs::write(room.join("shim.c"), shim).unwrap();
    let linking = "-Wl,-Bsymbolic,-z,now,-z,separate-code";
    let arguments = "-march=native -fopenmp -fPIC -std=gnu17 -w -shared -nostartfiles";
    let mut arguments: Vec<&str> = arguments.split(' ').collect();
    let text = std::fs::read_to_string(source).unwrap();
    if text.contains("_mm") {
        arguments.extend(["-include", "immintrin.h"]);
    }
    let source = source.display().to_string();
    arguments.extend([
        "-include",
        "stdlib.h",
        level,
        linking,
        &source,
        "shim.c",
        "-lm",
        "-o",
        "candidate.so",
    ]);
    run(compiler, &arguments, room);
    std::fs::read(room.join("candidate.so")).unwrap()
}

fn found(source: &str) -> Finding {
    let room = tempfile::tempdir().unwrap();
    let file = room.path().join("candidate.c");
    std::fs::write(&file, source).unwrap();
    inspect(&linked("gcc", "-O2", &file, room.path()), None)
}

#[track_caller]
fn assert_refused(source: &str, why: &str) {
    let finding = found(source);
    let Finding::Refused(said) = &finding else {
        panic!("{source}: {finding:?}");
    };
    assert!(said.contains(why), "{source}: {said}");
}

/// The first rule that one of these statements of assembly breaks, each in a function of its own.
fn rules_broken(statements: &[&str]) -> Vec<Option<String>> {
    let room = tempfile::tempdir().unwrap();
    let functions: Vec<String> = statements
        .iter()
        .enumerate()
        .map(|(index, text)| {
            format!("__asm__(\".globl f{index}\\n.type f{index}, @function\\nf{index}: {text}\\n.size f{index}, . - f{index}\");\n")
        })
        .collect();
    std::fs::write(room.path().join("all.c"), functions.concat()).unwrap();
    run("gcc", &["-c", "all.c", "-o", "all.o"], room.path());
    let bytes = std::fs::read(room.path().join("all.o")).unwrap();
    let file = ElfFile64::<Endianness>::parse(bytes.as_slice()).unwrap();
    let text = object::ObjectSection::data(&file.section_by_name(".text").unwrap()).unwrap();
    let first = |index: usize| {
        let symbol = file.symbol_by_name(&format!("f{index}")).unwrap();
        let own = &text[symbol.address() as usize..][..symbol.size() as usize];
        let mut decoder = iced_x86::Decoder::new(64, own, iced_x86::DecoderOptions::NONE);
        std::iter::from_fn(|| {
            decoder
                .can_decode()
                .then(|| (decoder.position(), decoder.decode()))
        })
        .find_map(|(at, one)| instructions::refusal(&one, &own[at..at + one.len()]))
    };
    (0..statements.len()).map(first).collect()
}

/// Instructions on vectors, by name: the screen looks for the names in assembly.
#[test]
fn every_instruction_on_vectors_is_a_word_that_the_screen_knows() {
    use hotloop_flow::language::c;
    use hotloop_flow::technique::Technique;
    let names = instructions::vector_mnemonics();
    assert!(names.len() > 900, "{}", names.len());
    let is_missing = |name: &&String| {
        let scan = c::scan(&format!("void f(void) {{ __asm__(\"{name} %0, %1\"); }}"));
        !scan.uses(Technique::Simd)
    };
    let missing: Vec<&String> = names.iter().filter(is_missing).collect();
    assert_eq!(missing, Vec::<&String>::new());
}

const REFUSED: &[&str] = &[
    // to the kernel
    "syscall",
    "sysenter",
    "sysretq",
    "sysexitq",
    "int $0x80",
    "int3",
    "int1",
    "rex.w syscall",
    // out of this segment, mode or privilege
    "lretq",
    "lret",
    "lret $8",
    "ljmp *(%rax)",
    "rex.w ljmp *(%rax)",
    "lcall *(%rax)",
    "iretq",
    "iret",
    "iretw",
    "data16 ret",
    // all registers at once
    "xsave (%rax)",
    "xsave64 (%rax)",
    "xsavec (%rax)",
    "xsavec64 (%rax)",
    "xsaveopt (%rax)",
    "xsaveopt64 (%rax)",
    "xsaves (%rax)",
    "xrstor (%rax)",
    "xrstor64 (%rax)",
    "xrstors64 (%rax)",
    "fxsave (%rax)",
    "fxsave64 (%rax)",
    "fxrstor (%rax)",
    "fxrstor64 (%rax)",
    "fnsave (%rax)",
    "frstor (%rax)",
    "xsetbv",
    // rights, segments, bases
    "wrpkru",
    "rdpkru",
    "wrfsbase %rax",
    "wrgsbase %rax",
    "rdfsbase %rax",
    "rdgsbase %eax",
    "swapgs",
    "mov %eax, %fs",
    "mov %eax, %ds",
    "mov %fs, %eax",
    "push %fs",
    "pop %fs",
    "pop %gs",
    "lss (%rax), %ecx",
    "lfs (%rax), %ecx",
    "lgs (%rax), %ecx",
    "lsl %ax, %cx",
    "lar %ax, %cx",
    "lsl %eax, %ecx",
    "lar %eax, %ecx",
    "popfq",
    "popfw",
    "rdpid %rax",
    "monitorx",
    "verr %ax",
    "verw %ax",
    "sgdt (%rax)",
    "sidt (%rax)",
    "sldt %eax",
    "str %eax",
    "smsw %eax",
    // clocks and counters
    "rdtsc",
    "rdtscp",
    "rdpmc",
    "rdpru",
    // privileged
    "hlt",
    "cli",
    "sti",
    "in $1, %al",
    "out %al, $1",
    "insb",
    "outsb",
    "rdmsr",
    "wrmsr",
    "lgdt (%rax)",
    "mov %cr0, %rax",
    "mov %rax, %cr3",
    "mov %db7, %rax",
    "invlpg (%rax)",
    "wbinvd",
    "clts",
    "clac",
    // hosts, enclaves, transactions, waiting, other processes
    "vmcall",
    "vmfunc",
    "vmmcall",
    "enclu",
    "encls",
    "getsec",
    "xbegin 1f\\n1:",
    "xend",
    "xabort $1",
    "xtest",
    "monitor",
    "mwait",
    "umonitor %rax",
    "umwait %eax",
    "tpause %eax",
    "senduipi %rax",
    "clui",
    "stui",
    "uiret",
    "testui",
    "enqcmd (%rax), %rcx",
    "ptwrite %eax",
    "pconfig",
    "wrssq %rax, (%rcx)",
    "rstorssp (%rax)",
    "saveprevssp",
    "setssbsy",
    "llwpcb %rax",
    "loadiwkey %xmm0, %xmm1",
    // no instructions, or not the same one on every processor
    ".byte 0x06",
    ".byte 0x0f, 0x04",
    ".byte 0x0f, 0xff, 0xc0",
    ".byte 0xf0, 0x90",
    ".byte 0x66, 0xe9, 0, 0, 0, 0",
    ".byte 0x66, 0xe8, 0, 0, 0, 0",
    ".byte 0x66, 0x0f, 0x84, 0, 0, 0, 0",
    ".byte 0x66, 0x74, 0",
];

const HONEST: &[&str] = &[
    "nop",
    "endbr64",
    "pause",
    "ud2",
    "ud1 (%rax), %ecx",
    "ret",
    "ret $8",
    "rep ret",
    "leave",
    "call 1f\\n1:",
    "jmp *%rax",
    "jmp *(%rax,%rcx,8)",
    "call *%rax",
    "notrack jmp *%rax",
    "jne 1f\\n1:",
    "loop 1f\\n1:",
    "jrcxz 1f\\n1:",
    ".byte 0x66, 0x66, 0x48\\ncall 1f\\n1:",
    "mov %fs:0x28, %rax",
    "mov %eax, %fs:(%rcx)",
    "lea (%rax,%rcx), %rdx",
    "cpuid",
    "xgetbv",
    "rdrand %eax",
    "rdseed %rax",
    "lock xadd %eax, (%rcx)",
    "lock cmpxchg16b (%rax)",
    "mfence",
    "sfence",
    "lfence",
    "rep movsb",
    "rep stosq",
    "cqto",
    "idiv %rcx",
    "imul %rax, %rcx",
    "mulx %rax, %rcx, %rdx",
    "adcx %rax, %rcx",
    "popcnt %rax, %rax",
    "lzcnt %rax, %rax",
    "tzcnt %rax, %rax",
    "bsf %rax, %rax",
    "movbe (%rax), %rcx",
    "fldt (%rax)",
    "fnstcw (%rax)",
    "fldcw (%rax)",
    "fsin",
    "stmxcsr (%rax)",
    "ldmxcsr (%rax)",
    "prefetcht0 (%rax)",
    "prefetchw (%rax)",
    "clflush (%rax)",
    "clwb (%rax)",
    "movntdq %xmm0, (%rax)",
    "movaps %xmm0, %xmm1",
    "haddpd %xmm0, %xmm1",
    "pmulld %xmm0, %xmm1",
    "crc32 %eax, %ecx",
    "aesenc %xmm0, %xmm1",
    "pclmulqdq $0, %xmm0, %xmm1",
    "sha256rnds2 %xmm1, %xmm2",
    "emms",
    "vzeroupper",
    "vfmadd231pd %ymm0, %ymm1, %ymm2",
    "vgatherdpd %ymm0, (%rax,%xmm1,8), %ymm2",
    "vcvtph2ps %xmm0, %ymm0",
    "vfmadd231pd (%rax){1to8}, %zmm1, %zmm2",
    "vpdpbusd %zmm0, %zmm1, %zmm2",
    "kmovw %eax, %k1",
    "vscatterdpd %zmm0, (%rax,%ymm1,8){%k1}",
    "vdpbf16ps %zmm0, %zmm1, %zmm2",
    "vaddph %zmm0, %zmm1, %zmm2",
    "tilezero %tmm0",
    "tdpbf16ps %tmm0, %tmm1, %tmm2",
    "vpopcntq %zmm0, %zmm1",
    "rdsspq %rax",
    "incsspq %rax",
    "{vex} vpdpbusd %ymm0, %ymm1, %ymm2",
    "vgf2p8mulb %ymm0, %ymm1, %ymm2",
    "xchg %rax, %rcx",
    "bswap %eax",
];

#[test]
fn instructions_that_do_not_compute_are_refused() {
    let broken = rules_broken(REFUSED);
    let passed = REFUSED
        .iter()
        .zip(broken)
        .filter(|(_, broken)| broken.is_none());
    let passed: Vec<_> = passed.map(|(text, _)| text).collect();
    assert!(passed.is_empty(), "{passed:?}");
}

#[test]
fn instructions_that_compute_are_not() {
    for (text, broken) in HONEST.iter().zip(rules_broken(HONEST)) {
        assert_eq!(broken, None, "{text}");
    }
}

#[test]
fn nothing_leads_into_an_instruction() {
    let within = "within an instruction";
    assert_refused(
        "void f(void) { __asm__ volatile(\"jmp 1f+1\\n1: mov $0xc3050f, %ecx\"); }",
        "into an instruction",
    );
    assert_refused(
        "void f(void) { __asm__ volatile(\"call . + 4096\"); }",
        "out of the code",
    );
    let label = "__asm__(\".globl within\\nmov $0xc3050f, %ecx\\n.set within, . - 4\\nret\");\n";
    assert_refused(label, within);
    // By the loader, through a pointer to data.
    assert_refused(
        "__asm__(\"place: mov $0xc3050f, %ecx\\nret\\n.data\\n.quad place + 1\\n.text\");",
        "relocation",
    );
    // By a pointer to a global function, and a distance from it.
    assert_refused(
        "void f(void) { __asm__(\"mov $0xc3050f, %ecx\"); }\nvoid *p = (char *)f + 1;",
        "relocation",
    );
    assert_eq!(
        found(
            "void f(void) {}\nvoid *p = f; static int t[9999]; int *q = t + 5; void *const r[] = {f, t};\nint g(int i) { return (t - 3000)[i]; }"
        ),
        Finding::Clean
    );
}

#[test]
fn sections_are_known_ones_with_the_rights_they_need() {
    for section in [
        ".kernel,\\\"ax\\\"",
        ".data.x,\\\"awx\\\"",
        ".rodata.x,\\\"ax\\\"",
        ".rodata.x,\\\"aw\\\"",
        ".llvm_bb_addr_map,\\\"a\\\"",
        ".interp,\\\"a\\\"",
        ".init_array,\\\"aw\\\"",
        ".fini,\\\"ax\\\"",
        ".relr.dyn,\\\"a\\\"",
        ".debug_info,\\\"a\\\"",
        ".bss.x,\\\"awx\\\"",
    ] {
        let source = format!("__asm__(\".section {section},@progbits\\n.quad 0\\n.text\");");
        assert!(matches!(found(&source), Finding::Refused(_)), "{section}");
    }
    assert_refused("__attribute__((section(\".text.x\"))) const int x = 5;", "");
}

#[test]
fn the_loader_is_told_nothing_by_a_source() {
    let entry = |section: &str, words: &str| {
        format!(
            "long page; __asm__(\".section {section},\\\"a\\\",@progbits\\n.quad {words}\\n.text\");"
        )
    };
    for kind in [
        "37",
        "8",
        "7",
        "6",
        "5 + (1 << 32)",
        "10 + (1 << 32)",
        "36",
        "99",
    ] {
        for section in [".rela.plt", ".rela.dyn"] {
            let source = entry(section, &format!("0x1000, {kind}, 0x1000"));
            assert!(matches!(found(&source), Finding::Refused(_)), "{source}");
        }
    }
    for tag in ["12", "25", "22", "0x7ffffffd", "0x6ffffefc"] {
        let source = entry(".dynamic", &format!("{tag}, 0x1000"));
        assert!(matches!(found(&source), Finding::Refused(_)), "{source}");
    }
}

#[test]
fn nothing_is_named_like_what_a_library_looks_up() {
    let prohibited = "is prohibited";
    for source in [
        "void *malloc(size_t n) { return 0; }",
        "static int nothing(void) { return 0; }\nextern int kill() __attribute__((weak, alias(\"nothing\")));",
        "double omp_get_wtime(void) { return 0; }",
        "long GOMP_parallel;",
        "void __gmon_start__(void) {}",
        "__asm__(\".globl __gmon_start__\\n__gmon_start__: ret\");",
        "void *_ITM_registerTMCloneTable;",
    ] {
        assert_refused(source, prohibited);
    }
    assert_eq!(
        found(
            "double signal[8], malloc_size; long time, printf; _Thread_local int kill; static void free_all(void) {}\nstatic int getpid(void) { return 1; }\nvoid write(double *to, double value) { *to = value; }\nint f(void) { free_all(); return getpid(); }"
        ),
        Finding::Clean
    );
}

/// All honest fixtures at all levels by both compilers, or some of them: `HOTLOOP_ALL_OBJECTS=1`
/// asks for all.
#[test]
fn honest_objects_are_clean() {
    let all = std::env::var_os("HOTLOOP_ALL_OBJECTS").is_some();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/honest");
    let mut sources: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    // The test below looks at what the compiler's own library does at load.
    sources.retain(|source| !source.ends_with("matmul-asks-processor.c"));
    sources.sort();
    let room = tempfile::tempdir().unwrap();
    let step = if all { 1 } else { 25 };
    let (mut objects, mut bytes, mut seconds) = (0, 0, 0.0);
    for source in sources.iter().step_by(step) {
        for compiler in ["gcc", "clang"] {
            // clang has no nested functions.
            if compiler == "clang" && source.display().to_string().contains("nested-function") {
                continue;
            }
            for level in ["-O0", "-O1", "-O2", "-O3"] {
                let object = linked(compiler, level, source, room.path());
                let begin = std::time::Instant::now();
                let finding = inspect(&object, None);
                seconds += begin.elapsed().as_secs_f64();
                (objects, bytes) = (objects + 1, bytes + object.len());
                assert_eq!(
                    finding,
                    Finding::Clean,
                    "{compiler} {level} {}",
                    source.display()
                );
            }
        }
    }
    println!("{objects} objects of {bytes} bytes in {seconds} s");
}

#[test]
fn only_the_compilers_own_library_runs_code_at_load() {
    let room = tempfile::tempdir().unwrap();
    let file = room.path().join("candidate.c");
    let asks = "int f(void) { return __builtin_cpu_supports(\"sse2\"); }\n";
    let starts = "__attribute__((constructor)) void g(void) {}\n";
    for (source, is_clean) in [(asks.to_owned(), true), (format!("{asks}{starts}"), false)] {
        std::fs::write(&file, source).unwrap();
        let object = linked("gcc", "-O2", &file, room.path());
        run("gcc", &["-fPIC", "-c", "candidate.c"], room.path());
        let unlinked = std::fs::read(room.path().join("candidate.o")).unwrap();
        let finding = inspect(&object, Some(&unlinked));
        assert_eq!(finding == Finding::Clean, is_clean, "{finding:?}");
        assert_ne!(
            inspect(&object, None),
            Finding::Clean,
            "whose it is, nobody knows"
        );
    }
}
