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
        "_mm_stream_si32(p, x); _mm_stream_si64(q, y); __builtin_ia32_movnti64(q, y); _mm_sfence();",
        "_kernel_mask4(a); _kernel_mask8(b); _kand_mask12(c); _load_mask8_row(d); _mask16(e);",
        "_m_pack(a); _m_panel(b); _m_p(c); _m_from_row(d); _m_to_tile(e); _m_empty_row(f);",
        "_xsave_row(a); _fxsaved(b); _movdir64bytes(c); _MM_SHUFFLED(d); _MM_TRANSPOSE(e);",
        "omp_init_tile(a); omp_get_row(b); omp_set(c); omp_in(d); omp_target_row(e); omp_free_all(f);",
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

/// Each of these names alone.
#[track_caller]
fn check_names(names: &str, expect: Technique) {
    for name in names.split_whitespace() {
        check(&format!("{name}(x);"), &[expect]);
    }
}

/// As the headers of gcc 12 to 16 and clang 14 to 21 have them.
#[test]
fn every_name_of_the_headers_is_found() {
    for bits in ["8", "16", "32", "64"] {
        for what in [
            "kadd", "kand", "kandn", "knot", "kor", "kshiftli", "kshiftri", "kxnor", "kxor",
            "load", "store",
        ] {
            check_names(&format!("_{what}_mask{bits}"), Simd);
        }
        for what in [
            "kortest", "kortestc", "kortestz", "ktest", "ktestc", "ktestz",
        ] {
            check_names(&format!("_{what}_mask{bits}_u8"), Simd);
        }
    }
    check_names(
        "_cvtmask8_u32 _cvtmask16_u32 _cvtmask32_u32 _cvtmask64_u64 _cvtu32_mask8
        _cvtu32_mask16 _cvtu32_mask32 _cvtu64_mask64 _kunpackb_mask16 _kunpackw_mask32
        _kunpackd_mask64 _MM_SHUFFLE _MM_SHUFFLE2 _MM_TRANSPOSE4_PS _movdir64b
        _mm_stream_pd _mm_stream_ps _mm_stream_pi _mm_stream_si128 _mm256_stream_pd
        __builtin_ia32_movntdq __builtin_ia32_movntpd",
        Simd,
    );
    check_names(
        "_xsave _xsave64 _xsavec _xsavec64 _xsaveopt _xsaveopt64 _xsaves _xsaves64 _xrstor
        _xrstor64 _xrstors _xrstors64 _fxsave _fxsave64 _fxrstor _fxrstor64",
        Simd,
    );
    check_names(
        "_tile_loadconfig _tile_storeconfig _tile_release _tile_zero _tile_loadd _tile_stored
        _tile_stream_loadd _tile_dpbf16ps _tile_cvtrowd2ps _tile_movrow __tile_loadd
        __tile1024i",
        Simd,
    );
    for lanes in ["b", "w", "d"] {
        for what in ["padd", "psub", "pcmpeq", "pcmpgt"] {
            check_names(&format!("_m_{what}{lanes}"), Simd);
        }
    }
    for lanes in ["sb", "sw", "usb", "usw"] {
        check_names(&format!("_m_padd{lanes} _m_psub{lanes}"), Simd);
    }
    for shift in [
        "psllw", "pslld", "psllq", "psraw", "psrad", "psrlw", "psrld", "psrlq",
    ] {
        check_names(&format!("_m_{shift} _m_{shift}i"), Simd);
    }
    for lanes in ["bw", "wd", "dq"] {
        check_names(&format!("_m_punpckh{lanes} _m_punpckl{lanes}"), Simd);
    }
    for what in [
        "acc", "add", "cmpeq", "cmpge", "cmpgt", "max", "min", "mul", "nacc", "pnacc", "rcp",
        "rcpit1", "rcpit2", "rsqit1", "rsqrt", "rsqrtit1", "sub", "subr",
    ] {
        check_names(&format!("_m_pf{what}"), Simd);
    }
    check_names(
        "_m_empty _m_femms _m_from_float _m_from_int _m_from_int64 _m_maskmovq _m_packssdw
        _m_packsswb _m_packuswb _m_pand _m_pandn _m_pavgb _m_pavgusb _m_pavgw _m_pextrw
        _m_pf2id _m_pf2iw _m_pi2fd _m_pi2fw _m_pinsrw _m_pmaddwd _m_pmaxsw _m_pmaxub
        _m_pminsw _m_pminub _m_pmovmskb _m_pmulhrw _m_pmulhuw _m_pmulhw _m_pmullw _m_por
        _m_psadbw _m_pshufw _m_pswapd _m_pswapdsf _m_pswapdsi _m_pxor _m_to_float _m_to_int
        _m_to_int64",
        Simd,
    );
}

