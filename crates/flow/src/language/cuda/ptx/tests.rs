use super::*;
use Technique::{AsyncCopy, InlineAsm, SharedMemory, TensorCores, VectorLoads, WarpPrimitives};

fn by_line(ptx: &str) -> PtxScan {
    scan_ptx(ptx, Assembly::ByLine)
}

fn check(ptx: &str, expect: &[Technique]) {
    check_of(ptx, true, expect);
}

fn check_of(ptx: &str, has_eight_bytes: bool, expect: &[Technique]) {
    let scan = by_line(ptx).of(has_eight_bytes).clone();
    let found: Vec<Technique> = scan.techniques.keys().copied().collect();
    let mut expect = expect.to_vec();
    expect.sort_unstable();
    assert_eq!(found, expect, "{ptx}\n{scan:?}");
}

#[test]
fn instructions_reveal_techniques() {
    check(".shared .align 4 .b8 tile[128];", &[SharedMemory]);
    check(".extern .shared .align 16 .b8 tile[];", &[SharedMemory]);
    check("ld.shared::cluster.f32 %f1, [%r1];", &[SharedMemory]);
    check("@%p1 atom.shared.add.u32 %r1, [%r2], 1;", &[SharedMemory]);
    check("cvta.to.shared.u64 %rd1, %rd2;", &[SharedMemory]);
    check("mapa.u64 %rd1, %rd2, 0;", &[SharedMemory]);
    for op in [
        "shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1;",
        "vote.sync.ballot.b32 %r1, %p1, -1;",
        "match.any.sync.b32 %r1, %r2, -1;",
        "redux.sync.add.s32 %r1, %r2, -1;",
        "activemask.b32 %r1;",
        "elect.sync %r1|%p1, -1;",
        "bar.warp.sync -1;",
    ] {
        check(op, &[WarpPrimitives]);
    }
    check(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1};",
        &[TensorCores],
    );
    check(
        "wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1}, [%rd1];",
        &[TensorCores],
    );
    check(
        "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f1};",
        &[TensorCores],
    );
    check("tcgen05.mma.cta_group::1.kind::f16 [%r1];", &[TensorCores]);
    check(
        "ldmatrix.sync.aligned.m8n8.x4.b16 {%r1}, [%r2];",
        &[SharedMemory, TensorCores],
    );
    check(
        "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;",
        &[TensorCores, WarpPrimitives],
    );
    check(
        "cp.async.ca.shared.global [%r1], [%rd1], 4;",
        &[SharedMemory, AsyncCopy],
    );
    check("cp.async.wait_all;", &[AsyncCopy]);
    check(
        "cp.reduce.async.bulk.global.bulk_group.add.f32 [%rd1], %r1;",
        &[AsyncCopy],
    );
    check("mbarrier.init.b64 [%rd1], 1;", &[AsyncCopy]);
    check("st.async.weak.u32 [%rd1], %r1, [%rd2];", &[AsyncCopy]);
    check("fence.proxy.async;", &[AsyncCopy]);
    for op in [
        "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];",
        "ld.global.nc.L1::no_allocate.v2.f64 {%fd1, %fd2}, [%rd1];",
        "ld.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];",
        "st.global.v2.u32 [%rd1], {%r1, %r2};",
        "ld.global.b128 %rq1, [%rd1];",
        "red.global.add.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};",
    ] {
        check(op, &[VectorLoads]);
    }
}

