mod corpus;

use super::*;
use crate::cache::Cache;
use hotloop_flow::Task;
use hotloop_flow::language::cuda::stages;
use hotloop_flow::stage::Rules;

/// The compiler of all tests, if this machine has NVRTC and its headers.
fn opened() -> Option<&'static DeviceCompiler> {
    static OPENED: OnceLock<Option<(DeviceCompiler, Folder)>> = OnceLock::new();
    let opened = OPENED.get_or_init(open_own).as_ref();
    opened.map(|(compiler, _)| compiler)
}

/// A compiler, and the folder of its cache.
fn open_own() -> Option<(DeviceCompiler, Folder)> {
    let toolkit = Toolkit::find();
    if toolkit.nvrtc.is_none() || toolkit.headers.is_empty() {
        eprintln!("skipped: NVRTC or its headers were not found ({GET})");
        return None;
    }
    let scratch = Arc::new(Scratch::new().unwrap());
    let folder = scratch.folder(None).unwrap();
    let compiler = DeviceCompiler::open(Opening {
        toolkit,
        roles: &std::env::current_exe().unwrap(),
        cache: Cache::at(folder.path()),
        scratch,
        landlock: crate::sandbox::files::landlock_version().is_some(),
        reuse: true,
        capability: None,
    });
    Some((compiler.unwrap(), folder))
}

fn user() -> Option<u32> {
    sys::is_root().then(|| unprivileged_user(7))
}

fn staged<'a>(rules: Rules<'a>, task: &'a Task) -> Staged<'a> {
    Staged {
        rules,
        has_eight_bytes: false,
        function: task.function(),
        plans: &[],
    }
}

fn compiled(
    compiler: &DeviceCompiler,
    device: &str,
    names: &[&str],
) -> Result<Image, Box<Verdict>> {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let made = compiler.compile(device, &names, None, user()).unwrap();
    made.map_err(Box::new)
}

