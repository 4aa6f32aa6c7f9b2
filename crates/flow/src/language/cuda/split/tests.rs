use super::*;

/// The halves with each run of blanks as one.
fn halves(source: &str) -> (String, String) {
    let Halves { device, host, .. } = split(source).unwrap();
    let lines = |text: &str| text.lines().count();
    assert_eq!(lines(&device), lines(source), "{device}");
    assert_eq!(lines(&host), lines(source), "{host}");
    let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    (words(device), words(host))
}

fn host(source: &str) -> String {
    halves(source).1
}

fn refuses(source: &str, line: u32, why: &str) {
    let refusal = split(source).unwrap_err();
    assert!(refusal.why.contains(why), "{source}: {refusal}");
    assert_eq!(refusal.line, line, "{source}: {refusal}");
}

/// The stub of a kernel with such parameters.
fn stub(types: &str, values: &str) -> String {
    format!(
        "{{ if (::hotloop::only_asked<{types}>()) return; ::hotloop::launch<{types}>({values}); }}"
    )
}

#[test]
fn a_kernel_becomes_a_stub_and_a_launch_a_call() {
    let source = "__global__ void k(float *x, int n) { x[threadIdx.x] = n; }\n\
                  extern \"C\" void solve(float *x) { k<<<1, 2>>>(x, 3); }\n";
    let (device, host) = halves(source);
    assert_eq!(
        device,
        "__global__ void k(float *x, int n) { x[threadIdx.x] = n; }"
    );
    let stub = stub("decltype(x), decltype(n)", "x, n");
    assert_eq!(
        host,
        format!(
            "__global__ void k(float *x, int n) {stub} extern \"C\" void solve(float *x) \
             {{ (::hotloop::configure( 1 , 2), k (x, 3)); }}"
        )
    );
    let found = split(source).unwrap();
    assert_eq!(
        found.kernels.into_iter().collect::<Vec<_>>(),
        [("k".into(), true)]
    );
}

#[test]
fn a_type_that_only_a_launch_names_stays_in_the_device_half() {
    let source = "struct Host { FILE *log; };\n\
                  struct Relu { __host__ __device__ Relu() {} __device__ float operator()(float v) { return v; } };\n\
                  template <class F> __global__ void map(float *x, F f) { *x = f(*x); }\n\
                  void solve(float *x) { Host h{1}; Relu relu; map<<<h.n, 1>>>(x, relu); }\n";
    let (device, _) = halves(source);
    assert!(
        device.contains("struct Relu") && !device.contains("struct Host"),
        "{device}"
    );
}

#[test]
fn launches_are_found_in_every_form() {
    let launch = |body: &str| {
        let text = host(&format!("void solve() {{\n{body}\n}}"));
        let inner = text.strip_prefix("void solve() { ").unwrap();
        inner.strip_suffix(" }").unwrap().to_owned()
    };
    for (body, expect) in [
        (
            "a::b<4, c<1>><<<g, 1>>>(x);",
            "(::hotloop::configure( g , 1), a::b<4, c<1>> (x));",
        ),
        (
            "::k<<<g,b,s,st>>>();",
            "(::hotloop::configure( g , b , s , st), ::k ());",
        ),
        (
            "if (n) k<<<1,1>>>(x); else j<<<1,1>>>(x);",
            "if (n) (::hotloop::configure( 1 , 1), k (x)); else (::hotloop::configure( 1 , 1), j (x));",
        ),
        (
            "n ? k<<<1,1>>>(x) : j<<<2,1>>>(x);",
            "n ? (::hotloop::configure( 1 , 1), k (x)) : (::hotloop::configure( 2 , 1), j (x));",
        ),
        (
            "table[i + 1]<<<1,1>>>(x);",
            "(::hotloop::configure( 1 , 1), table[i + 1] (x));",
        ),
        (
            "(*pick(n))<<<1,1>>>(x);",
            "(::hotloop::configure( 1 , 1), (*pick(n)) (x));",
        ),
        (
            "pick(n)<<<1,1>>>(x);",
            "(::hotloop::configure( 1 , 1), pick(n) (x));",
        ),
        (
            "this->k_<<<1,1>>>(x);",
            "(::hotloop::configure( 1 , 1), this->k_ (x));",
        ),
        (
            "k << < dim3(a >> 1), 1 >> > (x);",
            "(::hotloop::configure( dim3 ( a >> 1 ) , 1), k (x));",
        ),
        (
            "auto f = [&] { k<<<1,1>>>(x); };",
            "auto f = [&] { (::hotloop::configure( 1 , 1), k (x)); };",
        ),
        (
            "return k<<<1,1>>>(f(x));",
            "return (::hotloop::configure( 1 , 1), k (f(x)));",
        ),
        ("std::cout << a << b;", "std::cout << a << b;"),
    ] {
        assert_eq!(launch(body), expect, "{body}");
    }
}

