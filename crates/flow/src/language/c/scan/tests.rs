use super::*;
use crate::technique::{Evidence, Technique};

fn found(source: &str) -> Vec<Technique> {
    scan(source).techniques.into_keys().collect()
}

#[track_caller]
fn check(source: &str, expect: &[Technique]) {
    assert_eq!(found(source), expect, "{source}");
}

use Technique::{InlineAsm, Openmp, OptimizePragma, Prefetch, Simd, Threads};

#[test]
fn vector_names_are_simd() {
    for source in [
        "__m512d a;",
        "x = _mm_add_pd(a, b);",
        "x = _mm256_loadu_pd(p);",
        "_mm512_storeu_pd(p, x);",
        "__v8df a;",
        "__v4di_u a;",
        "_tile_dpbssd(0, 1, 2);",
        "_tile1024i a;",
        "__v8df_aligned a;",
        "__mmask8 m;",
        "__builtin_ia32_addpd(a, b);",
        "typedef double v4 __attribute__((vector_size(32)));",
        "typedef double v4 __attribute__((__vector_size__(32)));",
        "typedef double v4 __attribute__((ext_vector_type(4)));",
        "typedef double v4 __attribute__((mode(V4DF)));",
        "typedef double v4 [[gnu::mode(V4DF)]];",
        "__builtin_shuffle(a, b);",
        "__builtin_shufflevector(a, b, 0, 1);",
        "_mm\\\n512_storeu_pd(p, x);",
        "__attribute__((simd)) double f(double);",
        "La_x86_64_zmm v;",
        "__auto_type v = _m_from_int(1); v = _m_paddd(v, v);",
        "[[omp::directive(simd)]] for (;;) ;",
        "[[omp::directive(declare simd)]] double f(double);",
        "typedef float t __attribute__((__mode__(__V8DF__)));",
        "typedef int t __attribute__((mode(XI)));",
        "typedef double v4 [[__gnu__::__vector_size__(32)]];",
        "typedef double v4 [[deprecated, gnu : : mode(V4DF)]];",
        "double two(__float128) __attribute__((alias(\"_ZGVbN2v_exp\")));",
        "_ZGVbN2v_exp(pair);",
        "#pragma weak two = _ZGVbN2v_exp\n",
        "#pragma redefine_extname two _ZGVbN2v_exp\n",
        "_xrstor64(area, 7);",
        "_fxsave(area);",
        "__m32 v;",
        "_kand_mask8(a, b);",
        "_cvtu32_mask8(a);",
        "_load_mask64(p);",
        "_m_to_int(v);",
        "__typeof__(_m_from_float(0.0f)) v;",
        "_movdir64b(to, from);",
        "#pragma clang loop vectorize(enable)\nfor (;;) ;",
        "#pragma clang loop unroll(full) vectorize_width(8)\nfor (;;) ;",
        "#pragma clang loop interleave(enable)\nfor (;;) ;",
        "double two(__float128) __attribute__((weakref(\"_Z\" \"GVbN2v_exp\")));",
        "__builtin_apply(f, __builtin_apply_args(), 64);",
        "__builtin_convertvector(v, w);",
    ] {
        check(source, &[Simd]);
    }
}

#[test]
fn names_that_only_look_like_simd_are_not() {
    for source in [
        "double *p = _mm_malloc(64, 64); _mm_free(p);",
        "_mm_pause();",
        "#include <immintrin.h>\nint x;",
        "int m128, mm512, v8df, __max, float64x, La_x, _m_step;",
        "#pragma GCC ivdep\nfor (;;) ;",
        "#pragma GCC unroll 4\nfor (;;) ;",
        "#pragma clang loop unroll_count(4)\nfor (;;) ;",
        "int8_t a; int64_t b; float x2_t;",
        "double simd, target, optimize, prefetch, prefetch_distance, omp_chunk;",
        "typedef unsigned t __attribute__((mode(DI)));",
        "int a[2][2], _mask8, _load_masks, _kernel; a[b[0]][1] = mode(V4DF) + target(3);",
        "void *p = __builtin_return_address(0);",
        "__float128 x; __int128 y; _Complex double z;",
        "int vector_size = 8, ext_vector_type; double vfma_f64(double);",
        "n = _mm_tzcnt_64(x); __builtin_ia32_pause(); __builtin_ia32_lfence();",
        "#pragma clang loop unroll_count(4) distribute(enable)\nfor (;;) ;",
    ] {
        check(source, &[]);
    }
}

