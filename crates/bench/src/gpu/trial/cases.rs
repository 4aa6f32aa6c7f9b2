//! Candidates with their plans, and plans of the references that judge them.

use hotloop_flow::How;
use hotloop_flow::formula::Sizes;
use hotloop_flow::interface::Kind;
use hotloop_flow::task::{Method, TaskSpec};

use crate::gpu::call::{Call, Passed};
use crate::gpu::calls;
use crate::gpu::examine::{Trusted, Work};
use crate::gpu::image::Image;
use crate::gpu::plan::{Plan, Step};
use crate::inputs::Fresh;

use super::draft::Draft;
use super::draft::Pass::{At, Beyond, Int, Long, Number};

/// A candidate.
pub(super) struct Case {
    pub(super) name: &'static str,
    task: &'static str,
    /// The verdicts that are right; `unbelieved` is one whose time is the examiner's.
    pub(super) expect: &'static str,
    pub(super) device: &'static str,
    pub(super) kernels: &'static [&'static str],
    steps: fn(&mut Draft<'_>),
}

const RELU: &str = "
__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}";

fn relu(draft: &mut Draft<'_>) {
    let n = draft.size("n");
    draft.row("relu", n, &[At(0), At(1), Long(n)]);
}

/// A cheat on relu with one kernel of that name.
macro_rules! relu_case {
    ($name:literal, $expect:literal, $device:literal) => {
        Case {
            name: $name,
            task: "cuda/relu",
            expect: $expect,
            device: $device,
            kernels: &["relu"],
            steps: relu,
        }
    };
}

