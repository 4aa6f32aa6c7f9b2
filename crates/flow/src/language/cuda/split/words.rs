//! Words of C++ that name what only a processor knows.

use crate::language::c::is_asm;

/// How functions of a compiler begin that ask the processor for time or chance, or for what it is.
const PROCESSOR: [&str; 12] = [
    "__builtin_ia32_",
    "__builtin_cpu_",
    "__builtin_readcyclecounter",
    "__builtin_aarch64_",
    "__builtin_arm_",
    "__rdtsc",
    "_rdtsc",
    "__rdpmc",
    "_rdpmc",
    "_rdpid",
    "_rdrand",
    "_rdseed",
];

/// Whether a word is assembly, or a function of the compiler that is an instruction of the host.
pub(super) fn is_machine(word: &str) -> bool {
    is_asm(word) || PROCESSOR.iter().any(|start| word.starts_with(start))
}