#[test]
fn openmp_is_found_however_it_is_written() {
    for source in [
        "#pragma omp parallel for\nfor (;;) ;",
        "  /* x */ # /* y */ pragma /* z */ omp parallel\n;",
        "%:pragma omp parallel\n;",
        "#pra\\\ngma o\\\nmp parallel\n;",
        "_Pragma(\"omp parallel for\") for (;;) ;",
        "omp_set_num_threads(4);",
        "int t = omp_get_thread_num();",
        "GOMP_parallel(f, 0, 4, 0);",
        "__kmpc_fork_call();",
        "[[omp::directive(parallel for)]] for (;;) ;",
        "[[omp::sequence(omp::directive(parallel), directive(for))]] for (;;) ;",
    ] {
        check(source, &[Openmp]);
    }
    check(
        "#include <omp.h>\n#pragma once\n#pragma openmp\nint x;",
        &[],
    );
}

#[test]
fn omp_simd_is_simd() {
    check("#pragma omp simd reduction(+:s)\n;", &[Simd]);
    check("#pragma omp declare simd\nint f(int);", &[Simd]);
    check(
        "#pragma omp parallel for simd collapse(2)\n;",
        &[Simd, Openmp],
    );
    check("#pragma omp parallel for if(simd)\n;", &[Openmp]);
    check("[[omp::directive(for simd)]] for (;;) ;", &[Simd, Openmp]);
    check("#pragma omp loop bind(thread)\n;", &[Simd, Openmp]);
    check("[[omp::directive(loop)]] for (;;) ;", &[Simd, Openmp]);
    check(
        "#pragma omp metadirective when(implementation={vendor(gnu)}: simd)\n;",
        &[Simd, Openmp],
    );
    check(
        "double e(double) __asm__(\"_ZGVb\" \"N2v_exp\");",
        &[Simd, InlineAsm],
    );
}

#[test]
fn prefetching_is_found() {
    check("__builtin_prefetch(p);", &[Prefetch]);
    check("_m_prefetchw(p);", &[Prefetch]);
    check(
        "asm(\"pre{|x}fetcht0 %0\" : : \"m\"(*p));",
        &[Prefetch, InlineAsm],
    );
    check("_mm_prefetch((char *)p, _MM_HINT_T0);", &[Prefetch]);
    check(
        "asm volatile(\"prefet\" \"cht0 %0\" :: \"m\"(*p));",
        &[Prefetch, InlineAsm],
    );
    check(
        "__asm__(\"\\x70refetchnta (%0)\" : : \"r\"(p));",
        &[Prefetch, InlineAsm],
    );
}

#[test]
fn assembly_counts_by_its_text() {
    check(
        "asm(\"vfmadd231pd %1, %2, %0\" : \"+v\"(a) : \"v\"(b), \"v\"(c));",
        &[Simd, InlineAsm],
    );
    check(
        "__asm__ __volatile__ (\"movups (%0), %%xmm0\" :: \"r\"(p) : \"xmm0\");",
        &[Simd, InlineAsm],
    );
    check(
        "asm volatile(\"mulpd %1, %0\" : \"+x\"(a) : \"x\"(b));",
        &[Simd, InlineAsm],
    );
    check("asm volatile(\"\" ::: \"memory\");", &[InlineAsm]);
    check(
        "asm(\"mov %[vaddr], %[value]\" : [value] \"=r\"(a) : [vaddr] \"r\"(b));",
        &[InlineAsm],
    );
}

#[test]
fn vectors_are_found_in_assembly_that_names_no_vector_register() {
    for template in [
        "lddqu (%1), %0",
        "dppd $0x31, %1, %0",
        "orps %1, %0",
        "paddq %1, %0",
        "movntdqa (%1), %0",
    ] {
        check(
            &format!("asm(\"{template}\" : \"+x\"(a) : \"r\"(p));"),
            &[Simd, InlineAsm],
        );
    }
    for template in [
        "ldtilecfg (%0)",
        "tdpbssd %%tmm0, %%tmm1, %%tmm2",
        "tilezero %%tmm0",
        "movq %0, %%mm1",
    ] {
        check(
            &format!("asm(\"{template}\" : : \"r\"(p));"),
            &[Simd, InlineAsm],
        );
    }
    for template in [
        "pext %1, %0, %0",
        "popcnt %0, %0",
        "push %0",
        "pause",
        "mulsd %1, %0",
        "cmp %0, mm",
    ] {
        check(
            &format!("asm(\"{template}\" : \"+r\"(a) : \"r\"(b));"),
            &[InlineAsm],
        );
    }
}