pub(super) const CASES: &[Case] = &[
    Case { name: "relu", task: "cuda/relu", expect: "correct", device: RELU, kernels: &["relu"], steps: relu },
    Case {
        name: "saxpy", task: "cuda/saxpy", expect: "correct",
        device: "__global__ void saxpy(float a, const float *x, const float *y, float *z, int n) {
            int i = blockIdx.x * 256 + threadIdx.x; if (i < n) z[i] = a * x[i] + y[i]; }",
        kernels: &["saxpy"],
        steps: |draft| {
            let (n, a) = (draft.size("n"), draft.scalar(0));
            draft.row("saxpy", n, &[Number(a), At(0), At(1), At(2), Int(n)]);
        },
    },
    Case {
        name: "histogram", task: "cuda/histogram", expect: "correct",
        device: "__global__ void histogram(const int *x, int *counts, int n) {
            __shared__ int own[256]; own[threadIdx.x] = 0; __syncthreads();
            for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) atomicAdd(&own[x[i]], 1);
            __syncthreads(); atomicAdd(&counts[threadIdx.x], own[threadIdx.x]); }",
        kernels: &["histogram"],
        steps: |draft| {
            let n = draft.size("n");
            draft.clear(1, 1024);
            draft.launch("histogram", [((n + 255) / 256).min(1056), 1, 1], [256, 1, 1], &[At(0), At(1), Int(n)]);
        },
    },
    // Right as long as no value is frequent: each thread counts in bytes.
    Case {
        name: "histogram-in-bytes", task: "cuda/histogram", expect: "wrong",
        device: "__global__ void histogram(const int *x, int *counts, int n) {
            unsigned char own[256]; for (int v = 0; v < 256; v++) own[v] = 0;
            for (int i = threadIdx.x; i < n; i += 2) own[x[i]]++;
            for (int v = 0; v < 256; v++) if (own[v]) atomicAdd(&counts[v], (int)own[v]); }",
        kernels: &["histogram"],
        steps: |draft| {
            let n = draft.size("n");
            draft.clear(1, 1024);
            draft.launch("histogram", [1, 1, 1], [2, 1, 1], &[At(0), At(1), Int(n)]);
        },
    },
    // Right as long as no number is tiny: sums in steps of 2^-24.
    Case {
        name: "sum-fixed-point", task: "cuda/sum", expect: "wrong",
        device: "__global__ void sum(const float *x, float *y, int B, int D1, int D2) {
            int t = blockIdx.x * 256 + threadIdx.x; if (t >= B * D2) return;
            const float *p = x + (long long)(t / D2) * D1 * D2 + t % D2; long long s = 0;
            for (int i = 0; i < D1; i++) s += (long long)rintf(p[(long long)i * D2] * 16777216.0f); y[t] = (float)s / 16777216.0f; }",
        kernels: &["sum"],
        steps: |draft| {
            let [b, d1, d2] = ["B", "D1", "D2"].map(|name| draft.size(name));
            draft.row("sum", b * d2, &[At(0), At(1), Int(b), Int(d1), Int(d2)]);
        },
    },
    Case {
        name: "matmul", task: "cuda/matmul", expect: "correct",
        device: "__global__ void matmul(const float *A, const float *B, float *C, int N) {
            __shared__ float a[16][16], b[16][16];
            int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x; float sum = 0.0f;
            for (int k = 0; k < N; k += 16) {
                a[threadIdx.y][threadIdx.x] = i < N && k + threadIdx.x < N ? A[(long long)i * N + k + threadIdx.x] : 0.0f;
                b[threadIdx.y][threadIdx.x] = k + threadIdx.y < N && j < N ? B[(long long)(k + threadIdx.y) * N + j] : 0.0f;
                __syncthreads();
                for (int l = 0; l < 16; l++) sum += a[threadIdx.y][l] * b[l][threadIdx.x];
                __syncthreads();
            }
            if (i < N && j < N) C[(long long)i * N + j] = sum; }",
        kernels: &["matmul"], steps: matmul,
    },
    Case {
        name: "matmul-one-wrong", task: "cuda/matmul", expect: "wrong",
        device: "__global__ void matmul(const float *A, const float *B, float *C, int N) {
            int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x; float sum = 0.0f;
            if (i >= N || j >= N) return;
            for (int k = 0; k < N; k++) sum += A[(long long)i * N + k] * B[(long long)k * N + j];
            C[(long long)i * N + j] = i == N / 2 && j == N / 3 ? sum + 1.0f : sum; }",
        kernels: &["matmul"], steps: matmul,
    },
    Case {
        name: "sum", task: "cuda/sum", expect: "correct",
        device: "__global__ void sum(const float *x, float *y, int B, int D1, int D2) {
            int t = blockIdx.x * 256 + threadIdx.x; if (t >= B * D2) return;
            const float *p = x + (long long)(t / D2) * D1 * D2 + t % D2; float s = 0.0f;
            for (int i = 0; i < D1; i++) s += p[(long long)i * D2]; y[t] = s; }",
        kernels: &["sum"],
        steps: |draft| {
            let [b, d1, d2] = ["B", "D1", "D2"].map(|name| draft.size(name));
            draft.row("sum", b * d2, &[At(0), At(1), Int(b), Int(d1), Int(d2)]);
        },
    },
    Case {
        name: "spmv", task: "cuda/spmv", expect: "correct",
        device: "__global__ void spmv(const int *rows, const int *columns, const float *values, const float *x, float *y, int M) {
            int row = blockIdx.x * 256 + threadIdx.x; if (row >= M) return; float s = 0.0f;
            for (int e = rows[row]; e < rows[row + 1]; e++) s += values[e] * x[columns[e]]; y[row] = s; }",
        kernels: &["spmv"],
        steps: |draft| {
            let m = draft.size("M");
            draft.row("spmv", m, &[At(0), At(1), At(2), At(3), At(4), Int(m)]);
        },
    },
    Case {
        name: "relu-through-scratch", task: "cuda/relu", expect: "correct",
        device: "__global__ void copy(const float *x, float *t, long long n) { long long i = blockIdx.x * 256ll + threadIdx.x; if (i < n) t[i] = x[i]; }
            __global__ void relu(const float *x, float *y, long long n) { long long i = blockIdx.x * 256ll + threadIdx.x; if (i < n) y[i] = fmaxf(x[i], 0.0f); }",
        kernels: &["copy", "relu"],
        steps: |draft| {
            let n = draft.size("n");
            let scratch = draft.allocate(4 * n);
            draft.row("copy", n, &[At(0), At(scratch), Long(n)]);
            draft.row("relu", n, &[At(scratch), At(1), Long(n)]);
        },
    },
    relu_case!("relu-half", "wrong", "__global__ void relu(const float *x, float *y, long long n) {
        long long i = blockIdx.x * 256ll + threadIdx.x; if (i < n / 2) y[i] = fmaxf(x[i], 0.0f); }"),
    relu_case!("relu-nothing", "wrong", "__global__ void relu(const float *x, float *y, long long n) {}"),
    relu_case!("relu-changes-input", "crashed", "__global__ void relu(float *x, float *y, long long n) {
        long long i = blockIdx.x * 256ll + threadIdx.x; if (i < n) { y[i] = fmaxf(x[i], 0.0f); x[i] = 0.0f; } }"),
    relu_case!("relu-one-past-the-end", "wrong", "__global__ void relu(const float *x, float *y, long long n) {
        long long i = blockIdx.x * 256ll + threadIdx.x; if (i < n) y[i] = fmaxf(x[i], 0.0f); if (i == n - 1) y[n] = 0.0f; }"),
    relu_case!("relu-one-before", "wrong", "__global__ void relu(const float *x, float *y, long long n) {
        long long i = blockIdx.x * 256ll + threadIdx.x; if (i < n) y[i] = fmaxf(x[i], 0.0f); if (i == 0) y[-1] = 0.0f; }"),
    relu_case!("relu-far-away", "wrong, crashed", "__global__ void relu(const float *x, float *y, long long n) {
        long long i = blockIdx.x * 256ll + threadIdx.x; if (i < n) y[i] = fmaxf(x[i], 0.0f); if (i == 0) y[n + (1 << 20)] = 0.0f; }"),
    relu_case!("relu-every-fourth-rests", "wrong", "__device__ int calls; __global__ void relu(const float *x, float *y, long long n) {
        long long i = blockIdx.x * 256ll + threadIdx.x; if (i < n && calls / 8 % 4 != 3) y[i] = fmaxf(x[i], 0.0f);
        if (i == 0) calls += 8; }"),
    relu_case!("relu-endless", "timed-out", "__global__ void relu(const float *x, volatile float *y, long long n) {
        while (y[0] != 12345.0f) {} }"),
    relu_case!("relu-trap", "crashed", "__global__ void relu(const float *x, float *y, long long n) { __trap(); }"),
    relu_case!("relu-null", "crashed", "__global__ void relu(const float *x, float *y, long long n) { *(volatile float *)0 = 1.0f; }"),
    relu_case!("relu-parameters-differ", "refused", "__global__ void relu(const float *x, float *y, int n) {
        int i = blockIdx.x * 256 + threadIdx.x; if (i < n) y[i] = fmaxf(x[i], 0.0f); }"),
    // On the emulator events then show a tenth of the time; on a GPU it does not compile.
    // On a busy machine three timings of it may use up its budget, or none of its marks is
    // believed.
    relu_case!(
        "relu-forged-marks",
        "suspect, timed-out, unbelieved",
        "extern \"C\" double emu_forge = 0.1; __global__ void relu(const float *x, float *y, long long n) {
        long long i = blockIdx.x * 256ll + threadIdx.x; if (i >= n) return;
        volatile float waste = 1.0f; for (int k = 0; k < 3000; k++) waste = waste * 0.5f;
        y[i] = fmaxf(x[i], 0.0f); }"
    ),
    Case {
        name: "relu-zero-grid", task: "cuda/relu", expect: "crashed", device: RELU, kernels: &["relu"],
        steps: |draft| {
            let n = draft.size("n");
            draft.launch("relu", [0, 1, 1], [256, 1, 1], &[At(0), At(1), Long(n)]);
        },
    },
    Case {
        name: "relu-block-of-4096", task: "cuda/relu", expect: "crashed", device: RELU, kernels: &["relu"],
        steps: |draft| {
            let n = draft.size("n");
            draft.launch("relu", [1, 1, 1], [4096, 1, 1], &[At(0), At(1), Long(n)]);
        },
    },
    Case {
        name: "relu-terabyte", task: "cuda/relu", expect: "crashed", device: RELU, kernels: &["relu"],
        steps: |draft| {
            draft.allocate(1 << 40);
            relu(draft);
        },
    },
    Case {
        name: "relu-memset-beyond", task: "cuda/relu", expect: "crashed", device: RELU, kernels: &["relu"],
        steps: |draft| {
            let n = draft.size("n");
            relu(draft);
            draft.clear(1, 4 * n + 4);
        },
    },
    Case {
        name: "relu-unknown-kernel", task: "cuda/relu", expect: "refused", device: RELU, kernels: &["relu"],
        steps: |draft| {
            let n = draft.size("n");
            draft.row("relu2", n, &[At(0), At(1), Long(n)]);
        },
    },
    Case {
        name: "relu-reads-behind-the-input", task: "cuda/relu", expect: "wrong", device: RELU, kernels: &["relu"],
        steps: |draft| {
            let n = draft.size("n");
            draft.row("relu", n, &[Beyond(0, 4), At(1), Long(n)]);
        },
    },
    Case {
        name: "relu-many-launches", task: "cuda/relu", expect: "timed-out, correct, crashed", device: RELU, kernels: &["relu"],
        steps: |draft| {
            let n = draft.size("n").min(64);
            relu(draft);
            for _ in 0..20_000 {
                draft.row("relu", n, &[At(0), At(1), Long(n)]);
            }
        },
    },
];