#[test]
fn an_integer_that_is_taken_apart_is_a_vector() {
    for use_of_it in [
        "shr.u64 %rd3, %rd2, 32;",
        "and.b64 %rd3, %rd2, 2147483647;",
        "cvt.u32.u64 %r1, %rd2;",
        "mov.b64 %rd4, %rd2; shl.b64 %rd5, %rd4, 1;",
    ] {
        check(
            &format!("ld.global.nc.u64 %rd2, [%rd1]; {use_of_it}"),
            &[VectorLoads],
        );
        check(&format!("ld.param.u64 %rd2, [p]; {use_of_it}"), &[]);
    }
    // An index, a pointer, and a conversion to another whole number of eight bytes.
    let whole = "ld.global.u64 %rd2, [%rd1]; add.s64 %rd3, %rd2, 4; cvta.to.global.u64 %rd4, %rd2; \
                 cvt.u64.u64 %rd5, %rd2; ld.global.u32 %r1, [%rd6]; shr.u32 %r2, %r1, 16;";
    check(whole, &[]);
    check_of(whole, false, &[]);
    for number in [
        "cvt.rn.f64.s64 %fd1, %rd2; st.global.f64 [%rd3], %fd1;",
        "cvt.rn.f32.s64 %f1, %rd2; st.global.f32 [%rd3], %f1;",
        "add.s64 %rd2, %rd2, 1; st.global.u64 [%rd3], %rd2;",
    ] {
        let number = format!("ld.global.u64 %rd2, [%rd1]; {number}");
        check_of(&number, false, &[]);
    }
}

#[test]
fn eight_bytes_that_are_only_moved_are_a_vector_of_smaller_elements() {
    for moved in [
        "ld.global.u64 %rd2, [%rd1]; st.global.u64 [%rd3], %rd2;",
        "ld.global.b64 %rd2, [%rd1]; st.shared.b64 [%r1], %rd2;",
        "ld.global.nc.f64 %fd1, [%rd1]; st.global.f64 [%rd3+8], %fd1;",
        "ld.f64 %fd1, [%rd1]; st.local.v2.f64 [%rd3], {%fd1, %fd2};",
        "ld.global.f64 %fd1, [%rd1]; mov.f64 %fd1, 0d0; st.global.f64 [%rd3], %fd1;",
        "ld.global.u64 %rd2, [%rd1]; selp.b64 %rd4, %rd2, 0, %p1; st.global.u64 [%rd3], %rd4;",
        "ld.global.u64 %rd2, [%rd1]; st.global.u32 [%rd3], %rd2;",
        "ld.global.f64 %fd1, [%rd1]; mov.b64 %rd2, %fd1; shr.u64 %rd4, %rd2, 32;",
    ] {
        let scan = by_line(moved);
        assert!(scan.of(false).uses(VectorLoads), "{moved}");
        assert!(!scan.of(true).uses(VectorLoads), "{moved}");
    }
    for number in [
        "ld.global.f64 %fd1, [%rd1]; add.f64 %fd1, %fd1, %fd2; st.global.f64 [%rd3], %fd1;",
        "ld.global.u64 %rd2, [%rd1]; st.global.f32 [%rd2], %f1;",
        "ld.global.u64 %rd2, [%rd1]; cvta.to.global.u64 %rd4, %rd2; st.global.f32 [%rd4+4], %f1;",
        "ld.param.u64 %rd2, [p]; st.local.u64 [%rd3], %rd2;",
        "ld.global.u64 %rd2, [%rd1]; st.param.b64 [param0+0], %rd2;",
        "ld.global.f64 %fd1, [%rd1]; cvt.rn.f32.f64 %f1, %fd1; st.global.f32 [%rd3], %f1;",
    ] {
        check_of(number, false, &[]);
    }
}