#[test]
fn what_stands_in_a_pragma_counts_like_all_else() {
    check(
        "#pragma omp simd if(({ __builtin_prefetch(p); 1; }))\n;",
        &[Simd, Prefetch],
    );
    check(
        "_Pragma(\"omp parallel num_threads(({ __m512d v; 1; }))\") ;",
        &[Simd, Openmp],
    );
    check(
        "#pragma omp parallel num_threads(({ asm(\"nop\"); 1; }))\n;",
        &[Openmp, InlineAsm],
    );
    check(
        "__pragma(typedef double V __attribute__((vector_size(64)));)",
        &[Simd],
    );
}

#[test]
fn level_and_target_changes_are_found() {
    for source in [
        "#pragma GCC optimize(\"O3\")\n",
        "#pragma GCC target \"avx512f\"\n",
        "#pragma clang optimize off\n",
        "__attribute__((optimize(\"O3\"))) void f(void);",
        "__attribute((__target__(\"avx2\"))) void f(void);",
        "[[gnu::optimize(\"O3\")]] void f(void);",
        "_Pragma(\"GCC optimize(\\\"O3\\\")\") void f(void);",
        "#pragma clang attribute push(__attribute__((target(\"avx2\"))), apply_to = function)\n",
        "[[deprecated(\"\"), gnu::target(\"avx2\")]] void f(void);",
        "#pragma clang fp contract(fast) reassociate(on)\n",
        "#pragma float_control(precise, off)\n",
    ] {
        check(source, &[OptimizePragma]);
    }
    check(
        "#pragma GCC push_options\n#pragma GCC pop_options\n__attribute__((noinline, hot)) void f(int target);",
        &[],
    );
}

#[test]
fn what_stands_far_behind_counts_too() {
    let many = "unused, ".repeat(9000);
    check(
        &format!("__attribute__(({many} target(\"avx2\"))) void f(void);"),
        &[OptimizePragma],
    );
    check(
        &format!(
            "#pragma omp metadirective {} default(simd)\n;",
            "when(x: nothing) ".repeat(99)
        ),
        &[Simd, Openmp],
    );
}

#[test]
fn threads_are_found() {
    check("pthread_create(&t, 0, f, 0);", &[Threads]);
    check("thrd_create(&t, f, 0);", &[Threads]);
    check("#include <pthread.h>\npthread_mutex_t m;", &[]);
}

#[test]
fn comments_and_strings_never_trip_a_rule() {
    check(
        "// _mm512_add_pd(a, b) \\\n #pragma omp parallel\n/* __builtin_prefetch(p) */ int x;",
        &[],
    );
    check(
        "const char *s = \"_mm512_add_pd __builtin_prefetch #pragma omp asm(xmm0)\"; char c = 'asm';",
        &[],
    );
    check("/* unterminated _mm512_add_pd", &[]);
}

#[test]
fn evidence_is_the_first_place() {
    let scan = scan("int x;\n\n/* \n */ __m256d a;\n__m512d b;");
    assert_eq!(
        scan.techniques[&Simd],
        Evidence {
            line: 4,
            text: "__m256d".into()
        }
    );
}

#[test]
fn a_header_hides_vectors_behind_names_that_tell_nothing() {
    for line in [
        "typedef double double8 __attribute__((ext_vector_type(8)));",
        "    __attribute__ ((__vector_size__ (32), __aligned__ (16)));",
    ] {
        assert!(hides_vectors(line), "{line}");
    }
    for line in [
        "typedef double __m128d __attribute__((__vector_size__(16), __aligned__(16)));",
        "typedef int plain __attribute__((aligned(16)));",
    ] {
        assert!(!hides_vectors(line), "{line}");
    }
}