fn matmul(draft: &mut Draft<'_>) {
    let n = draft.size("N");
    let tiles = (n + 15) / 16;
    draft.launch(
        "matmul",
        [tiles, tiles, 1],
        [16, 16, 1],
        &[At(0), At(1), At(2), Int(n)],
    );
}

pub(super) fn find(name: &str) -> &'static Case {
    CASES
        .iter()
        .find(|case| case.name == name)
        .expect("a name of the list")
}

/// The work of a case, and the text of its reference. The images are still empty.
pub(super) fn work(case: &Case, small: bool, fresh: &mut Fresh, how: How) -> (Work, String) {
    let task = crate::tasks::load(&format!("tasks/{}", case.task))
        .or_else(|_| crate::tasks::load(&format!("../../tasks/{}", case.task)))
        .expect("run where tasks are");
    let mut spec = task.spec.clone();
    if small {
        shrink(&mut spec);
    }
    let calls = calls::of_candidate(&spec, fresh);
    let plans = calls.iter().map(|call| {
        let mut draft = Draft::new(call);
        (case.steps)(&mut draft);
        draft.plan
    });
    let plans = plans.collect();
    let reference = calls
        .iter()
        .map(|call| reference_plan(&spec, call))
        .collect();
    let check = matches!(spec.verify.method, Method::Projection(_))
        .then(|| calls.iter().map(check_plan).collect());
    let reference = Trusted {
        image: Image::default(),
        reference,
        check,
    };
    let candidate = Image::default();
    let work = Work {
        task: spec,
        reference,
        candidate,
        calls,
        plans,
        how,
        limit_s: 1.0,
    };
    (work, task.reference)
}

