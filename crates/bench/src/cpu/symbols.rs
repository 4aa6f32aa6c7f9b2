//! Refusals that the object tells: what it needs from outside, defines, and runs at load.

use object::elf::{
    DT_AUDIT, DT_AUXILIARY, DT_FILTER, DT_FINI, DT_FINI_ARRAY, DT_INIT, DT_INIT_ARRAY,
    DT_PREINIT_ARRAY, DynamicTag, SHN_UNDEF, STT_GNU_IFUNC, STT_NOTYPE,
};
use object::read::elf::{ElfFile64, Sym};
use object::{Endianness, Object, ObjectSection, ObjectSymbol};

/// What the object says of the candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Finding {
    /// Nothing against it.
    Clean,
    /// A rule is broken.
    Refused(String),
    /// A name that exists nowhere: the linker's complaint in a program of its own.
    Undefined(String),
}

/// Names that a candidate may take from the C library and its mathematics.
const ALLOWED: &[&str] = &[
    "abort",
    "abs",
    "aligned_alloc",
    "atof",
    "atoi",
    "atol",
    "bcmp",
    "bcopy",
    "bsearch",
    "bzero",
    "calloc",
    "clock",
    "clock_getres",
    "clock_gettime",
    "difftime",
    "div",
    "exit",
    "fflush",
    "fprintf",
    "fputc",
    "fputs",
    "free",
    "free_sized",
    "fwrite",
    "getpid",
    "gettimeofday",
    "labs",
    "ldiv",
    "llabs",
    "lrand48",
    "drand48",
    "srand48",
    "madvise",
    "malloc",
    "malloc_usable_size",
    "memalign",
    "memccpy",
    "memchr",
    "memcmp",
    "memcpy",
    "memmove",
    "mempcpy",
    "memset",
    "mmap",
    "munmap",
    "nanosleep",
    "perror",
    "posix_memalign",
    "printf",
    "putc",
    "putchar",
    "puts",
    "qsort",
    "rand",
    "rand_r",
    "random",
    "realloc",
    "reallocarray",
    "sched_getaffinity",
    "sched_getcpu",
    "sched_yield",
    "sleep",
    "snprintf",
    "sprintf",
    "srand",
    "srandom",
    "sscanf",
    "stderr",
    "stdout",
    "strcat",
    "strchr",
    "strcmp",
    "strcpy",
    "strerror",
    "strlen",
    "strncat",
    "strncmp",
    "strncpy",
    "strrchr",
    "strstr",
    "strtod",
    "strtof",
    "strtol",
    "strtold",
    "strtoll",
    "strtoul",
    "strtoull",
    "sysconf",
    "time",
    "usleep",
    "valloc",
    "vfprintf",
    "vprintf",
    "vsnprintf",
    "_exit",
    "_Exit",
    "__assert_fail",
    "__ctype_b_loc",
    "__cpu_indicator_init",
    "__cpu_model",
    "__cxa_finalize",
    "__errno_location",
    "__gmon_start__",
    "__sched_cpucount",
    "__stack_chk_fail",
    "__tls_get_addr",
    "_GLOBAL_OFFSET_TABLE_",
    "_ITM_deregisterTMCloneTable",
    "_ITM_registerTMCloneTable",
    "signgam",
];

/// Beginnings of names that are allowed as a whole: OpenMP's runtimes, threads, vector mathematics.
const ALLOWED_PREFIXES: &[&str] = &[
    "GOMP_",
    "omp_",
    "__kmpc_",
    "kmp_",
    "pthread_mutex_",
    "pthread_cond_",
    "pthread_barrier_",
    "pthread_spin_",
    "pthread_rwlock_",
    "pthread_attr_",
    "_ZGV",
    "__atomic_",
];

/// Threads by hand, as far as they end with the call or wait for it.
const ALLOWED_THREADS: &[&str] = &[
    "pthread_create",
    "pthread_join",
    "pthread_detach",
    "pthread_self",
    "pthread_exit",
    "pthread_once",
    "pthread_equal",
    "pthread_key_create",
    "pthread_getspecific",
    "pthread_setspecific",
    "pthread_setaffinity_np",
    "pthread_getaffinity_np",
    "thrd_create",
    "thrd_join",
    "thrd_current",
    "mtx_init",
    "mtx_lock",
    "mtx_unlock",
];

/// Functions of `math.h` and `complex.h`, in double; `f` and `l` forms follow from them.
const MATHEMATICS: &[&str] = &[
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "fabs",
    "fdim",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "hypot",
    "ilogb",
    "ldexp",
    "lgamma",
    "llrint",
    "llround",
    "log",
    "log10",
    "log1p",
    "log2",
    "logb",
    "lrint",
    "lround",
    "modf",
    "nan",
    "nearbyint",
    "nextafter",
    "pow",
    "remainder",
    "remquo",
    "rint",
    "round",
    "roundeven",
    "scalbln",
    "scalbn",
    "sin",
    "sincos",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
    "cabs",
    "carg",
    "ccos",
    "cexp",
    "cimag",
    "clog",
    "conj",
    "cpow",
    "creal",
    "csin",
    "csqrt",
    "isnan",
    "isinf",
    "finite",
];