/// What ordinary sources take from headers that NVRTC does not have.
const ORDINARY: &str = "#include <cuda_runtime.h>
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <vector>
__constant__ float filter[9];
__device__ unsigned long long counter;
template <int N, typename T> __global__ void scale(const T *x, T *y, int64_t n) {
    __shared__ T tile[256];
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    tile[threadIdx.x] = std::max(x[i], -FLT_MAX) * N + filter[0];
    if (isinf(tile[0]) || tile[0] == INFINITY) printf(\"%f\", M_PI);
    y[i] = std::min(tile[threadIdx.x], std::numeric_limits<T>::max()) + std::sqrt(x[i]);
    atomicAdd(&counter, (uint64_t)1);
}
namespace inner { __global__ void plain(float *x) { assert(x); x[0] = NAN; } }
";

#[test]
fn options_name_the_architecture() {
    assert_eq!(options(&[], None)[0], "-arch=sm_90a");
    assert_eq!(options(&[], Some((8, 6)))[0], "-arch=sm_86");
    assert_eq!(
        options(&["/h".into()], Some((8, 6))).last().unwrap(),
        "-I/h"
    );
}

#[test]
fn a_device_half_becomes_an_image_that_is_kept() {
    let Some(compiler) = opened() else {
        return;
    };
    let names = ["scale<4, float>", "inner::plain", "filter", "counter"];
    let image = compiled(compiler, ORDINARY, &names).unwrap();
    let symbols = [
        "_Z5scaleILi4EfEvPKT0_PS0_x",
        "_ZN5inner5plainEPf",
        "filter",
        "counter",
    ];
    assert_eq!(names.map(|name| image.symbols[name].as_str()), symbols);
    assert!(image.cubin.starts_with(b"\x7fELF"));
    let taken = image.taken[symbols[0]];
    assert!((8..=64).contains(&taken.registers), "{taken:?}");
    assert_eq!(taken.shared_bytes, 1024);
    assert_eq!(
        compiled(compiler, ORDINARY, &names).unwrap(),
        image,
        "from the cache"
    );
}

#[test]
fn kernels_that_share_a_name_are_found() {
    let Some(compiler) = opened() else {
        return;
    };
    let text = "__device__ float relu(float v) { return v > 0 ? v : 0; }\n\
                __device__ float relu(int v) { return v; }\n\
                __global__ void relu(float *x, int64_t n) { x[n] = relu(x[0]); }\n\
                __global__ void relu(float *x, size_t n, int) { x[n] = relu(x[0]); }\n\
                __global__ void tanh(float *x) { x[0] = fmaxf(x[0], 0); }\n\
                template <class T> __global__ void apply(T x, int n) {}\n\
                template <class T> __global__ void apply(T *x, int n) {}\n\
                template <float (*F)(float)> __global__ void map(float *x) { x[0] = F(x[0]); }\n";
    let names = [
        "hotloop::overload<void(float*, long), void(float*, long long)>::of(relu)",
        "hotloop::overload<void(float*, unsigned long, int), void(float*, unsigned long long, int)>::of(relu)",
        "(void (&)(float*))tanh",
        "(void (&)(float*, int))apply<float>",
        "map<&relu>",
    ];
    let symbols = [
        "_Z4reluPfx",
        "_Z4reluPfmi",
        "_Z4tanhPf",
        "_Z5applyIfEvPT_i",
        "_Z3mapIXadL_Z4relufEEEvPf",
    ];
    let image = compiled(compiler, text, &names).unwrap();
    assert_eq!(names.map(|name| image.symbols[name].as_str()), symbols);
}

#[test]
fn names_of_the_standard_library_compile() {
    let Some(compiler) = opened() else {
        return;
    };
    let text = "#include <math_constants.h>\n#include <type_traits>\n#include <array>\n\
        using namespace std;\n\
        struct A {}; struct B : A {}; enum class E : unsigned char { X };\n\
        static_assert(is_same<decay_t<const float (&)[4]>, const float *>{} && is_same_v<decay_t<int(int)>, int (*)(int)>);\n\
        static_assert(is_same_v<make_unsigned_t<int>, unsigned> && is_same_v<make_signed_t<unsigned long>, long>);\n\
        static_assert(is_same_v<common_type_t<int, float>, float> && is_convertible_v<int, float> && is_base_of_v<A, B>);\n\
        static_assert(is_same_v<make_index_sequence<5>, index_sequence<0, 1, 2, 3, 4>> && integral_constant<E, E::X>{}() == E::X);\n\
        static_assert(is_signed_v<float> && is_unsigned_v<bool> && !is_signed_v<float *> && is_enum_v<E> && extent_v<int[3]> == 3);\n\
        static_assert(numeric_limits<float>::digits == 24 && numeric_limits<unsigned>::digits10 == 9 && !numeric_limits<int>::has_infinity);\n\
        __global__ void k(float *x, array<float, 4> a) { auto [u, v] = make_pair(x[0], 2);\n\
        x[1] = copysignf(a[v] + u, -1.0f) + CUDART_2_OVER_PI_F + __FLT_MAX__ + integral_constant<int, 4>{}; }\n";
    let image = compiled(compiler, text, &["k"]).unwrap();
    assert_eq!(image.symbols["k"], "_Z1kPfSt5arrayIfLm4EE");
}

#[test]
fn trusted_code_compiles_without_a_screen() {
    let Some(compiler) = opened() else {
        return;
    };
    let text =
        "__global__ void sweep(const char *x) { asm(\"prefetch.global.L2 [%0];\" :: \"l\"(x)); }";
    let names = ["sweep".to_owned()];
    let image = compiler.trusted("the sweep", text, &names).unwrap();
    assert_eq!(image.symbols["sweep"], "_Z5sweepPKc");
    let error = compiler
        .trusted("the sweep", "__global__ void sweep(", &names)
        .unwrap_err();
    assert!(
        error.what.starts_with("the sweep does not compile:\n"),
        "{error}"
    );
}

#[test]
fn heavy_headers_compile_and_share_their_precompiled_form() {
    let Some(compiler) = opened() else {
        return;
    };
    for text in [
        "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\nnamespace cg = cooperative_groups;\n\
         __global__ void k(float *x) { auto warp = cg::tiled_partition<32>(cg::this_thread_block());\n\
         x[0] = cg::reduce(warp, x[1], cg::plus<float>()); }",
        "#include <mma.h>\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cuda_pipeline.h>\n\
         __global__ void k(float *x) { x[0] = __half2float(__float2half(x[1])) + __bfloat162float(__float2bfloat16(x[2])); }",
    ] {
        let image = compiled(compiler, text, &["k"]).unwrap();
        assert_eq!(image.symbols["k"], "_Z1kPf");
    }
}

#[test]
fn verdicts_name_what_is_wrong() {
    let Some(compiler) = opened() else {
        return;
    };
    let detail = |text: &str, names: &[&str]| compiled(compiler, text, names).unwrap_err().detail();
    let said = detail("\n__global__ void k(float *x) { y; }", &["k"]);
    assert!(
        said.contains("candidate.cu(2): error: identifier \"y\" is undefined"),
        "{said}"
    );
    let said = detail("__global__ void k(float *x) { }", &["k", "other"]);
    assert!(
        said.contains(
            "the host code uses what the device code lacks: identifier \"other\" is undefined"
        ),
        "{said}"
    );
    let said = detail("__device__ float k(float *x) { return 0; }", &["k"]);
    assert!(said.contains("non-__global__"), "{said}");
    let said = detail(
        "__global__ void a(); __global__ void k() { a<<<1, 1>>>(); }",
        &["k"],
    );
    assert!(said.contains("device-side kernel launch"), "{said}");
}

#[test]
fn no_source_is_the_machines_failure() {
    let Some(compiler) = opened() else {
        return;
    };
    let deep = format!(
        "__device__ int a = {}1{};",
        "(".repeat(60_000),
        ")".repeat(60_000)
    );
    let doubled: String = (1..40).fold("#define A0 x[0]+\n".into(), |text, at| {
        format!("{text}#define A{at} A{0} A{0}\n", at - 1)
    });
    let bomb = format!("{doubled}__global__ void k(float *x) {{ x[1] = A39 0; }}");
    for text in [
        "#error No space left on device",
        "#error Resource temporarily unavailable",
        "template <int N> struct A { A<N + 1> next; }; __device__ A<0> a;",
        "constexpr long long f() { long long s = 0; for (long long i = 0; i < 1ll << 40; i++) s += i; return s; }\n__device__ long long a = f();",
        "\u{0}",
        "",
        &deep,
        &bomb,
    ] {
        let made = compiler.compile(text, &["k".to_owned()], None, user());
        let Ok(made) =
            made.map_err(|error| assert!(error.what.contains("hardly had a processor"), "{error}"))
        else {
            continue; // other work on this machine
        };
        let verdict = made.unwrap_err();
        let is_final = matches!(
            verdict,
            Verdict::NotCompiled { .. } | Verdict::TimedOut { .. }
        );
        assert!(is_final, "{text:.60}: {verdict:?}");
    }
    assert!(
        compiled(compiler, WARM_UP, &["warm<2>"]).is_ok(),
        "it still works"
    );
}

#[test]
fn what_a_confined_fork_may_read_is_headers() {
    let Some(compiler) = opened() else {
        return;
    };
    if !compiler.landlock {
        eprintln!("skipped: this kernel has no Landlock");
        return;
    }
    // Past the screen, as if it had a hole.
    let user = user();
    for text in [
        "#include \"/etc/passwd\"\n",
        "#include \"/proc/self/environ\"\n",
        "#if !__has_include(\"/etc/passwd\")\n#error it is not there\n#endif\n",
    ] {
        let names = ["k".to_owned()];
        let made = compiler
            .compile_anew(text, headers::PRELUDE, &names, true, user)
            .unwrap();
        let said = made.unwrap_err().detail();
        assert!(
            said.contains("Permission denied") || said.contains("it is not there"),
            "{text}: {said}"
        );
    }
}

#[test]
fn what_is_compiled_is_what_the_screen_read() {
    let Some(compiler) = opened() else {
        return;
    };
    // NVRTC would see the error: to it, a line that ends in a backslash and a blank ends there.
    let honest = [
        "// a \\ \n#error seen\n",
        "#define ADD(x) \\\t\n    x + \\ \n    1\n__device__ int two = ADD(1);\n",
        "__device__ int million = 1'000'000, more = 0x1'f;\n",
        "__device__ const char *text = R\"(a\n#error \"seen\" \\)\";\n",
        "#if 0\nit isn't 1'a' /*'\n#endif\n",
        "__device__ int a<:2:> = <% 1, 2 %>;\n",
    ];
    let kernel = "__global__ void k(float *x) { x[0] = 1.0f; }\n";
    for text in honest {
        let made = compiled(compiler, &format!("{text}{kernel}"), &["k"]);
        assert!(made.is_ok(), "{text}: {made:?}");
    }
    // What hides from the screen for one reading of a literal is in sight for all.
    for hides in [
        "#define M 1'a' /*'\n#define N '*/'\n#include \"/etc/passwd\"\n",
        "#define M $R\"x(\"\n#include \"/etc/passwd\"\n#define N \")x\"\n",
        "#define M aR\"x(\"\n#include \"/etc/passwd\"\n#define N \")x\"\n",
        "\\u00e9\n",
        "#define M R\"x(\n#include \"/etc/passwd\"\n",
    ] {
        let verdict = compiled(compiler, &format!("{hides}{kernel}"), &["k"]).unwrap_err();
        assert!(
            matches!(*verdict, Verdict::Refused { .. }),
            "{hides}: {verdict:?}"
        );
    }
}

#[test]
fn what_a_module_takes_of_the_gpu_is_read() {
    let Some(compiler) = opened() else {
        return;
    };
    let stack = |words: u32| {
        format!(
            "__global__ void k(float *x, int i) {{ volatile float t[{words}]; t[i] = x[i]; x[0] = t[i * 7 % {words}]; }}"
        )
    };
    assert!(compiled(compiler, &stack(8 << 10), &["k"]).is_ok());
    let verdict = compiled(compiler, &stack((8 << 10) + 1), &["k"]).unwrap_err();
    assert!(
        verdict
            .detail()
            .contains("bytes of local memory for each thread, more than 32768"),
        "{verdict:?}"
    );
    for (body, uses_heap) in [
        (
            "float *p = new float[i]; p[0] = x[1]; x[0] = p[i - 1]; delete[] p;",
            true,
        ),
        (
            "float *p = (float *)malloc(4 * i); p[0] = x[1]; x[0] = p[i - 1];",
            true,
        ),
        ("printf(\"%d\", i); assert(x);", false),
    ] {
        let text = format!("#include <cassert>\n__global__ void k(float *x, int i) {{ {body} }}");
        let image = compiled(compiler, &text, &["k"]).unwrap();
        assert_eq!(image.uses_heap, uses_heap, "{body}");
    }
}

#[test]
fn ptx_is_refused_behind_labels_and_in_attributes() {
    let Some(compiler) = opened() else {
        return;
    };
    for text in [
        "__global__ void k(float *x) { asm volatile(\"$a:prefetch.global.L2 [%0];\" :: \"l\"(x)); }",
        "__managed__ float shared_with_all; __global__ void k(float *x) { x[0] = shared_with_all; }",
    ] {
        let verdict = compiled(compiler, text, &["k"]).unwrap_err();
        assert!(
            verdict.detail().contains("is prohibited"),
            "{text}: {verdict:?}"
        );
    }
}

#[test]
fn stages_forbid_what_the_text_or_its_ptx_shows() {
    let Some(compiler) = opened() else {
        return;
    };
    let task = crate::tasks::load("cuda/relu").unwrap();
    let stages_of_tasks = stages::default();
    let rules = stages_of_tasks.get(stages::COALESCING).unwrap();
    let names = ["k".to_owned()];
    for (text, why) in [
        (
            "__global__ void k(float *x) { asm(\"\"); }",
            "inline assembly",
        ),
        (
            "#define C(a, b) a##b\n__global__ void k(float *x) { C(as, m)(\"\"); }",
            "inline assembly",
        ),
        (
            "#define C(a, b) a##b\n__global__ void k(float *x) { x[0] = C(__shfl_, sync)(~0u, x[0], 1); }",
            "warp primitives",
        ),
        (
            "__global__ void k(double *x) { x[32 + threadIdx.x] = x[threadIdx.x]; }",
            "vector loads",
        ),
        (
            "struct alignas(16) F { float v[4]; }; __global__ void k(F *x) { x[1] = x[0]; }",
            "vector loads",
        ),
        (
            "__global__ void k(float *x) { __attribute__((shared)) float s[32]; s[threadIdx.x] = x[0]; __syncthreads(); x[1] = s[3]; }",
            "shared memory",
        ),
    ] {
        // Once compiled and once from the cache.
        for _ in 0..2 {
            let verdict = compiler
                .compile(text, &names, Some(staged(rules, &task)), user())
                .unwrap()
                .unwrap_err();
            assert!(
                matches!(&verdict, Verdict::Refused { why: said } if said.contains(why)),
                "{text}: {verdict:?}"
            );
        }
        let all = stages_of_tasks.get(stages::ALL).unwrap();
        assert!(
            compiler
                .compile(text, &names, Some(staged(all, &task)), user())
                .unwrap()
                .is_ok(),
            "{text}"
        );
    }
}

#[test]
fn a_compiler_that_something_ended_is_started_again() {
    let Some((compiler, _folder)) = open_own() else {
        return;
    };
    compiler.warm().unwrap().compiler.end();
    assert!(compiled(&compiler, WARM_UP, &["warm<2>"]).is_ok());
}

#[test]
fn several_texts_compile_at_once() {
    let Some(compiler) = opened() else {
        return;
    };
    std::thread::scope(|scope| {
        for number in 0..6 {
            scope.spawn(move || {
                let name = format!("k{number}");
                let text = format!("__global__ void {name}(float *x) {{ x[0] = {number}; }}");
                let image = compiled(compiler, &text, &[&name]).unwrap();
                assert_eq!(image.symbols[&name], format!("_Z2{name}Pf"));
            });
        }
    });
}

#[test]
fn nvcc_compiles_headers_that_nvrtc_cannot() {
    let Some(compiler) = opened() else {
        return;
    };
    if compiler.nvcc.is_none() {
        eprintln!("skipped: there is no nvcc");
        return;
    }
    let whole = "#include <cub/cub.cuh>
template <int N> __global__ void total(const float *x, float *y, long long n) {
    using Reduce = cub::BlockReduce<float, N>;
    __shared__ typename Reduce::TempStorage store;
    float sum = 0;
    for (long long i = threadIdx.x; i < n; i += N) sum += x[i];
    sum = Reduce(store).Sum(sum);
    if (threadIdx.x == 0) y[0] = sum;
}
__global__ void other(float *y) { y[0] = 1; }
";
    let image = compiled(compiler, whole, &["total<256>", "other"]).unwrap();
    assert!(
        image.symbols.len() == 2 && !image.cubin.is_empty(),
        "{image:?}"
    );
    let broken = whole.replace("y[0] = sum", "y[0] = summ");
    let verdict = compiled(compiler, &broken, &["total<256>"]).unwrap_err();
    assert!(
        matches!(&*verdict, Verdict::NotCompiled { diagnostics } if diagnostics.contains("summ")),
        "{verdict:?}"
    );
    // The wall around nvcc is the one around NVRTC.
    let reads = whole.replace("<cub/cub.cuh>", "<cub/cub.cuh>\n#include \"/etc/passwd\"");
    let verdict = compiled(compiler, &reads, &["total<256>"]).unwrap_err();
    assert!(!verdict.detail().contains("root:"), "{verdict:?}");
}