#[test]
fn arithmetic_and_calls_hide_no_vector() {
    let halves = "cvt.u32.u64 %r8, %rd3; shr.u64 %rd4, %rd3, 32; cvt.u32.u64 %r9, %rd4;";
    let packed = "bfi.b64 %rd6, %rd4, %rd5, 32, 32;";
    let function =
        ".address_size 64\n\n.func (.param .b64 func_retval0) f(\n.param .b64 f_param_0\n)\n{";
    let call = "st.param.b64 [param0+0], %rd2; call.uni (retval0),\nf,\n(\nparam0\n); \
        ld.param.b64 %rd3, [retval0+0];";
    let kernel = "}\n.visible .entry k(\n.param .u64 k_param_0\n)\n{\nld.global.u64 %rd2, [%rd1];";
    for hidden in [
        format!("ld.global.u64 %rd2, [%rd1]; add.s64 %rd3, %rd2, %rd9; {halves}"),
        format!("ld.global.u64 %rd2, [%rd1]; max.u64 %rd3, %rd2, %rd9; {halves}"),
        format!(
            "ld.global.u64 %rd2, [%rd1]; selp.b64 %rd7, %rd2, %rd8, %p1; min.u64 %rd3, %rd7, %rd9; {halves}"
        ),
        "ld.global.u64 %rd2, [%rd1]; mul.hi.u64 %rd3, %rd2, %rd9; mul.lo.s64 %rd4, %rd3, %rd9; \
         sub.s64 %rd5, %rd2, %rd4; cvt.u32.u64 %r8, %rd5; cvt.u32.u64 %r9, %rd3;"
            .to_owned(),
        "ld.global.u64 %rd2, [%rd1]; add.s64 %rd3, %rd2, %rd9; mov.b64 {%r1, %r2}, %rd3;"
            .to_owned(),
        format!("{packed} add.s64 %rd7, %rd6, %rd9; st.global.u64 [%rd1], %rd7;"),
        format!("{function} ld.param.u64 %rd3, [f_param_0]; {halves} {kernel} {call}"),
        format!(
            "{function} ld.param.u64 %rd3, [f_param_0]; st.param.b64 [func_retval0+0], %rd3; {kernel} {call} {halves}"
        ),
        format!(
            "{function} ld.global.u64 %rd3, [%rd1]; st.param.b64 [func_retval0+0], %rd3; {kernel} {call} {halves}"
        ),
        format!(
            "{function} {packed} st.param.b64 [func_retval0+0], %rd6; {kernel} {call} st.global.u64 [%rd9], %rd3;"
        ),
    ] {
        let scan = by_line(&hidden);
        assert!(scan.of(false).uses(VectorLoads), "{hidden}");
        assert!(!scan.of(true).uses(VectorLoads), "{hidden}");
    }
}

#[test]
fn numbers_of_eight_bytes_are_computed_with() {
    let function = ".func (.param .b64 func_retval0) f(\n.param .b64 f_param_0\n)\n{";
    let halves = "cvt.u32.u64 %r8, %rd3; shr.u64 %rd4, %rd3, 32; cvt.u32.u64 %r9, %rd4;";
    for number in [
        // A sum of counters, and the top of a random number.
        "ld.global.u64 %rd2, [%rd1]; add.s64 %rd3, %rd2, %rd3; cvt.u32.u64 %r1, %rd3;".to_owned(),
        "ld.global.u64 %rd2, [%rd1]; mad.lo.s64 %rd3, %rd2, %rd7, %rd8; st.global.u64 [%rd1], %rd3; \
         shr.u64 %rd4, %rd3, 33; cvt.u32.u64 %r1, %rd4;"
            .to_owned(),
        // A quotient of 64 bits.
        "ld.global.u64 %rd2, [%rd1]; add.s64 %rd3, %rd2, 1; or.b64 %rd4, %rd3, %rd5; \
         and.b64 %rd6, %rd4, -4294967296; setp.ne.s64 %p1, %rd6, 0; div.u64 %rd7, %rd3, %rd5; \
         cvt.u32.u64 %r1, %rd3;"
            .to_owned(),
        // A pointer, and what lies there.
        "ld.global.u64 %rd2, [%rd1]; add.s64 %rd3, %rd2, %rd8; ld.f32 %f1, [%rd3+4]; \
         shl.b64 %rd4, %rd8, 2; add.s64 %rd5, %rd3, %rd4; st.f32 [%rd5], %f1;"
            .to_owned(),
        // A hash of an index, and a length.
        format!("ld.param.u64 %rd2, [k_param_0]; xor.b64 %rd3, %rd2, 7; {halves}"),
        // A function that takes a number apart, which was not loaded; and one that takes a pointer.
        format!(
            "{function} ld.param.u64 %rd3, [f_param_0]; {halves} }}\n.visible .entry k() {{ mul.lo.s64 %rd2, %rd1, %rd1; \
             st.param.b64 [param0+0], %rd2; call.uni (retval0), f, (param0);"
        ),
        format!(
            "{function} ld.param.u64 %rd3, [f_param_0]; ld.f32 %f1, [%rd3+8]; }}\n.visible .entry k() {{ \
             ld.global.u64 %rd2, [%rd1]; st.param.b64 [param0+0], %rd2; call.uni (retval0), f, (param0);"
        ),
        format!("{function} {halves} }}\n.visible .entry k() {{ ld.global.u64 %rd3, [%rd1];"),
    ] {
        check_of(&number, false, &[]);
    }
}