/// Names that a candidate must not define: it would stand between the bench and its own machinery.
const RESERVED: &[&str] = &[
    "malloc",
    "calloc",
    "realloc",
    "free",
    "aligned_alloc",
    "posix_memalign",
    "memcpy",
    "memset",
    "memmove",
    "memcmp",
    "clock_gettime",
    "gettimeofday",
    "clock",
    "time",
    "exit",
    "_exit",
    "abort",
    "kill",
    "raise",
    "syscall",
    "signal",
    "sigaction",
    "mmap",
    "munmap",
    "mprotect",
    "dlopen",
    "dlsym",
    "printf",
    "write",
    "read",
    "open",
    "getpid",
];
const RESERVED_PREFIXES: &[&str] = &[
    "hotloop_", "GOMP_", "omp_", "__kmpc_", "pthread_", "cblas_", "__libc_", "_dl_", "__tls_",
];

/// Sections that ordinary C makes.
const PLAIN_SECTIONS: &[&str] = &[
    "",
    ".text",
    ".rodata",
    ".data",
    ".bss",
    ".tdata",
    ".tbss",
    ".eh_frame",
    ".note",
    ".gnu",
    ".dyn",
    ".rela",
    ".plt",
    ".got",
    ".hash",
    ".comment",
    ".symtab",
    ".strtab",
    ".shstrtab",
    ".debug",
    ".ldata",
    ".lbss",
    ".lrodata",
    ".relro_padding",
];

/// Those of them that hold what a program defines. All others are the linker's, and what the loader finds there it acts on: a
/// relocation of the right kind runs code.
const OWN_SECTIONS: &[&str] = &[
    ".text", ".rodata", ".data", ".bss", ".tdata", ".tbss", ".ldata", ".lbss", ".lrodata",
];

/// Reads a candidate's shared object.
pub(crate) fn inspect(bytes: &[u8]) -> Finding {
    let Ok(file) = ElfFile64::<Endianness>::parse(bytes) else {
        return Finding::Refused("the object cannot be read".into());
    };
    let refusal = sections(&file)
        .or_else(|| out_of_place(&file))
        .or_else(|| entry_points(&file))
        .or_else(|| defined(&file));
    refusal.map_or_else(|| needed(&file), Finding::Refused)
}

fn sections(file: &ElfFile64<'_, Endianness>) -> Option<String> {
    for section in file.sections() {
        let Ok(name) = section.name() else {
            return Some("a section without a name".into());
        };
        let starts_code = [".init", ".fini", ".ctors", ".dtors", ".preinit"]
            .iter()
            .any(|start| name.starts_with(start));
        if starts_code {
            return Some(format!(
                "code that runs at load or exit (section `{name}`) is prohibited"
            ));
        }
        if !PLAIN_SECTIONS
            .iter()
            .any(|plain| name == *plain || (!plain.is_empty() && name.starts_with(plain)))
        {
            return Some(format!("the section `{name}` is prohibited"));
        }
    }
    None
}

/// What a program defines in a section that is the linker's. Linkers name only places there, as `_DYNAMIC`, which have no size;
/// what a compiler puts somewhere has one.
fn out_of_place(file: &ElfFile64<'_, Endianness>) -> Option<String> {
    for symbol in file.symbols().chain(file.dynamic_symbols()) {
        let Some(Ok(section)) = symbol
            .section_index()
            .map(|index| file.section_by_index(index))
        else {
            continue;
        };
        let section = section.name().unwrap_or("?");
        if symbol.size() > 0 && !OWN_SECTIONS.iter().any(|own| section.starts_with(own)) {
            let name = symbol.name().unwrap_or("?");
            return Some(format!(
                "`{name}` in the section `{section}`, which is the linker's, is prohibited"
            ));
        }
    }
    None
}

/// Code that the loader runs by itself. The linker makes an entry point of a plain function named
/// `_init`, which needs no section of its own.
fn entry_points(file: &ElfFile64<'_, Endianness>) -> Option<String> {
    const RUN_BY_LOADER: [DynamicTag; 8] = [
        DT_INIT,
        DT_FINI,
        DT_INIT_ARRAY,
        DT_FINI_ARRAY,
        DT_PREINIT_ARRAY,
        DT_AUDIT,
        DT_AUXILIARY,
        DT_FILTER,
    ];
    let Ok(table) = file.elf_dynamic_table() else {
        return Some("the object's dynamic table cannot be read".into());
    };
    let runs = table.iter().any(|entry| RUN_BY_LOADER.contains(&entry.tag));
    runs.then(|| "code that runs at load or exit is prohibited".to_owned())
}

fn defined(file: &ElfFile64<'_, Endianness>) -> Option<String> {
    let endian = file.endian();
    for symbol in file.dynamic_symbols().chain(file.symbols()) {
        if symbol.elf_symbol().st_shndx(endian) == SHN_UNDEF {
            continue;
        }
        let name = symbol.name().unwrap_or("?");
        if symbol.elf_symbol().st_type() == STT_GNU_IFUNC {
            return Some(format!("`{name}` is resolved by code that runs at load"));
        }
        if name == "hotloop_call"
            || !symbol.is_global()
            || symbol.elf_symbol().st_type() == STT_NOTYPE
        {
            continue;
        }
        if RESERVED.contains(&name)
            || RESERVED_PREFIXES
                .iter()
                .any(|prefix| name.starts_with(prefix))
        {
            return Some(format!("defining `{name}` is prohibited"));
        }
    }
    None
}