/// Makes every size small enough for a processor.
fn shrink(spec: &mut TaskSpec) {
    let sizes = &mut spec.function_mut().sizes;
    let shrink = |sizes: &mut Sizes| {
        let most = if sizes.len() == 1 && sizes.contains_key("N") {
            40
        } else {
            2000
        };
        let cube = sizes.contains_key("D1");
        for value in sizes.values_mut() {
            *value = (*value).min(if cube { 12 } else { most });
        }
        // More entries than a row has columns cannot be distinct.
        if let (Some(rows), Some(entries)) = (sizes.get("M").copied(), sizes.get_mut("NNZ")) {
            *entries = (*entries).min(3 * rows);
        }
    };
    shrink(&mut sizes.timed);
    sizes.hidden.iter_mut().for_each(shrink);
    for bounds in sizes.drawn.values_mut() {
        bounds.1 = bounds.1.min(bounds.0.max(60));
    }
}

/// The plan of `reference` for a call, as its host half would record it.
fn reference_plan(spec: &TaskSpec, call: &Call) -> Plan {
    let mut arguments = Vec::new();
    for (arg, passed) in spec.function().args.iter().zip(&call.arguments) {
        match passed {
            Passed::Buffer(bytes) if arg.is_output() => {
                let doubles = bytes / arg.kind.bytes() as u64 * Kind::F64.bytes() as u64;
                arguments.extend([Passed::Buffer(doubles), Passed::Buffer(doubles)]);
            }
            passed => arguments.push(passed.clone()),
        }
    }
    let call = Call {
        sizes: call.sizes.clone(),
        arguments,
    };
    let mut draft = Draft::new(&call);
    let size = |name: &str| call.sizes[name];
    match spec.name.as_str() {
        "cuda/relu" => {
            let n = size("n");
            draft.launch(
                "relu_reference",
                [2048, 1, 1],
                [256, 1, 1],
                &[At(0), At(1), At(2), Long(n)],
            );
        }
        "cuda/saxpy" => {
            let (n, a) = (size("n"), draft.scalar(0));
            let passes = [Number(a), At(0), At(1), At(2), At(3), Int(n)];
            draft.launch("saxpy_reference", [2048, 1, 1], [256, 1, 1], &passes);
        }
        "cuda/histogram" => {
            let n = size("n");
            let (counts, scale) = (draft.buffer(1), draft.buffer(2));
            draft.clear(counts, 2048);
            draft.clear(scale, 2048);
            draft.launch(
                "histogram_reference",
                [1024, 1, 1],
                [256, 1, 1],
                &[At(0), At(1), Int(n)],
            );
        }
        "cuda/matmul" => {
            let n = size("N");
            let tiles = (n - 1) / 16 + 1;
            let passes = [At(0), At(1), At(2), At(3), Int(n)];
            draft.launch("matmul_reference", [tiles, tiles, 1], [16, 16, 1], &passes);
        }
        "cuda/sum" => {
            let [b, d1, d2] = ["B", "D1", "D2"].map(size);
            let passes = [At(0), At(1), At(2), Int(b), Int(d1), Int(d2)];
            draft.launch(
                "sum_reference",
                [(b * d2 + 63) / 64, 1, 1],
                [64, 1, 1],
                &passes,
            );
        }
        "cuda/spmv" => {
            let m = size("M");
            let passes = [At(0), At(1), At(2), At(3), At(4), At(5), Int(m)];
            draft.launch(
                "spmv_reference",
                [(m - 1) / 8 + 1, 1, 1],
                [256, 1, 1],
                &passes,
            );
        }
        other => panic!("no plan for {other}"),
    }
    draft.plan
}

