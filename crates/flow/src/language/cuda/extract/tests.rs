use super::*;
use crate::task::{Task, TaskFiles};

const KERNEL: &str = "__global__ void k(const float *x, float *y, long long n) { y[0] = x[0]; }\n";
const ENTRY: &str =
    "extern \"C\" void solve(const float* x, float* y, long long n) { k<<<1, 1>>>(x, y, n); }\n";

fn task(toml: &str) -> Task {
    Task::parse(TaskFiles {
        toml: toml.to_owned(),
        ..TaskFiles::default()
    })
    .unwrap()
}

fn relu() -> Task {
    task(include_str!("../../../../tests/data/relu.toml"))
}

fn found(completion: &str) -> Result<Extracted, String> {
    extract(completion, relu().function()).map_err(|malformed| malformed.why)
}

fn gives(completion: &str, source: &str, notes: &[&str]) {
    let found = found(completion).unwrap_or_else(|why| panic!("{why}:\n{completion}"));
    assert_eq!(found.source, source, "{completion}");
    assert_eq!(found.notes.len(), notes.len(), "{:?}", found.notes);
    for (note, part) in found.notes.iter().zip(notes) {
        assert!(note.contains(part), "{note}");
    }
    let again = read(found.source.as_bytes(), relu().function()).unwrap();
    assert_eq!(again.source, found.source, "repaired once");
    assert_eq!(again.notes, [""; 0]);
}

fn fails(completion: &str, why: &str) {
    match found(completion) {
        Ok(found) => panic!("{}", found.source),
        Err(told) => assert!(told.contains(why), "{told}"),
    }
}

#[test]
fn a_block_of_any_name_is_taken() {
    let source = format!("{KERNEL}{ENTRY}");
    for name in ["cuda", "cpp", "c++", "cu", "CUDA", "c", ""] {
        gives(
            &format!("Here:\n```{name}\n{source}```\nBye."),
            &source,
            &[],
        );
    }
    gives(&format!("Here it is:\n\n{source}"), &source, &[]);
    let main = "int main() { return 0; }\n";
    gives(
        &format!("```cuda\n{source}{main}```"),
        &format!("{source}{main}"),
        &[],
    );
}

#[test]
fn a_cut_off_answer_keeps_its_complete_functions() {
    let source = format!("{KERNEL}{ENTRY}");
    let cut = format!("```cuda\n{source}int main() {{ float *x; cudaMalloc(&x, ");
    gives(&cut, &source, &["cut off"]);
    fails(&format!("```cuda\n{KERNEL}{}", &ENTRY[..80]), "is cut off");
    let wrapped = format!(
        "extern \"C\" {{\n{}}}\n",
        ENTRY.replace("extern \"C\" ", "")
    );
    let source = format!("{KERNEL}{wrapped}");
    gives(
        &format!("```cuda\n{source}__global__ void later("),
        &source,
        &["cut off"],
    );
}

#[test]
fn a_kernel_in_its_own_block_is_put_in_front() {
    let source = format!("{KERNEL}{ENTRY}");
    let completion = format!("The kernel:\n```cuda\n{KERNEL}```\nand\n```cuda\n{ENTRY}```\n");
    gives(&completion, &source, &["`k` is put in front"]);
    let template =
        "template <int N> __global__ void k(const float *x, float *y, long long n) { }\n";
    let entry = ENTRY.replace("k<<<", "k<4><<<");
    let completion = format!("```cpp\n{template}```\n```cpp\n{entry}```");
    gives(
        &completion,
        &format!("{template}{entry}"),
        &["put in front"],
    );
}

#[test]
fn the_linkage_is_repaired() {
    let plain = "void solve(const float *x, float *y, long long n) { }\n";
    let linked = format!("extern \"C\" {plain}");
    let note = &["gets `extern \"C\"`"];
    gives(plain, &linked, note);
    gives(&format!("extern {plain}"), &linked, note);
    gives(
        &format!("__host__ {plain}"),
        &format!("extern \"C\" __host__ {plain}"),
        note,
    );
    gives(
        &format!("static inline {plain}"),
        &linked,
        &["storage words", "gets"],
    );
    gives(
        &format!("extern \"C\" inline {plain}"),
        &linked,
        &["storage words"],
    );
    let block = format!("extern \"C\" {{\n{plain}}}\n");
    gives(&format!("```cuda\n{block}```"), &block, &[]);
    let guarded = format!(
        "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n{plain}#ifdef __cplusplus\n}}\n#endif\n"
    );
    gives(&format!("```cuda\n{guarded}```"), &guarded, &[]);
    let declared = "void solve(const float *x, float *y, long long n);\n";
    gives(
        &format!("```cuda\n{declared}{plain}```"),
        &format!("extern \"C\" {declared}{linked}"),
        note,
    );
    let overload = "__device__ float solve(float x) { return x; }\n";
    gives(
        &format!("```cuda\n{overload}{plain}```"),
        &format!("{overload}{linked}"),
        note,
    );
}