#[test]
fn launches_in_macros_are_rewritten() {
    let text = split(
        "#define RUN(k, n, ...) \\\n    k<<<(n + 255) / 256, \\\n        256>>>(__VA_ARGS__)\nvoid solve() { RUN(k, 1, x); }\n",
    )
    .unwrap()
    .host;
    let body: Vec<&str> = text.lines().map(str::trim_end).collect();
    assert!(body[0].ends_with('\\') && body[1].ends_with('\\'), "{text}");
    let macro_text = body[1].trim_start();
    assert!(
        macro_text.starts_with("(::hotloop::configure( ( n + 255 ) / 256 , 256), k"),
        "{text}"
    );
    assert_eq!(body[2].trim(), "(__VA_ARGS__))");
}

#[test]
fn unfinished_launches_are_refused() {
    refuses("void f() {\nk<<<1, 2;\n}", 2, "has no `>>>`");
    refuses("void f() { k<<<1, 2>>>; }", 1, "no arguments");
    refuses("void f() { <<<1, 2>>>(x); }", 1, "is not a kernel");
    refuses("void f() { k<<<>>>(x); }", 1, "without grid and block");
    refuses("\nvoid f() { k<<<1, (2>>>(x); }", 2, "");
}

#[test]
fn parameters_of_all_styles_have_names() {
    let stub_of = |parameters: &str| {
        let text = host(&format!("__global__ void k({parameters}) {{ }}"));
        let values = &text[text.rfind(">(").unwrap() + 2..];
        values[..values.find(')').unwrap()].to_owned()
    };
    for (parameters, values) in [
        ("", ""),
        ("void", ""),
        (
            "const float *__restrict__ x, float* y, unsigned n",
            "x, y, n",
        ),
        ("const __grid_constant__ Params p", "p"),
        ("const float x[], int const m = 4", "x, m"),
        ("float (*f)(float), ns::T<int, 2> t", "f, t"),
        ("T x, const ns::U u, long long", "x, u, hotloop_parameter_2"),
        (
            "float *, const T, unsigned long long",
            "hotloop_parameter_0, hotloop_parameter_1, hotloop_parameter_2",
        ),
        ("Ts... values", "values..."),
        ("std::array<float, 4> a, struct S s", "a, s"),
    ] {
        assert_eq!(stub_of(parameters), values, "{parameters}");
    }
}

#[test]
fn each_half_has_what_it_names() {
    let (device, host) = halves(
        "#include <vector>\n#include <cuda_fp16.h>\n\
         #define HD __host__ __device__\n\
         constexpr int TILE = 32;\n\
         struct OnHost { std::vector<int> v; };\n\
         struct Op { int a; HD explicit Op(int a) : a{a} {} __device__ int run() const { return a + threadIdx.x; } void host() { a = 2; } };\n\
         using Fragment = nvcuda::wmma::fragment<int>;\n\
         HD int both(int a) { return a; }\n\
         HD int gpu_only(int a) { return __ldg(&a); }\n\
         __device__ int dev(int a) { Fragment f; return gpu_only(a); }\n\
         int only_host(int a) { OnHost h; return both(a) + TILE; }\n\
         __global__ void k(Op op) { __shared__ int t[TILE]; t[0] = dev(op.run()); }\n\
         int main() { return 0; }\n\
         void solve() { k<<<only_host(1), 1>>>(Op(3)); }\n",
    );
    assert_eq!(
        device,
        "#include <cuda_fp16.h> #define HD __host__ __device__ constexpr int TILE = 32; \
         struct Op { int a; HD explicit Op(int a) : a{a} {} __device__ int run() const { return a + threadIdx.x; } void host() ; }; \
         using Fragment = nvcuda::wmma::fragment<int>; \
         HD int both(int a) { return a; } \
         HD int gpu_only(int a) { return __ldg(&a); } \
         __device__ int dev(int a) { Fragment f; return gpu_only(a); } \
         __global__ void k(Op op) { __shared__ int t[TILE]; t[0] = dev(op.run()); }"
    );
    let stub = stub("decltype(op)", "op");
    assert_eq!(
        host,
        format!(
            "#include <vector> #define HD __host__ __device__ constexpr int TILE = 32; \
             struct OnHost {{ std::vector<int> v; }}; \
             struct Op {{ int a; HD explicit Op(int a) : a{{a}} {{}} __device__ int run() const ; void host() {{ a = 2; }} }}; \
             HD int both(int a) {{ return a; }} \
             int only_host(int a) {{ OnHost h; return both(a) + TILE; }} \
             __global__ void k(Op op) {stub} \
             void solve() {{ (::hotloop::configure( only_host ( 1 ) , 1), k (Op(3))); }}"
        )
    );
}