#[test]
fn elements_that_are_put_together_before_a_store_are_a_vector() {
    for packed in [
        "bfi.b64 %rd9, %rd8, %rd7, 32, 32; st.global.u64 [%rd1], %rd9;",
        "shl.b64 %rd8, %rd7, 32; or.b64 %rd9, %rd8, %rd6; st.global.u64 [%rd1], %rd9;",
        "shl.b64 %rd8, %rd7, 32; or.b64 %rd9, %rd6, %rd8; mov.b64 %rd2, %rd9; st.u64 [%rd1], %rd2;",
    ] {
        check(packed, &[VectorLoads]);
    }
    check(
        "shl.b64 %rd8, %rd7, 2; add.s64 %rd9, %rd6, %rd8; st.u64 [%rd1], %rd9;",
        &[],
    );
}

#[test]
fn plain_code_uses_nothing() {
    check(
        ".version 8.5\n.target sm_90\n.address_size 64\n\n\
         .visible .entry shfl(\n.param .u64 shfl_param_0,\n.param .align 16 .b8 p[16]\n)\n.maxntid 128, 1, 1\n{\n\
         .reg .pred %p<2>;\n.reg .f32 %f<3>;\n.reg .b64 %rd<5>;\n\n\
         ld.param.u64 %rd1, [shfl_param_0];\nld.param.v4.u32 {%r1, %r2, %r3, %r4}, [p];\n\
         cvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %tid.x;\nld.global.f32 %f1, [%rd2];\n\
         ld.local.v4.f32 {%f1, %f2, %f3, %f4}, [%SPL];\nld.const.v2.f32 {%f1, %f2}, [c];\n\
         bar.sync 0;\nbarrier.sync 0;\nst.global.f32 [%rd2], %f1;\n// shfl.sync and ld.shared\n/* mma.sync */\nret;\n}\n\
         .file 1 \"mma.sync.cu\"\n",
        &[],
    );
}

#[test]
fn spelling_hides_nothing() {
    check(
        "shfl /* a */ .sync\n// b\n.down.b32 %r1, %r2, 1, 31, -1;",
        &[WarpPrimitives],
    );
    check(
        "shfl.\nsync.idx.b32 %r1, %r2, 1, 31, -1;",
        &[WarpPrimitives],
    );
    check("ld.shared :: cta.f32 %f1, [%r1];", &[SharedMemory]);
    check("ld. /**/ shared.f32 %f1, [%r1];", &[SharedMemory]);
    check(".loc 1 5 3 mma.sync.aligned.m8n8k4 {%f1};", &[TensorCores]);
    check(
        "$L: @!%p1 vote.sync.any.pred %p2, %p1, -1;",
        &[WarpPrimitives],
    );
    check(
        ".pragma \"nounroll\"; redux.sync.add.s32 %r1, %r2, -1;",
        &[WarpPrimitives],
    );
    check("{ shfl.sync.up.b32 a, b, 1, 0, -1; }", &[WarpPrimitives]);
    check("$a:shfl.sync.up.b32 a, b, 1, 0, -1;", &[WarpPrimitives]);
    // A string goes on behind the end of its line.
    check(
        ".pragma \"\n\"; shfl.sync.up.b32 a, b, 1, 0, -1; .pragma \"\n\";",
        &[WarpPrimitives],
    );
    check(" #define S shfl.sync\n", &TECHNIQUES);
}

