//! The names that an object may and may not use.

use crate::sys;

/// Names that a candidate may take from the C library.
const ALLOWED: &str = "
    abort abs aligned_alloc atof atoi atol atoll bcmp bcopy bsearch bzero calloc clock
    clock_getres clock_gettime clock_nanosleep difftime div drand48_r erand48 exit fflush ffs
    ffsl ffsll fprintf fputc fputs free free_sized fwrite get_nprocs get_nprocs_conf getpagesize getpid gettimeofday
    imaxabs imaxdiv isalnum isalpha isdigit islower isprint ispunct isspace isupper isxdigit
    jrand48 labs lcong48 ldiv llabs lldiv lrand48 lrand48_r drand48 srand48 srand48_r madvise
    malloc malloc_usable_size memalign memccpy memchr memcmp memcpy memmem memmove mempcpy
    getauxval mallopt malloc_trim posix_madvise sched_setaffinity setvbuf
    memrchr memset mmap mrand48 munmap nanosleep nrand48 perror posix_memalign printf putc
    putchar puts qsort qsort_r rand rand_r random random_r rawmemchr realloc reallocarray
    sched_getaffinity sched_getcpu sched_yield seed48 sleep snprintf sprintf srand srandom
    srandom_r sscanf stderr stdout stpcpy strcasecmp strcat strchr strcmp strcpy strcspn strdup
    strerror strlen strncasecmp strncat strncmp strncpy strndup strnlen strpbrk strrchr strspn
    strstr strtod strtof strtoimax strtok strtok_r strtol strtold strtoll strtoul strtoull
    strtoumax sysconf time timespec_get tolower toupper usleep valloc vfprintf vprintf
    vsnprintf vsprintf _exit _Exit __assert_fail __ctype_b_loc __ctype_tolower_loc
    __ctype_toupper_loc __cpu_indicator_init __cpu_model __cxa_finalize __errno_location
    __gmon_start__ __sched_cpualloc __sched_cpucount __sched_cpufree __stack_chk_fail __tls_get_addr _GLOBAL_OFFSET_TABLE_
    _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable signgam
    a64l asctime asctime_r btowc clearerr ctime ctime_r ecvt explicit_bzero fcvt feof ferror
    fflush_unlocked fputc_unlocked fputs_unlocked fwrite_unlocked gcvt gmtime gmtime_r initstate
    insque isascii isblank iscntrl isgraph iswalpha iswdigit iswspace l64a lfind localtime
    localtime_r lsearch mktime pvalloc putc_unlocked putchar_unlocked remque setbuf setlinebuf
    setstate stpncpy strcasestr strchrnul strcoll strftime strlcat strlcpy strsep strsignal
    strverscmp strxfrm swab tdelete tdestroy tfind timegm toascii towlower towupper tsearch twalk
    wcscat wcschr wcscmp wcscpy wcslen wcsncmp wcsncpy wcsnlen wcsstr wmemchr wmemcmp wmemcpy
    wmemmove wmemset
    __pthread_register_cancel __pthread_unregister_cancel __pthread_unwind_next __sigsetjmp
";

/// Beginnings of names that are allowed as a whole: what compilers make of OpenMP, threads, vector
/// mathematics.
const ALLOWED_PREFIXES: &str = "
    GOMP_ __kmpc_ kmp_ pthread_mutex_ pthread_mutexattr_ pthread_cond_ pthread_condattr_
    pthread_barrier_ pthread_barrierattr_ pthread_spin_ pthread_rwlock_ pthread_rwlockattr_
    pthread_attr_ _ZGV
";