#[test]
fn namespaces_templates_and_attributes_are_followed() {
    let source = "namespace a { namespace { template <int N = 2, class T>\n\
                  __global__ __launch_bounds__(256, 2) void k(T *x) { }\n} }\n\
                  extern \"C\" { static __global__ void __launch_bounds__(32) j(int) { } }\n\
                  __constant__ float w[2][2] = {{1, 2}, {3, 4}}; __device__ int a = 1, b;\n\
                  template <> __global__ void a::k<4>(float *x) { }\n\
                  template __global__ void a::k<8>(float *x);\n\
                  __global__ void j(float *x) { }\n";
    let found = split(source).unwrap();
    let kernels: Vec<_> = found.kernels.into_iter().collect();
    assert_eq!(
        kernels,
        [
            ("a::k".into(), true),
            ("j".into(), false),
            ("k".into(), true)
        ]
    );
    let variables: Vec<_> = found.variables.into_iter().collect();
    assert_eq!(variables, ["a", "b", "w"]);
    assert!(
        !found.host.contains("w[2]"),
        "nothing names it: {}",
        found.host
    );
}

#[test]
fn conditionals_stay_whole() {
    let source = "#ifdef FAST\n__device__ float f(float a) {\n#if __CUDA_ARCH__ >= 700\n return a;\n#else\n return 0;\n#endif\n}\n#endif\n\
                  void g() {\n#define N 3\n#pragma unroll\n}\n__global__ void k() { int a[N]; }\n";
    let Halves { device, host, .. } = split(source).unwrap();
    for half in [&device, &host] {
        let lines = |word: &str| half.lines().filter(|line| line.starts_with(word)).count();
        assert_eq!(
            (
                lines("#if"),
                lines("#else"),
                lines("#endif"),
                lines("#define")
            ),
            (2, 1, 2, 1),
            "{half}"
        );
        assert!(!half.contains("#pragma"), "{half}");
    }
    assert!(!host.contains("return a"));
    assert!(!device.contains("void g"));
}

#[test]
fn dead_branches_are_left_alone() {
    let text = "#if 0\nvoid f() { k<<<1; }\n#endif\nvoid solve() { }\n";
    assert_eq!(split(text).unwrap().host, text);
}

#[test]
fn what_cannot_be_split_is_refused() {
    refuses(
        "int n;\n#include <cublas_v2.h>\n",
        2,
        "the library header `cublas_v2.h` is prohibited",
    );
    refuses(
        "void f() {\n auto g = [=] __device__ (int i) { }; }",
        2,
        "lambda for the GPU",
    );
    refuses("void f() { asm(\"nop\"); }", 1, "assembly in host code");
    refuses("asm(\"nop\");", 1, "assembly at file scope");
    refuses("#define __global__\n", 1, "word of CUDA");
    refuses("#include \"/etc/passwd\"\n", 1, "without its folder");
    refuses("\n#include NAME\n", 2, "without a macro");
    refuses("# 1 \"x.h\" 3\n", 1, "line markers");
    refuses("namespace hotloop { int x; }", 1, "name of the bench");
    refuses(
        "#define K(n) __global__ void n() { }\nK(a)\nK(b);\n",
        2,
        "macro `K` defines code",
    );
    refuses("void f() {\n", 1, "never closed");
}