#[test]
fn a_wide_register_in_parts_is_a_vector() {
    let load = "ld.global.u64 %rd3, [%rd1];\nmov.b64 {%f1, %f2}, %rd3;";
    check(load, &[VectorLoads]);
    check(
        "ld.global.nc.b32 %r3, [%rd1+4];\nmov.b32 %r4, %r3;\nmov.b32 {%rs1, %rs2}, %r4;",
        &[VectorLoads],
    );
    let store = "mov.b64 %rd3, {%f1, %f2};\nst.global.b64 [%rd1], %rd3;";
    check(store, &[VectorLoads]);
    check(
        "ld.shared.u64 %rd3, [%rd1];\nmov.b64 {%f1, %f2}, %rd3;",
        &[SharedMemory],
    );
    check("add.f64 %fd1, %fd2, %fd3;\nmov.b64 {%r1, %r2}, %fd1;", &[]);
    check(
        "mov.b64 %fd1, {%r1, %r2};\nadd.f64 %fd2, %fd1, %fd1;\nst.global.f64 [%rd1], %fd2;",
        &[],
    );
    let other =
        "ld.global.u64 %rd3, [%rd1];\nret;\n}\n.visible .entry k()\n{\nmov.b64 {%f1, %f2}, %rd3;";
    check(other, &[]);
}

#[test]
fn inline_assembly_is_marked_by_the_compiler() {
    let marked = "add.f32 %f1, %f1, %f1;\n\t// begin inline asm\n\tadd.s32 %r1, %r1, 1;\n\t// end inline asm\n";
    let scan = by_line(marked).of(true).clone();
    let evidence = &scan.techniques[&InlineAsm];
    assert_eq!(
        (evidence.line, evidence.text.as_str()),
        (2, "asm add.s32 (in the PTX)")
    );
    check(
        "ret;\n// begin inline asm\n\n// end inline asm\n",
        &[InlineAsm],
    );
    check(
        "shfl // begin inline asm\n.sync.b32 %r1;",
        &[WarpPrimitives, InlineAsm],
    );
}

#[test]
fn assembly_of_headers_is_not_the_candidates() {
    // What NVRTC makes of `__ldg`: the line of the caller alone.
    let ptx = ".loc 1 7 3\n// begin inline asm\nld.global.nc.f32 %f1, [%rd1];\n// end inline asm\n\
        // begin inline asm\nld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];\n// end inline asm\n\
        .file 1 \"candidate.cu\"\n";
    let uses = |assembly| {
        let scan = scan_ptx(ptx, assembly).of(true).clone();
        [InlineAsm, VectorLoads].map(|technique| scan.uses(technique))
    };
    assert_eq!(uses(Assembly::OfHeaders), [false, true]);
    assert_eq!(uses(Assembly::ByLine), [true, true]);
}

#[test]
fn line_information_names_the_sources_line() {
    let ptx = ".loc 1 7 3\nmov.u32 %r1, 1;\n.loc 2 90 1, function_name $L__info_string0, inlined_at 1 9 5\n\
        // begin inline asm\ncvt.f32.f16 %f1, %rs1;\n// end inline asm\nshfl.sync.idx.b32 %r1, %r2,
        // 1, 31, -1;\n\
        .loc 1 12 1\nst.global.v2.f32 [%rd1], {%f1, %f2};\n\
        .file 1 \"candidate.cu\"\n.file 2 \"include/cuda_fp16.hpp\"\n";
    let scan = by_line(ptx).of(true).clone();
    let found: Vec<_> = scan
        .techniques
        .iter()
        .map(|(technique, evidence)| (*technique, evidence.line, evidence.text.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            (VectorLoads, 12, "st.global.v2.f32"),
            (WarpPrimitives, 9, "shfl.sync.idx.b32"),
        ],
        "what a header does counts, but its assembly is not the candidate's"
    );
}

#[test]
fn any_text_is_survived() {
    for text in [
        "",
        ".",
        "::",
        "a.",
        "a::",
        "\"",
        "/*",
        "//",
        "é.é",
        ".loc",
        ".loc 1",
        ".file 1",
        "mov.b64 {",
        "%",
        "99999999999.x",
    ] {
        by_line(text);
    }
    by_line(&"mov.b64 {".repeat(100_000));
    by_line(&"a .".repeat(300_000));
    by_line(&"a ::// begin inline asm\n".repeat(100_000));
}