fn needed(file: &ElfFile64<'_, Endianness>) -> Finding {
    let endian = file.endian();
    for symbol in file.dynamic_symbols() {
        let Ok(name) = symbol.name() else { continue };
        if symbol.elf_symbol().st_shndx(endian) != SHN_UNDEF || name.is_empty() || is_allowed(name)
        {
            continue;
        }
        return if crate::sys::symbol_exists(name) || looks_like_blas(name) {
            Finding::Refused(format!(
                "`{name}` is not among the functions that a candidate may call"
            ))
        } else {
            Finding::Undefined(format!("undefined reference to `{name}'"))
        };
    }
    Finding::Clean
}

/// A function that the object calls and that starts or tells threads, if there is one.
pub(crate) fn of_threads(bytes: &[u8]) -> Option<String> {
    let file = ElfFile64::<Endianness>::parse(bytes).ok()?;
    let starts = ["GOMP_", "omp_", "__kmpc_", "pthread_create", "thrd_create"];
    let mut undefined = file.dynamic_symbols().filter(ObjectSymbol::is_undefined);
    undefined.find_map(|symbol| {
        let name = symbol.name().ok()?;
        starts
            .iter()
            .any(|start| name.starts_with(start))
            .then(|| name.to_owned())
    })
}

fn is_allowed(name: &str) -> bool {
    let plain = name.split('@').next().unwrap_or(name);
    // `__exp_finite` is `exp` under older fast-math names; `__printf_chk` is `printf` with fortification.
    let plain = plain
        .strip_prefix("__")
        .and_then(|rest| rest.strip_suffix("_finite").or(rest.strip_suffix("_chk")))
        .unwrap_or(plain);
    // `atoi` is `__isoc23_strtol` where the compiler expands it and the C library is glibc 2.38 or newer.
    let plain = plain
        .strip_prefix("__isoc23_")
        .or(plain.strip_prefix("__isoc99_"))
        .unwrap_or(plain);
    let base = plain.strip_suffix(['f', 'l']).unwrap_or(plain);
    ALLOWED.contains(&plain)
        || ALLOWED_THREADS.contains(&plain)
        || MATHEMATICS.contains(&plain)
        || MATHEMATICS.contains(&base)
        || ALLOWED_PREFIXES.iter().any(|prefix| plain.starts_with(prefix))
        // Helpers of the compiler itself: 128-bit division, half floats and the like.
        || (plain.starts_with("__") && ["ti3", "tf3", "hf2", "sf2", "df2", "tf2", "xf2", "di2", "ti2", "dc3", "sc3", "tc3"].iter().any(|end| plain.ends_with(end)))
}

/// Names of libraries that do the task, whether or not this machine has them.
fn looks_like_blas(name: &str) -> bool {
    let bare = name.trim_end_matches('_');
    let routine = |stem: &str| {
        bare.len() == stem.len() + 1
            && bare.ends_with(stem)
            && matches!(bare.as_bytes()[0], b's' | b'd' | b'c' | b'z')
    };
    ["cblas_", "LAPACKE_", "mkl_", "fftw_", "openblas_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
        || [
            "gemm", "gemv", "symm", "trsm", "trmm", "syrk", "dot", "axpy", "ger",
        ]
        .iter()
        .any(|stem| routine(stem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mathematics_is_allowed_in_all_widths() {
        for name in [
            "sin",
            "sinf",
            "sinl",
            "exp",
            "__exp_finite",
            "fmaf",
            "_ZGVdN4v_exp",
            "GOMP_parallel",
            "__divti3",
        ] {
            assert!(is_allowed(name), "{name}");
        }
        for name in [
            "system",
            "fork",
            "dlopen",
            "cblas_dgemm",
            "open",
            "fopen",
            "mprotect",
            "getenv",
            "execve",
        ] {
            assert!(!is_allowed(name), "{name}");
        }
    }

    #[test]
    fn a_standards_own_names_are_those_of_its_functions() {
        for name in [
            "__isoc23_strtol",
            "__isoc23_strtoul",
            "__isoc23_sscanf",
            "__isoc99_sscanf",
            "strtoull",
        ] {
            assert!(is_allowed(name), "{name}");
        }
        for name in [
            "__isoc23_fscanf",
            "__isoc99_scanf",
            "__isoc23_system",
            "__isoc23_",
            "fscanf",
        ] {
            assert!(!is_allowed(name), "{name}");
        }
    }

    #[test]
    fn blas_is_known_by_name() {
        assert!(
            looks_like_blas("dgemm_") && looks_like_blas("sgemm") && looks_like_blas("cblas_dgemv")
        );
        assert!(!looks_like_blas("my_dgemm") && !looks_like_blas("transpose"));
    }
}