/// Threads by hand, as far as they end with the call or wait for it.
const ALLOWED_THREADS: &str = "
    pthread_create pthread_join pthread_detach pthread_self pthread_exit pthread_once
    pthread_equal pthread_key_create pthread_key_delete pthread_getspecific
    pthread_setspecific pthread_setaffinity_np pthread_getaffinity_np pthread_yield
    pthread_setname_np pthread_getname_np pthread_tryjoin_np pthread_timedjoin_np
    pthread_setcancelstate pthread_setcanceltype pthread_testcancel
    thrd_create thrd_join thrd_current thrd_detach thrd_equal thrd_exit thrd_sleep thrd_yield
    mtx_init mtx_lock mtx_unlock mtx_trylock mtx_timedlock mtx_destroy cnd_init cnd_wait
    cnd_timedwait cnd_signal cnd_broadcast cnd_destroy tss_create tss_get tss_set tss_delete
    call_once sem_init sem_wait sem_trywait sem_timedwait sem_post sem_getvalue sem_destroy
";

/// OpenMP's functions as programs call them. A name that is not here is one of the candidate's own,
/// or nobody's.
const OPENMP: &str = "
    omp_aligned_alloc omp_aligned_calloc omp_alloc omp_calloc omp_capture_affinity
    omp_destroy_allocator omp_destroy_lock omp_destroy_nest_lock omp_display_affinity
    omp_display_env omp_free omp_fulfill_event omp_get_active_level omp_get_affinity_format
    omp_get_ancestor_thread_num omp_get_cancellation omp_get_default_allocator
    omp_get_default_device omp_get_device_num omp_get_dynamic omp_get_initial_device
    omp_get_level omp_get_max_active_levels omp_get_max_task_priority omp_get_max_teams
    omp_get_max_threads omp_get_nested omp_get_num_devices omp_get_num_places
    omp_get_num_procs omp_get_num_teams omp_get_num_threads omp_get_partition_num_places
    omp_get_partition_place_nums omp_get_place_num omp_get_place_num_procs
    omp_get_place_proc_ids omp_get_proc_bind omp_get_schedule omp_get_supported_active_levels
    omp_get_team_num omp_get_team_size omp_get_teams_thread_limit omp_get_thread_limit
    omp_get_thread_num omp_get_wtick omp_get_wtime omp_in_final omp_in_parallel
    omp_init_allocator omp_init_lock omp_init_nest_lock omp_is_initial_device
    omp_pause_resource omp_pause_resource_all omp_realloc omp_set_affinity_format
    omp_set_default_allocator omp_set_default_device omp_set_dynamic omp_set_lock
    omp_set_max_active_levels omp_set_nest_lock omp_set_nested omp_set_num_teams
    omp_set_num_threads omp_set_schedule omp_set_teams_thread_limit omp_target_alloc
    omp_target_associate_ptr omp_target_disassociate_ptr omp_target_free omp_target_is_present
    omp_target_memcpy omp_target_memcpy_rect omp_test_lock omp_test_nest_lock omp_unset_lock
    omp_unset_nest_lock
";

/// Functions of `math.h`, `complex.h` and `fenv.h`, in double; the forms for other widths follow
/// from them.
const MATHEMATICS: &str = "
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp exp10
    exp2 expm1 fabs fdim floor fma fmax fmaximum fmaximum_mag fmaximum_mag_num fmaximum_num
    fmaxmag fmin fminimum fminimum_mag fminimum_mag_num fminimum_num fminmag fmod frexp gamma hypot ilogb j0 j1 jn ldexp lgamma
    lgamma_r llogb llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint
    nextafter nexttoward pow remainder remquo rint round roundeven scalb scalbln scalbn
    significand sin sincos sinh sqrt nextdown nextup canonicalize acospi asinpi atan2pi atanpi
    cospi sinpi tanpi exp10m1 exp2m1 log10p1 log2p1 logp1 rsqrt tan tanh tgamma trunc y0 y1 yn cabs cacos cacosh carg
    casin casinh catan catanh ccos ccosh cexp cimag clog clog10 conj cpow cproj creal csin
    csinh csqrt ctan ctanh isnan isinf finite __finite __fpclassify __isinf __isnan
    __issignaling __signbit feclearexcept fedisableexcept feenableexcept fegetenv fegetexcept
    fegetexceptflag fegetmode fegetround feholdexcept feraiseexcept fesetenv fesetexcept
    fesetexceptflag fesetmode fesetround fetestexcept fetestexceptflag feupdateenv
