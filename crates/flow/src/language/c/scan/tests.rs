use super::*;

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
        "__mmask8 m;",
        "__builtin_ia32_addpd(a, b);",
        "typedef double v4 __attribute__((vector_size(32)));",
        "typedef double v4 __attribute__((__vector_size__(32)));",
        "typedef double v4 __attribute__((ext_vector_type(4)));",
        "typedef double v4 __attribute__((mode(V4DF)));",
        "typedef double v4 [[gnu::mode(V4DF)]];",
        "__builtin_shuffle(a, b);",
        "__builtin_shufflevector(a, b, 0, 1);",
        "float64x2_t v;",
        "svfloat64_t v;",
        "v = vfmaq_f64(a, b, c);",
        "_mm\\\n512_storeu_pd(p, x);",
        "__attribute__((simd)) double f(double);",
        "La_x86_64_zmm v;",
        "__auto_type v = _m_from_int(1); v = _m_paddd(v, v);",
        "[[omp::directive(simd)]] for (;;) ;",
        "[[omp::directive(declare simd)]] double f(double);",
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
        "int8_t a; int64_t b; float x2_t;",
        "double simd, target, optimize, prefetch, prefetch_distance, omp_chunk;",
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
        "#define PAR _Pragma(\"omp parallel for\")\nvoid f(void) { PAR for (;;) ; }",
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
}

#[test]
fn prefetching_is_found() {
    check("__builtin_prefetch(p);", &[Prefetch]);
    check("_m_prefetchw(p);", &[Prefetch]);
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
        "#define __pragma(...) __VA_ARGS__\n__pragma(typedef double V __attribute__((vector_size(64)));)",
        &[Simd],
    );
}

#[test]
fn a_pragma_operator_that_is_not_what_it_seems_is_left_to_the_preprocessor() {
    for source in [
        "#define _Pragma(x) typedef double V __attribute__((vector_size(64)));\n_Pragma(\"x\")",
        "_Pragma(\"/*\\x2a\\x2f\\x22*/ omp simd //\\x22\")\n;",
        "#define P _Pragma(\"/*\\x2a\\x2f\\x22*/ omp simd //\\x22\")\nP\n;",
    ] {
        assert!(scan(source).needs_preprocessing, "{source}");
    }
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
    ] {
        check(source, &[OptimizePragma]);
    }
    check(
        "#pragma GCC push_options\n#pragma GCC pop_options\n__attribute__((noinline, hot)) void f(int target);",
        &[],
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
fn unused_macros_and_dead_branches_never_trip_a_rule() {
    check(
        "#define LOAD(p) _mm512_loadu_pd(p)\n#define TWO(p) LOAD(p)\nint x;",
        &[],
    );
    check(
        "#if 0\n_mm512_add_pd(a, b);\n#pragma omp parallel\n#endif\nint x;",
        &[],
    );
    check("#if 1\nint x;\n#else\n_mm512_add_pd(a, b);\n#endif", &[]);
}

#[test]
fn used_macros_count() {
    check(
        "#define LOAD(p) _mm512_loadu_pd(p)\n#define TWO(p) LOAD(p)\nvoid f(void) { TWO(0); }",
        &[Simd],
    );
    check("#define T __m512d\nT x;", &[Simd]);
    check("#define double __m512d\ndouble x;", &[Simd]);
    assert!(!scan("#define N 256\nint x = N;").needs_preprocessing);
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
fn what_text_cannot_tell_asks_for_preprocessing() {
    for source in [
        "#define CAT(a, b) a##b\nCAT(_mm512, _add_pd)(x, y);",
        "#define CAT(a, b) a %:%: b\nCAT(_mm512, _add_pd)(x, y);",
        "#define STR(x) #x\nasm(STR(prefetcht0));",
        "#define DO(x) _Pragma(x)\nDO(\"omp parallel\")",
        "#ifdef __AVX512F__\nint x;\n#endif",
        "#ifndef __x86_64__\n#define __x86_64__\n#else\nint x;\n#endif",
        "#include \"mine.h\"",
        "#include HEADER",
        "#undef N\nint x;",
        "#define N 1\n#define N 2\nint x = N;",
        "#define A(x) __attribute__((x))\nA(optimize(\"O3\")) void f(void);",
        "#define O optimize\n__attribute__((O(\"O3\"))) void f(void);",
        "#define PRE \"prefet\"\nasm(PRE \"cht0 (%0)\" :: \"r\"(p));",
        "#define S simd\n#pragma omp S\n;",
        "#line 3 \"x.h\"\nint x;",
        "#define X \"omp parallel\"\n_Pragma(X)",
        "#define D ::\n[[gnu D optimize(\"O3\")]] void f(void);",
        "#define G gnu\n[[G::optimize(\"O3\")]] void f(void);",
        "__glibc_macro_warning1(GCC optimize(\"O3\"))",
        "#define A __CONCAT(opti, mize)\n__attribute__((A)) void f(void);",
        "#define __BEGIN_DECLS typedef double v8 __attribute__((vector_size(64)));\n#include <fenv.h>\n",
        "#if '0'\nint x;\n#endif",
        "#define V\\u00e9 __m512d\nV\u{e9} x;",
        "#define O omp\n[[O::directive(simd)]] for (;;) ;",
    ] {
        assert!(scan(source).needs_preprocessing, "{source}");
    }
}

#[test]
fn plain_sources_need_no_preprocessing() {
    for source in [
        "#ifndef A_H\n#define A_H\n#include <stdio.h>\n#include <immintrin.h>\n#define N 4\nint x = N;\n#endif",
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint x;\n#ifdef __cplusplus\n}\n#endif",
        "#define CAT(a, b) a##b\nint unused;",
        "#pragma omp parallel for num_threads(4)\nfor (;;) ;",
        "asm volatile(\"nop\" : : \"r\"(value) : \"memory\");",
        "__attribute__((aligned(64))) double a[8];",
        "static __inline__ __attribute__((__always_inline__)) __m512d f(const double *__restrict__ p) { return _mm512_load_pd(p); }",
        "#define _GNU_SOURCE\n#define N 256\n#include <stdio.h>\nint x = N;",
        "[[gnu::noinline]] void f(void);",
    ] {
        assert!(!scan(source).needs_preprocessing, "{source}");
    }
}

#[test]
fn preprocessed_text_counts_only_where_it_is_ours() {
    let text = "# 0 \"candidate.c\"\n# 1 \"prelude.h\" 1\ntypedef double __m512d __attribute__((vector_size(64)));\n#pragma omp parallel\n# 1 \"candidate.c\" 2\n\nint a;\n# 7 \"candidate.c\"\n\n__m256d b;\n# 3 \"other.h\" 1 3 4\n__builtin_prefetch(p);\n";
    let scan = scan_preprocessed(text, "candidate.c");
    assert_eq!(scan.techniques.len(), 1);
    assert_eq!(
        scan.techniques[&Simd],
        Evidence {
            line: 8,
            text: "__m256d".into()
        }
    );
    assert!(!scan.needs_preprocessing);
}

#[test]
fn preprocessed_text_without_markers_or_from_standard_input_is_ours() {
    assert!(scan_preprocessed("__m256d b;", "candidate.c").uses(Simd));
    assert!(
        scan_preprocessed("# 1 \"<stdin>\"\n#pragma omp parallel\n", "candidate.c").uses(Openmp)
    );
    assert!(!scan_preprocessed("# 1 \"<built-in>\"\n__m256d b;", "candidate.c").uses(Simd));
}
