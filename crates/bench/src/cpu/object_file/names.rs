//! The names that an object may and may not use.

/// Names that a candidate may take from the C library and its mathematics.
const ALLOWED: &str = "
    abort abs aligned_alloc atof atoi atol bcmp bcopy bsearch bzero calloc clock
    clock_getres clock_gettime difftime div exit fflush fprintf fputc fputs free free_sized
    fwrite getpid gettimeofday labs ldiv llabs lrand48 drand48 srand48 madvise malloc
    malloc_usable_size memalign memccpy memchr memcmp memcpy memmove mempcpy memset mmap
    munmap nanosleep perror posix_memalign printf putc putchar puts qsort rand rand_r random
    realloc reallocarray sched_getaffinity sched_getcpu sched_yield sleep snprintf sprintf
    srand srandom sscanf stderr stdout strcat strchr strcmp strcpy strerror strlen strncat
    strncmp strncpy strrchr strstr strtod strtof strtol strtold strtoll strtoul strtoull
    sysconf time usleep valloc vfprintf vprintf vsnprintf _exit _Exit __assert_fail
    __ctype_b_loc __cpu_indicator_init __cpu_model __cxa_finalize __errno_location
    __gmon_start__ __sched_cpucount __stack_chk_fail __tls_get_addr _GLOBAL_OFFSET_TABLE_
    _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable signgam
";

/// Beginnings of names that are allowed as a whole: OpenMP's runtimes, threads, vector mathematics.
const ALLOWED_PREFIXES: &str = "
    GOMP_ omp_ __kmpc_ kmp_ pthread_mutex_ pthread_cond_ pthread_barrier_ pthread_spin_
    pthread_rwlock_ pthread_attr_ _ZGV __atomic_
";

/// Threads by hand, as far as they end with the call or wait for it.
const ALLOWED_THREADS: &str = "
    pthread_create pthread_join pthread_detach pthread_self pthread_exit pthread_once
    pthread_equal pthread_key_create pthread_getspecific pthread_setspecific
    pthread_setaffinity_np pthread_getaffinity_np thrd_create thrd_join thrd_current
    mtx_init mtx_lock mtx_unlock
";

/// Functions of `math.h` and `complex.h`, in double; `f` and `l` forms follow from them.
const MATHEMATICS: &str = "
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10
    exp2 expm1 fabs fdim floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint
    llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter pow
    remainder remquo rint round roundeven scalbln scalbn sin sincos sinh sqrt tan tanh
    tgamma trunc cabs carg ccos cexp cimag clog conj cpow creal csin csqrt isnan isinf
    finite
";

/// Names that a candidate must not define: it would stand between the bench and its own machinery.
const RESERVED: &str = "
    malloc calloc realloc free aligned_alloc posix_memalign memcpy memset memmove memcmp
    clock_gettime gettimeofday clock time exit _exit abort kill raise syscall signal
    sigaction mmap munmap mprotect dlopen dlsym printf write read open getpid
";
const RESERVED_PREFIXES: &str = "
    hotloop_ GOMP_ omp_ __kmpc_ pthread_ cblas_ __libc_ _dl_ __tls_
";

/// Ends of the names of the compiler's own helpers: 128-bit division, half floats and the like.
const COMPILER_ENDINGS: [&str; 12] = [
    "ti3", "tf3", "hf2", "sf2", "df2", "tf2", "xf2", "di2", "ti2", "dc3", "sc3", "tc3",
];

/// Whether `name` is one of the words of `list`.
fn lists(list: &str, name: &str) -> bool {
    list.split_whitespace().any(|word| word == name)
}

/// Whether `name` begins with one of the words of `list`.
fn lists_start(list: &str, name: &str) -> bool {
    list.split_whitespace().any(|word| name.starts_with(word))
}

/// Whether a candidate must not define `name`.
pub(super) fn is_reserved(name: &str) -> bool {
    lists(RESERVED, name) || lists_start(RESERVED_PREFIXES, name)
}

/// Whether a candidate may take `name` from outside of its object.
pub(super) fn is_allowed(name: &str) -> bool {
    let plain = name.split('@').next().unwrap_or(name);
    // `__exp_finite` is `exp` under older fast-math names; `__printf_chk` is `printf` with
    // fortification.
    let plain = plain
        .strip_prefix("__")
        .and_then(|rest| rest.strip_suffix("_finite").or(rest.strip_suffix("_chk")))
        .unwrap_or(plain);
    // `atoi` is `__isoc23_strtol` where the compiler expands it and the C library is glibc 2.38 or
    // newer.
    let plain = plain
        .strip_prefix("__isoc23_")
        .or(plain.strip_prefix("__isoc99_"))
        .unwrap_or(plain);
    let is_compilers =
        plain.starts_with("__") && COMPILER_ENDINGS.iter().any(|end| plain.ends_with(end));
    let base = plain.strip_suffix(['f', 'l']).unwrap_or(plain);
    lists(ALLOWED, plain)
        || lists(ALLOWED_THREADS, plain)
        || lists(MATHEMATICS, plain)
        || lists(MATHEMATICS, base)
        || lists_start(ALLOWED_PREFIXES, plain)
        || is_compilers
}

/// Names of libraries that do the task, whether or not this machine has them.
pub(super) fn looks_like_blas(name: &str) -> bool {
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
