//! Refusals that a host half's object tells: what it needs from libraries, and what it defines.

use object::elf::{PT_DYNAMIC, PT_INTERP, PT_LOAD, SHN_UNDEF, STT_FUNC, STT_GNU_IFUNC};
use object::read::elf::{ElfFile64, ProgramHeader, Sym};
use object::{Endianness, Object, ObjectSection, ObjectSymbol};

use crate::compiling::names::{is_allowed, is_reserved};

/// Of the C library's functions that a C candidate may call, those that a host half may not: time,
/// threads, and what the system says of itself.
const NOT_HERE: &str = "
    clock clock_getres clock_gettime clock_nanosleep difftime gettimeofday getpid madvise mmap
    munmap nanosleep sched_getaffinity sched_getcpu sched_yield sleep sysconf time timespec_get
    usleep getpagesize
";
const NOT_HERE_PREFIXES: [&str; 8] = [
    "pthread_create",
    "pthread_setaffinity",
    "pthread_getaffinity",
    "thrd_",
    "GOMP_",
    "omp_",
    "__kmpc_",
    "__sched_",
];

/// What compilers make of C++, and what the recording runtime offers.
const OF_CPP: [&str; 11] = [
    "_Zn",
    "_Zd",
    "_ZS",
    "_ZNS",
    "_ZNKS",
    "_ZTI",
    "_ZTV",
    "_ZTS",
    "_ZN7hotloop",
    "__cxa_",
    "__gxx_personality",
];
const OF_CPP_WHOLE: [&str; 7] = [
    "__libc_single_threaded", // shared pointers ask it
    "_Z16cudaGetErrorName9cudaError",
    "_Z18cudaGetErrorString9cudaError",
    "_Unwind_Resume",
    "__dso_handle",
    "_GLOBAL_OFFSET_TABLE_",
    "__errno_location",
];

/// Words in symbols of the C++ library that reach beyond memory.
const BEYOND: [&str; 12] = [
    "thread",
    "chrono",
    "random_device",
    "filebuf",
    "fstream",
    "filesystem",
    "future",
    "promise",
    "condition_variable",
    "call_once",
    "mutex",
    "stdio",
];

/// Functions that only a program itself has.
const OF_PROGRAMS: [&str; 5] = ["main", "_start", "_init", "_fini", "write"];

/// Sections of objects that compilers make of C++: those that hold code and data, each with or
/// without the name of what it holds, and those that describe it. A linker may take others for
/// something else, such as the name of a program that is to be started first.
const FAMILIES: [&str; 9] = [
    ".text",
    ".data",
    ".rodata",
    ".bss",
    ".tdata",
    ".tbss",
    ".gcc_except_table",
    ".init_array", // refused below, in words of its own
    ".fini_array",
];
const SECTIONS: [&str; 10] = [
    "",
    ".comment",
    ".eh_frame",
    ".group",
    ".note.GNU-stack",
    ".note.gnu.property",
    ".shstrtab",
    ".strtab",
    ".symtab",
    ".symtab_shndx",
];

/// Bytes of memory that a program may have before it runs.
const PROGRAM: u64 = 1 << 30;

fn is_known(section: &str) -> bool {
    let name = section.strip_prefix(".rela").unwrap_or(section);
    let is_of = |family: &str| {
        let rest = name.strip_prefix(family);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    SECTIONS.contains(&name) || FAMILIES.iter().any(|family| is_of(family))
}

/// Why a linked program could not be started, where its host half is to blame.
pub(super) fn refusal_of_program(program: &[u8]) -> Option<String> {
    let Ok(file) = ElfFile64::<Endianness>::parse(program) else {
        return Some("the linked host code cannot be read".into());
    };
    let endian = file.endian();
    let mut bytes = 0_u64;
    for header in file.elf_program_headers() {
        match header.p_type(endian) {
            PT_INTERP | PT_DYNAMIC => return Some("host code asks for a loader".into()),
            PT_LOAD => bytes = bytes.saturating_add(header.p_memsz(endian)),
            _ => {}
        }
    }
    (bytes > PROGRAM).then(|| format!("host code and its data take {bytes} bytes"))
}

/// The rule that an object breaks. `exists` says whether the linked program got a name from a
/// library.
pub(super) fn refusal(object: &[u8], exists: impl Fn(&str) -> bool) -> Option<String> {
    let Ok(file) = ElfFile64::<Endianness>::parse(object) else {
        return Some("the object cannot be read".into());
    };
    for section in file.sections() {
        let name = section.name().unwrap_or("?");
        if !is_known(name) {
            return Some(format!("the section `{name}` is prohibited"));
        }
        let runs = [".init", ".fini", ".preinit", ".ctors", ".dtors"];
        if runs.iter().any(|start| name.starts_with(start)) {
            return Some(
                "code that runs before or after the host function, as the constructor of a global, \
                 is prohibited"
                    .into(),
            );
        }
    }
    let endian = file.endian();
    for symbol in file.symbols() {
        let name = symbol.name().unwrap_or("?");
        let (section, kind) = (
            symbol.elf_symbol().st_shndx(endian),
            symbol.elf_symbol().st_type(),
        );
        if kind == STT_GNU_IFUNC {
            return Some(format!("`{name}` is resolved by code that runs at load"));
        }
        if section != SHN_UNDEF {
            // No source can name it; the bench writes it for torch extensions.
            let is_binding = name == "hotloop_bind";
            let is_taken = is_reserved(name) || OF_PROGRAMS.contains(&name);
            if kind == STT_FUNC && symbol.is_global() && is_taken && !is_binding {
                return Some(format!("defining `{name}` is prohibited"));
            }
        } else if !name.is_empty() && !may_be_used(name) && exists(name) {
            return Some(format!(
                "`{name}` is not among the functions that host code may call"
            ));
        }
    }
    None
}

fn may_be_used(name: &str) -> bool {
    if name.starts_with("_Z") && BEYOND.iter().any(|word| name.contains(word)) {
        return false;
    }
    let is_cpp = OF_CPP.iter().any(|start| name.starts_with(start)) || OF_CPP_WHOLE.contains(&name);
    let is_refused = NOT_HERE.split_whitespace().any(|word| word == name)
        || NOT_HERE_PREFIXES
            .iter()
            .any(|start| name.starts_with(start));
    matches!(name, "hotloop_call" | "hotloop_bind") || is_cpp || (is_allowed(name) && !is_refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_code_computes_in_memory() {
        for name in [
            "memcpy",
            "sqrtf",
            "printf",
            "malloc",
            "_Znwm",
            "_ZdlPvm",
            "__cxa_guard_acquire",
            "_ZSt20__throw_length_errorPKc",
            "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEED1Ev",
            "_ZN7hotloop4pushERKNS_13ConfigurationE",
            "_Unwind_Resume",
            "exit",
            "abort",
        ] {
            assert!(may_be_used(name), "{name}");
        }
        for name in [
            "time",
            "clock",
            "fork",
            "open",
            "getenv",
            "syscall",
            "dlopen",
            "pthread_create",
            "mmap",
            "_ZNSt6thread15_M_start_threadE",
            "_ZNSt6chrono3_V212steady_clock3nowEv",
            "_ZNSt13random_device9_M_getvalEv",
            "signal",
            "longjmp",
            "quick_exit",
            "getrandom",
        ] {
            assert!(!may_be_used(name), "{name}");
        }
    }
}