/// As the headers of both runtimes have them.
#[test]
fn every_function_of_openmp_is_found() {
    for lock in ["lock", "nest_lock"] {
        for what in ["init", "destroy", "set", "unset", "test"] {
            check_names(&format!("omp_{what}_{lock}"), Openmp);
        }
        check_names(&format!("omp_init_{lock}_with_hint omp_{lock}_t"), Openmp);
    }
    for what in [
        "affinity_format",
        "default_allocator",
        "default_device",
        "dynamic",
        "max_active_levels",
        "nested",
        "num_teams",
        "num_threads",
        "schedule",
        "teams_thread_limit",
    ] {
        check_names(&format!("omp_get_{what} omp_set_{what}"), Openmp);
    }
    for what in ["int", "name", "ptr", "rc_desc", "str", "type_desc"] {
        check_names(&format!("omp_get_interop_{what}"), Openmp);
    }
    for what in [
        "device",
        "devices",
        "device_and_host",
        "devices_and_host",
        "devices_all",
    ] {
        check_names(
            &format!("omp_get_{what}_memspace omp_get_{what}_allocator"),
            Openmp,
        );
    }
    check_names(
        "omp_aligned_alloc omp_aligned_calloc omp_alloc omp_allocator_handle_t
        omp_alloctrait_key_t omp_alloctrait_t omp_alloctrait_value_t omp_calloc
        omp_capture_affinity omp_control_tool omp_destroy_allocator omp_display_affinity
        omp_display_env omp_free omp_fulfill_event omp_get_active_level
        omp_get_ancestor_thread_num omp_get_cancellation omp_get_device_num
        omp_get_initial_device omp_get_level omp_get_mapped_ptr omp_get_max_task_priority
        omp_get_max_teams omp_get_max_threads omp_get_num_devices
        omp_get_num_interop_properties omp_get_num_places omp_get_num_procs
        omp_get_partition_num_places omp_get_partition_place_nums omp_get_place_num
        omp_get_place_num_procs omp_get_place_proc_ids omp_get_proc_bind
        omp_get_supported_active_levels omp_get_team_num omp_get_team_size
        omp_get_thread_limit omp_get_thread_num omp_get_wtick omp_get_wtime omp_in_final
        omp_in_parallel omp_init_allocator omp_is_initial_device omp_pause_hard
        omp_pause_resource omp_pause_resource_all omp_pause_resource_t omp_pause_resume
        omp_pause_soft omp_realloc omp_sched_t omp_target_alloc omp_target_associate_ptr
        omp_target_disassociate_ptr omp_target_free omp_target_is_accessible
        omp_target_is_present omp_target_memcpy omp_target_memcpy_async
        omp_target_memcpy_rect omp_target_memcpy_rect_async omp_target_memset
        omp_target_memset_async omp_get_device_from_uid omp_get_uid_from_device
        omp_in_explicit_task omp_pause_stop_tool omp_get_dyn_gprivate_ptr
        omp_get_dyn_gprivate_nofb_ptr omp_get_dyn_gprivate_size omp_get_gprivate_limit
        omp_get_memspace_num_resources omp_get_submemspace",
        Openmp,
    );
    check_names(
        "omp_get_wtime_ omp_set_dynamic_8_ omp_init_lock__ GOMP_barrier __builtin_GOMP_barrier
        __builtin_omp_get_thread_num __kmpc_barrier",
        Openmp,
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
fn comments_and_labels_of_assembly_are_no_instructions() {
    for template in [
        "# loops in steps, no mulpd or prefetching\\n nop",
        "/* zmm0 */ nop",
        ".Lsteps%=:\\n dec %0\\n jnz .Lsteps%=",
        "nop {# mulpd|nop}",
    ] {
        check(&format!("asm(\"{template}\" : \"+r\"(a));"), &[InlineAsm]);
    }
    for template in [
        "# a\\n mulpd %0, %0",
        "/* a */ mulpd %0, %0",
        "nop {|#} ; mulpd %0, %0",
        // A comment without an end.
        "nop /* mulpd",
    ] {
        check(
            &format!("asm(\"{template}\" : \"+x\"(a));"),
            &[Simd, InlineAsm],
        );
    }
    // A comment ends with its literal.
    check(
        "asm(\"nop #\" : : \"r\"(({ asm(\"mulpd %0, %0\" : \"+x\"(a)); b; })));",
        &[Simd, InlineAsm],
    );
}

#[test]
fn what_attributes_are_told_is_no_attribute() {
    for source in [
        "__attribute__((cleanup(target), aligned(simd))) int x;",
        "[[gnu::cleanup(optimize)]] int x;",
        "__declspec(align(mode)) int x;",
    ] {
        check(source, &[]);
    }
    check(
        "__attribute__((aligned(({ typedef double V __attribute__((vector_size(64))); 8; })))) int x;",
        &[Simd],
    );
    check(
        "__attribute__((aligned(({ [[gnu::simd]] int f(int); 8; })))) int x;",
        &[Simd],
    );
    check("__declspec(vector_size(64)) double V;", &[Simd]);
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