";

/// Names that a candidate must not define, neither as a function nor as data: those of the bench's
/// own machinery, of the loader and of the C library's inside. The words here no library has, but
/// libraries that are loaded because a candidate needs them ask for them: they would find what it
/// defines, and call it at load.
const RESERVED: &str = "
    __gmon_start__ _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable
";
const RESERVED_PREFIXES: &str = "
    hotloop_ GOMP_ __kmpc_ __libc_ _dl_ __tls_
";

/// Functions of the C library that a candidate must not define. Its own would be called by nobody
/// else (see `defined` of the object's file); but who defines them has nothing honest in mind.
/// `write`, `read`, `open`, `time`, `clock`, `raise` and `signal` are words that programs have for
/// helpers of their own.
const RESERVED_FUNCTIONS: &str = "
    malloc calloc realloc free aligned_alloc posix_memalign memcpy memset memmove memcmp
    clock_gettime gettimeofday exit _exit abort kill syscall sigaction mmap munmap mprotect
    dlopen dlsym printf getpid
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

/// Whether a candidate must not define `name` at all.
pub(crate) fn is_reserved(name: &str) -> bool {
    lists(RESERVED, name)
        || lists_start(RESERVED_PREFIXES, name)
        || lists(OPENMP, name)
        || (name.starts_with("pthread_") && sys::symbol_exists(name))
}

/// Whether a candidate must not define a function `name`. Data may be called so.
pub(crate) fn is_reserved_function(name: &str) -> bool {
    lists(RESERVED_FUNCTIONS, name)
}

/// Whether a candidate may take `name` from outside of its object.
pub(crate) fn is_allowed(name: &str) -> bool {
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
    let base = ["f128", "f64x", "f64", "f32x", "f32", "f", "l"]
        .iter()
        .find_map(|width| plain.strip_suffix(width))
        .unwrap_or(plain);
    lists(ALLOWED, plain)
        || lists(ALLOWED_THREADS, plain)
        || lists(OPENMP, plain)
        || lists(MATHEMATICS, plain)
        || lists(MATHEMATICS, base)
        || lists_start(ALLOWED_PREFIXES, plain)
        || is_compilers
}

/// Names of libraries that do the task, whether or not this machine has them.
pub(crate) fn looks_like_blas(name: &str) -> bool {
    let bare = name.trim_end_matches('_');
    let routine = |stem: &str| {
        bare.len() == stem.len() + 1
            && bare.ends_with(stem)
            && matches!(bare.as_bytes()[0], b's' | b'd' | b'c' | b'z')
    };
    [
        "cblas_",
        "LAPACKE_",
        "mkl_",
        "MKL_",
        "fftw_",
        "openblas_",
        "bli_",
        "gsl_blas_",
    ]
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
            "expf128",
            "fesetenv",
            "mtx_destroy",
            "pthread_mutexattr_init",
            "omp_get_wtime",
            "sem_wait",
            "sched_setaffinity",
            "fmaximum_numf",
            "get_nprocs",
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
            "omp_made_up",
            "sched_setscheduler",
            "sem_open",
        ] {
            assert!(!is_allowed(name), "{name}");
        }
    }

    #[test]
    fn only_names_that_exist_are_reserved() {
        for name in ["omp_row_kernel", "pthread_worker", "fftw_complex_mul"] {
            assert!(!is_reserved(name), "{name}");
        }
        for name in [
            "omp_get_wtime",
            "pthread_create",
            "GOMP_barrier",
            "__gmon_start__",
        ] {
            assert!(is_reserved(name), "{name}");
        }
    }

    /// The source is screened by names, and the object too: what the object may take, the screen
    /// must know.
    #[test]
    fn every_function_of_openmp_is_a_word_that_the_screen_knows() {
        use hotloop_flow::language::c;
        use hotloop_flow::technique::Technique;
        for name in OPENMP.split_whitespace() {
            let scan = c::scan(&format!("void f(void) {{ {name}(); }}"));
            assert!(scan.uses(Technique::Openmp), "{name}");
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
