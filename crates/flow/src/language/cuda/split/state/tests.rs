use super::super::split;

/// The variable that a source keeps between runs, if there is one.
fn kept(source: &str) -> Option<String> {
    let keeps = split(source).unwrap().keeps?;
    Some(keeps.why.split('`').nth(1).unwrap().to_owned())
}

#[test]
fn variables_that_kernels_can_write_are_known() {
    let mut failed = Vec::new();
    for (source, name) in [
        ("__device__ int n;", "n"),
        ("__device__ float a[4] = {1, 2};", "a"),
        ("__managed__ int n;", "n"),
        (
            "static __device__ unsigned long long sum = 0, other;",
            "sum",
        ),
        ("__device__ const float *p;", "p"),
        ("__device__ const float a[2] = {1, 2}, *p;", "p"),
        ("__device__ std::array<const int, 4> a;", "a"),
        ("__device__ decltype((const int)0) a;", "a"),
        ("template <const int N> __device__ int slots[N];", "slots"),
        ("struct S { int n; }; __device__ S s;", "s"),
        (
            "__device__ struct S { int n; } s;\n__global__ void k() { s.n = 1; }",
            "s",
        ),
        (
            "struct S { int n; } __device__ s, t;\n__global__ void k() { t.n = 1; }",
            "s",
        ),
        (
            "struct S { static __device__ int n; __device__ void f(); };",
            "n",
        ),
        (
            "struct S { mutable int n; __device__ void f(); }; __device__ const S s;",
            "n",
        ),
        ("__device__ enum E { A, B } e;", "e"),
        ("__device__ int n(0);", "n"),
        ("__device__ auto n(0);", "n"),
        ("namespace a { __device__ int n; }", "n"),
        ("#define STATE __device__ int\nSTATE n;", "n"),
        ("#define P __device__ const float *\nP p;", "p"),
        ("#define STAR *\n__device__ const float STAR p;", "p"),
        (
            "#define MORE(n) __device__ int n;\nMORE(x) __global__ void k() { }",
            "MORE",
        ),
        ("__global__ void k() { static int n; n++; }", "static"),
        (
            "__device__ int f() { static const int a[2] = {}; static int n = 1; return n; }",
            "static",
        ),
        (
            "#define KEPT static int\n__global__ void k() { KEPT n; const int m = 1; }",
            "KEPT",
        ),
        // To the device compiler, a variable is one of the GPU's.
        ("int n;\n__global__ void k(int *x) { *x = n++; }", "n"),
    ] {
        if kept(source).as_deref() != Some(name) {
            failed.push(format!("{source}: {:?}", kept(source)));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn constants_are_no_such_variables() {
    let mut failed = Vec::new();
    for source in [
        "__constant__ float w[9];",
        "__constant__ float *p;",
        "__device__ const float a[4] = {1, 2}, b = 2 * 3, c = 4;",
        "static const __device__ __align__(16) float a[4] = {1};",
        "__device__ float const a = 1;",
        "__device__ const float *const p = nullptr;",
        "constexpr __device__ int a = 1;",
        "#define TABLE __device__ const float\nTABLE a[2] = {1, 2};",
        "extern __shared__ float all[];\n__global__ void k() { all[0] = 1; }",
        "__global__ void k() { __shared__ float a[4]; static constexpr int n = 4; static const float b = 1; a[n - 1] = b; }",
        "__global__ void k() { static __shared__ float a[4]; a[0] = static_cast<float>(1); }",
        "struct S { float x; static constexpr int N = 4; static __device__ int of() { return N; } };\n__global__ void k(S s) { S t; t.x = S::of(); }",
        "enum class E : int { A, B };\nstruct P; struct P { int n; }; template <class T> using V = T; typedef int I; using J = int;\n__global__ void k(P p, V<int> v, I i, J j, E e) { }",
        "__device__ float f(float x);\n__device__ float f(float x) { return x; }",
        "static int calls; static std::vector<int> v;\n__global__ void k() { }\nvoid solve() { k<<<1, calls++>>>(); }",
        "__device__ __forceinline__ float f(float x) { struct L { static __device__ float g(float y) { return y; } }; return L::g(x); }",
    ] {
        if let Some(name) = kept(source) {
            failed.push(format!("{source}: {name}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn long_declarations_are_looked_at_once() {
    // A list of names is as long as a source likes.
    let many = ", a = 1".repeat(60_000);
    assert!(kept(&format!("__device__ const int a = 1{many};")).is_some());
    let many = "static const int a = 1;".repeat(40_000);
    assert_eq!(kept(&format!("__global__ void k() {{ {many} }}")), None);
}