/// The plan of `check` for a product of matrices.
fn check_plan(call: &Call) -> Plan {
    let n = call.sizes["N"];
    let mut arguments = call.arguments.clone();
    arguments.extend([const { Passed::Buffer(0) }; 4].map(|_| Passed::Buffer(8 * n as u64)));
    let call = Call {
        sizes: call.sizes.clone(),
        arguments,
    };
    let mut draft = Draft::new(&call);
    let (signs, got, want, scale) = (3, 4, 5, 6);
    let (product, squares) = (draft.allocate(8 * n), draft.allocate(8 * n));
    let passes = [At(1), At(signs), At(product), At(squares), Int(n)];
    draft.launch("project_b", [n, 1, 1], [256, 1, 1], &passes);
    let passes = [
        At(0),
        At(2),
        At(signs),
        At(product),
        At(squares),
        At(got),
        At(want),
        At(scale),
        Int(n),
    ];
    draft.launch("compare_rows", [n, 1, 1], [256, 1, 1], &passes);
    draft.plan
}

/// The kernels that a reference's plans launch.
pub(super) fn kernels_of(reference: &Trusted) -> Vec<&str> {
    let plans = reference
        .reference
        .iter()
        .chain(reference.check.iter().flatten());
    let mut names: Vec<&str> = plans
        .flat_map(|plan| &plan.steps)
        .filter_map(|step| match step {
            Step::Launch(launch) => Some(launch.kernel.as_str()),
            _ => None,
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// A reference without its host functions, which all begin with `extern "C" void` at a line's start
/// and end with a brace at one.
pub(super) fn device_half(text: &str) -> String {
    let mut kept = String::new();
    let mut on_host = false;
    for line in text.lines() {
        on_host |= line.starts_with("extern \"C\" void");
        if !on_host && !line.starts_with("#include") {
            kept += line;
            kept.push('\n');
        }
        on_host &= line != "}";
    }
    kept
}