#[test]
fn signatures_may_differ_where_a_call_is_unaffected() {
    let accepts = |parameters: &str| {
        let source = format!("extern \"C\" void solve({parameters}) {{}}\n");
        gives(&source, &source, &[]);
    };
    accepts("const float* __restrict__ a, float* __restrict__ b, const long long size");
    accepts("float *x, float *y, int64_t n");
    accepts("const float x[], float y[], long n");
    accepts("float const * const x, float *y, std::int64_t n = 5");
    accepts("[[maybe_unused]] const float *x, float *y, ::std::int64_t n");
    let alias = "using real = float;\ntypedef long long size;\nextern \"C\" void solve(const real *x, real *y, size n) {}\n";
    gives(&format!("```cu\n{alias}```"), alias, &[]);
    let marked = "extern \"C\" __host__ __attribute__((noinline)) void solve(const float *, float *, long long) {}\n";
    gives(marked, marked, &[]);
}

#[test]
fn half_precision_has_two_names() {
    let toml = include_str!("../../../../tests/data/relu.toml");
    let half = task(&toml.replace("\"f32\"", "\"f16\""));
    for name in ["half", "__half"] {
        let source =
            format!("extern \"C\" void solve(const {name} *x, {name} *y, long long n) {{}}\n");
        assert!(extract(&source, half.function()).is_ok(), "{name}");
        assert!(extract(&source, relu().function()).is_err(), "{name}");
    }
    let bf16 = task(&toml.replace("\"f32\"", "\"bf16\""));
    let source = "extern \"C\" void solve(const __nv_bfloat16 *x, nv_bfloat16 *y, long long n) {}";
    assert!(extract(source, bf16.function()).is_ok());
}

#[test]
fn other_signatures_are_malformed() {
    fails(
        "```cuda\n__global__ void solve(const float* x, float* y, long long n) { }\n```",
        "but it is a kernel (`__global__`): write a host function that launches your kernels",
    );
    fails(
        "__device__ void solve(const float* x, float* y, long long n) { }",
        "`__device__` function",
    );
    fails(
        "template <int N> void solve(const float* x, float* y, long long n) { }",
        "it is a template",
    );
    fails(
        "extern \"C\" void solve(const float* x, float* y, int n) { }",
        "parameter 3 is `int n` instead of `long long`",
    );
    fails(
        "extern \"C\" int solve(const float* x, float* y, long long n) { }",
        "it returns",
    );
    fails(
        "extern \"C++\" void solve(const float* x, float* y, long long n) { }",
        "it returns",
    );
    fails(
        "extern \"C\" void solve(const float* x, long long n) { }",
        "2 parameters instead of 3",
    );
    fails(
        "extern \"C\" void solve(const float*& x, float* y, long long n) { }",
        "parameter 1",
    );
    fails(
        KERNEL,
        "no function `solve` is defined; expected `extern \"C\" void solve(",
    );
    fails(
        "extern \"C\" void solve(const float* x, float* y, long long n);",
        "is declared but has no body",
    );
}

#[test]
fn an_extension_of_pytorch_is_named() {
    let extension = "```cpp\n#include <torch/extension.h>\ntorch::Tensor solve(torch::Tensor x) { return x; }\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}\n```";
    fails(extension, "is a PyTorch extension (`torch/extension.h`)");
    let python = "```python\nfrom torch.utils.cpp_extension import load_inline\nm = load_inline(name='m')\n```";
    fails(python, "is a PyTorch extension (`load_inline`)");
}

#[test]
fn disguises_are_malformed() {
    fails(&format!("```cuda\n#line 7\n{ENTRY}```"), "`#line`");
    fails(
        &format!("```cuda\nconst char *a = R\"x y(a)x y\";\n{ENTRY}```"),
        "raw string literal",
    );
    let raw = format!("const char *a = R\"x(\")x\";\n{ENTRY}");
    gives(&format!("```cuda\n{raw}```"), &raw, &[]);
    let digits = format!("const int big = 1'000'000;\n{ENTRY}");
    gives(&format!("```cuda\n{digits}```"), &digits, &[]);
}

#[test]
fn copies_have_the_same_normal_form() {
    let plain = "int a = 1'000; // x\n";
    assert_eq!(normalise(plain), normalise("int a  =1'000;"));
    assert_ne!(normalise("f(\"a b\")"), normalise("f(\"a  b\")"));
}