/// These took gigabytes or minutes: a part of a text was taken again for each of many others.
#[test]
fn long_texts_are_read_once() {
    let scopes = format!(
        "namespace {}{{{}}}",
        "a ".repeat(60_000),
        "x;".repeat(60_000)
    );
    refuses(&scopes, 1, "namespaces of more than");
    let classes = format!(
        "{}{}{}",
        "class q{".repeat(14_000),
        "#\n".repeat(64_000),
        "};".repeat(14_000)
    );
    let (device, host) = halves(&classes);
    for half in [device, host] {
        assert!(half.len() < 2 * classes.len());
    }
}

#[test]
fn any_text_is_survived() {
    for text in [
        "",
        "}",
        ")]}",
        "a::",
        "template",
        "template <",
        "operator",
        "struct",
        "x<<<",
        ">>>(",
        "enum {",
        "using",
        "(",
        "[",
        "#define",
        "#include",
    ] {
        drop(split(text));
    }
    for unit in [
        "(",
        "{",
        "<",
        "<<<",
        "k<<<1,1>>>(",
        "struct a {",
        "#if X\n",
        "a < b > ",
        "template <",
        "namespace a {",
        ":",
        "#define A k<<<",
    ] {
        drop(split(&unit.repeat(30_000)));
    }
}

#[test]
fn operators_constructors_and_members_are_functions() {
    let host = host(
        "struct V { float x; __host__ __device__ V operator+(V o) const { return {x + o.x}; } __device__ V &operator[](int i); \
         V() = default; __device__ V(float a) : x{a} { x += threadIdx.x; } ~V() {} operator float() const { return x; } static V of(float a); };\n\
         V V::of(float a) { return V(); }\n__device__ V &V::operator[](int i) { return *this; }\n\
         __device__ V operator-(V a, V b) { return a; }\nvoid solve() { V v; }\n",
    );
    assert_eq!(
        host,
        "struct V { float x; __host__ __device__ V operator+(V o) const { return {x + o.x}; } __device__ V &operator[](int i); \
         V() = default; __device__ V(float a) ; ~V() {} operator float() const { return x; } static V of(float a); }; \
         V V::of(float a) { return V(); } void solve() { V v; }"
    );
}

#[test]
fn host_code_asks_the_processor_for_nothing() {
    refuses(
        "#define NOP asm(\"nop\")\nvoid f() {\nNOP; }",
        3,
        "the macro `NOP`",
    );
    refuses(
        "#define A __asm__(\"nop\")\n#define B A\nint f() { return 1; }\nint n = [] { B; return 1; }(), m = n;\nint g() { return m; }",
        4,
        "the macro `B`",
    );
    refuses(
        "int n =\n[] { asm(\"nop\"); return 1; }();\nint f() { return n; }",
        2,
        "assembly in host code",
    );
    refuses(
        "struct S { int n = [] { asm(\"nop\"); return 1; }(); };\nint f() { return S().n; }",
        1,
        "assembly in host code",
    );
    for word in [
        "__builtin_ia32_rdrand32_step(&n)",
        "_rdseed32_step(&n)",
        "__rdtsc()",
    ] {
        let source = format!("void f() {{ unsigned n;\n{word}; }}");
        refuses(&source, 2, "asks the processor");
    }
    refuses(
        "#define NOW __builtin_ia32_rdtsc()\nlong f() { return NOW; }",
        2,
        "the macro `NOW`",
    );
    // What only the GPU's code uses is its own, and no host compiler meets it.
    let source = "#define COMMIT asm volatile(\"cp.async.commit_group;\")\n\
                  #define STEP() do { COMMIT; } while (0)\n\
                  __global__ void k() { STEP(); asm(\"nop;\"); }\n\
                  __host__ __device__ inline int both() { STEP(); return 1; }\n\
                  __host__ __device__ inline int here() {\n#ifdef __CUDA_ARCH__\n asm(\"nop;\");\n#endif\n return 2; }\n\
                  int f() { k<<<1, 1>>>(); return here(); }\n";
    let (device, host) = halves(source);
    assert!(
        device.contains("asm volatile") && !host.contains("volatile"),
        "{host}"
    );
    assert!(host.contains("int here() { #ifdef"), "{host}");
}
