use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use hotloop_flow::formula::{self, Sizes};
use hotloop_flow::interface::{Arg, Kind, Role};
use hotloop_flow::language::cuda::split;
use hotloop_flow::task::Method;
use hotloop_flow::verdict::Label;
use hotloop_flow::{Candidate, Task};

use super::entry::Parameter;
use super::*;
use crate::gpu::call::Passed;
use crate::gpu::plan::{Argument, Buffer, Launch, Origin, Place, Step};

/// How often a machine without a processor to give is asked.
const ATTEMPTS: usize = 4;

/// Tests that compile take turns, so that an endless compiler gets the processor time after which
/// it is timed out.
static TURN: Mutex<()> = Mutex::new(());

/// One for all tests, in a cache that is made once.
fn recorder() -> &'static Recorder {
    static RECORDER: OnceLock<Recorder> = OnceLock::new();
    RECORDER.get_or_init(|| {
        let cache = std::env::temp_dir().join(format!("hotloop-recorder-{}", std::process::id()));
        let roles = std::env::current_exe().unwrap();
        Recorder::open(Opening {
            roles: &roles,
            cache: Cache::at(&cache),
            scratch: Arc::new(Scratch::new().unwrap()),
            landlock: crate::sandbox::files::landlock_version().is_some(),
            traits: DeviceTraits::default(),
        })
        .unwrap()
    })
}

fn user() -> Option<u32> {
    crate::sys::is_root().then(|| crate::sandbox::user::unprivileged_user(7))
}

/// The value of a scalar for sizes, as it lies in memory.
fn number(arg: &Arg, sizes: &Sizes) -> Vec<u8> {
    let value = arg
        .value
        .as_ref()
        .map_or(0.5, |value| formula::evaluate(value, sizes).unwrap());
    match arg.kind {
        Kind::F64 => value.to_le_bytes().to_vec(),
        Kind::F32 => (value as f32).to_le_bytes().to_vec(),
        Kind::F16 | Kind::Bf16 => vec![0, 0],
        Kind::I32 => (value as i32).to_le_bytes().to_vec(),
        Kind::I64 => (value as i64).to_le_bytes().to_vec(),
    }
}

fn call_of(task: &Task, sizes: &Sizes) -> Call {
    let pass = |arg: &Arg| {
        if arg.role == Role::Scalar {
            return Passed::Scalar(number(arg, sizes));
        }
        let elements = arg.elements(sizes).unwrap();
        Passed::Buffer((elements * arg.kind.bytes()) as u64)
    };
    Call {
        sizes: sizes.clone(),
        arguments: task.function().args.iter().map(pass).collect(),
    }
}

fn calls(task: &Task) -> Vec<Call> {
    let sizes = &task.function().sizes;
    let all = sizes.hidden.iter().chain([&sizes.timed]);
    all.map(|sizes| call_of(task, sizes)).collect()
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn tasks() -> BTreeMap<String, Task> {
    let entries = std::fs::read_dir(workspace().join("tasks/cuda")).unwrap();
    entries
        .map(|entry| entry.unwrap().path())
        .map(|folder| {
            let name = folder.file_name().unwrap().to_string_lossy().into_owned();
            let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
            let task = Task::parse(hotloop_flow::task::TaskFiles {
                toml: read("task.toml"),
                reference: read("reference.cu"),
                prompt: read("prompt.md"),
                seed: read("seed.cu"),
                ..Default::default()
            });
            (name, task.unwrap())
        })
        .collect()
}

/// The sources of a folder, with the task that each is for.
fn sources(folder: &str) -> Vec<(String, String, String)> {
    let folder = workspace().join("crates/bench/tests/cuda").join(folder);
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let task = name.split('-').next().unwrap().to_owned();
            let source = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            (name, task, source)
        })
        .collect();
    found.sort();
    found
}

/// What becomes of a source up to its plans.
fn recorded(source: &str, entry: &Entry, calls: &[Call]) -> Result<Vec<Plan>, Box<Verdict>> {
    let refused = |why: String| Box::new(Verdict::Refused { why });
    let halves = split(source).map_err(|refusal| refused(refusal.to_string()))?;
    // A machine with other work fails sometimes, and says so.
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut attempts = (0..ATTEMPTS).map(|_| recorder().record(&halves, entry, calls, user()));
    let had_none = |error: &BenchError| error.what.contains("hardly had a processor");
    let recorded = attempts.find(|attempt| !attempt.as_ref().is_err_and(had_none));
    recorded.expect("a processor").unwrap().map_err(Box::new)
}

fn relu() -> (Entry, Call) {
    let entry = Entry {
        name: "solve".into(),
        parameters: vec![
            Parameter::Pointer,
            Parameter::Pointer,
            Parameter::Scalar(Kind::I64),
        ],
    };
    let call = Call {
        sizes: Sizes::new(),
        arguments: vec![
            Passed::Buffer(4000),
            Passed::Buffer(4000),
            Passed::Scalar(1000i64.to_le_bytes().to_vec()),
        ],
    };
    (entry, call)
}

/// The plan of a source whose `solve` is that of relu, for 1000 elements.
fn plan_of(source: &str) -> Result<Plan, Box<Verdict>> {
    let (entry, call) = relu();
    recorded(source, &entry, &[call]).map(|mut plans| plans.remove(0))
}

fn pointer(buffer: usize, offset: u64) -> Argument {
    Argument {
        bytes: vec![0; 8],
        pointers: vec![(0, Place { buffer, offset })],
    }
}

fn value(bytes: &[u8]) -> Argument {
    Argument {
        bytes: bytes.to_vec(),
        pointers: vec![],
    }
}

#[test]
fn headers_of_the_library_compile_after_the_bench_s_own() {
    const NAMES: [&str; 26] = [
        "algorithm",
        "array",
        "atomic",
        "chrono",
        "cmath",
        "complex",
        "cstdio",
        "cstdlib",
        "cstring",
        "fstream",
        "functional",
        "iomanip",
        "iostream",
        "limits",
        "map",
        "memory",
        "mutex",
        "numeric",
        "random",
        "sstream",
        "stdexcept",
        "string",
        "thread",
        "unordered_map",
        "vector",
        "wchar.h",
    ];
    let (entry, call) = relu();
    let includes = NAMES.map(|name| format!("#include <{name}>\n")).concat();
    let source = format!(
        "{includes}__global__ void k(const float *x, float *y, long long n) {{ y[0] = x[0]; }}\n\
         extern \"C\" void solve(const float *x, float *y, long long n) {{\n\
         std::string name = \"k\"; std::vector<int> blocks(3, 1);\n\
         std::cout << name << std::endl;\n\
         k<<<blocks.size(), 32>>>(x, y, n); }}\n"
    );
    let plans = recorded(&source, &entry, &[call]).unwrap();
    assert_eq!(plans[0].launches().count(), 1);
}

#[test]
fn honest_host_code_is_recorded() {
    let tasks = tasks();
    let mut failures = Vec::new();
    for (name, task, source) in sources("honest") {
        let task = &tasks[&task];
        let entry = Entry::of(task.function());
        match recorded(&source, &entry, &calls(task)) {
            Ok(plans) => {
                let is_whole = |plan: &Plan| plan.failures.is_empty() && !plan.steps.is_empty();
                if !plans.iter().all(is_whole) {
                    failures.push(format!("{name}: {plans:?}"));
                }
            }
            Err(verdict) => failures.push(format!("{name}: {verdict:?}")),
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn seeds_and_references_are_recorded() {
    for (name, task) in tasks() {
        let function = task.function();
        let entry = Entry::of(function);
        let calls = calls(&task);
        let plans = recorded(&task.seed, &entry, &calls);
        assert!(
            plans.as_ref().is_ok_and(|plans| plans.len() == calls.len()),
            "{name}: {plans:?}"
        );
        let reference = Entry::reference(function);
        let of = |(arg, passed): (&Arg, &Passed)| match passed {
            Passed::Buffer(bytes) if arg.is_output() => vec![Passed::Buffer(bytes * 8); 2],
            other => vec![other.clone()],
        };
        let arguments = function.args.iter().zip(&calls[0].arguments).flat_map(of);
        let arguments = arguments.collect();
        let call = Call {
            sizes: calls[0].sizes.clone(),
            arguments,
        };
        let plans = recorded(&task.reference, &reference, &[call]);
        assert!(plans.is_ok(), "{name}: {plans:?}");
        if matches!(task.spec.verify.method, Method::Projection(_)) {
            let check = Entry::check(function);
            let mut call = calls[0].clone();
            call.arguments
                .extend([const { Passed::Buffer(1 << 20) }; 4]);
            let plans = recorded(&task.reference, &check, &[call]);
            assert!(plans.is_ok(), "{name}: {plans:?}");
        }
    }
}

#[test]
fn a_plan_says_what_is_launched() {
    let source = "template <int N, class T> __global__ void fill(T *y, T value, long long n) {}\n\
        namespace a { __global__ void last(const float *x, float *y, int) {} }\n\
        __constant__ float weights[3];\n\
        extern \"C\" void solve(const float *x, float *y, long long n) {\n\
            float *t; cudaMalloc(&t, 512); cudaMemset(t, 1, 512);\n\
            const float w[] = {1, 2, 3}; cudaMemcpyToSymbol(weights, w, 8, 4);\n\
            for (int i = 0; i < 2; i++) if (n > 0) fill<4><<<dim3(2, i + 1), 32, 64>>>(y + i, 1.5f, n);\n\
            void (*k)(const float *, float *, int) = a::last; k<<<1, n > 3 ? 64 : 1>>>(x + 250, t, 7);\n\
            cudaMemcpy(y, t, 16, cudaMemcpyDeviceToDevice); cudaFree(t);\n\
        }\n";
    let plan = plan_of(source).unwrap();
    let buffer = |origin, bytes| Buffer { origin, bytes };
    assert_eq!(
        plan.buffers,
        [
            buffer(Origin::Argument(0), 4000),
            buffer(Origin::Argument(1), 4000),
            buffer(Origin::Own, 512),
            buffer(
                Origin::Variable {
                    image: 0,
                    name: "weights".into()
                },
                12
            ),
        ]
    );
    let place = |buffer, offset| Place { buffer, offset };
    let fill = |i: u32| {
        Step::Launch(Launch {
            image: 0,
            kernel: "fill<4, float>".into(),
            grid: [2, i + 1, 1],
            block: [32, 1, 1],
            shared: 64,
            cooperative: false,
            cluster: None,
            arguments: vec![
                pointer(1, 4 * u64::from(i)),
                value(&1.5f32.to_le_bytes()),
                value(&1000i64.to_le_bytes()),
            ],
        })
    };
    let mut weights = 1f32.to_le_bytes().to_vec();
    weights.extend(2f32.to_le_bytes());
    let last = Launch {
        image: 0,
        kernel: "a::last".into(),
        grid: [1, 1, 1],
        block: [64, 1, 1],
        shared: 0,
        cooperative: false,
        cluster: None,
        arguments: vec![pointer(0, 1000), pointer(2, 0), value(&7i32.to_le_bytes())],
    };
    assert_eq!(
        plan.steps,
        [
            Step::Set {
                to: place(2, 0),
                pattern: vec![1],
                bytes: 512
            },
            Step::Write {
                to: place(3, 4),
                bytes: weights,
                pointers: vec![]
            },
            fill(0),
            fill(1),
            Step::Launch(last),
            Step::Copy {
                to: place(1, 0),
                from: place(2, 0),
                bytes: 16
            },
        ]
    );
}

#[test]
fn host_code_that_cheats_gets_what_its_file_expects() {
    let tasks = tasks();
    let mut failures = Vec::new();
    for (name, task, source) in sources("cheats") {
        let task = &tasks[&task];
        let line = source
            .lines()
            .find_map(|line| line.strip_prefix("// expect: "));
        let expect: Vec<&str> = line.unwrap().split(',').map(str::trim).collect();
        // The host code of those that are only wrong is honest.
        if !expect
            .iter()
            .any(|label| ["refused", "not-compiled", "timed-out"].contains(label))
        {
            continue;
        }
        let candidate = Candidate::from_source(source.as_bytes(), task);
        let verdict = match candidate {
            Err(why) => Verdict::Malformed {
                why: why.to_string(),
            },
            Ok(_) => match recorded(&source, &Entry::of(task.function()), &calls(task)) {
                // What comes after decides.
                Ok(_) => continue,
                Err(verdict) => *verdict,
            },
        };
        if !expect.contains(&verdict.label().name()) {
            failures.push(format!("{name}: {expect:?}, but {verdict:?}"));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn the_jail_stops_what_reaches_out_of_it() {
    for name in [
        "relu-abort",
        "relu-async",
        "relu-clock",
        "relu-copy-to-host",
        "relu-endless-host",
        "relu-exception",
        "relu-exit-first",
        "relu-forged-good-looking-plan",
        "relu-host-decides-by-data",
        "relu-host-memory-bomb",
        "relu-host-recursion",
        "relu-longjmp-out",
        "relu-million-allocations",
        "relu-million-launches",
        "relu-random-plan",
        "relu-smashes-the-callers-stack",
        "relu-static-constructor",
        "relu-writes-to-all-descriptors",
    ] {
        let tasks = tasks();
        let path = workspace().join(format!("crates/bench/tests/cuda/cheats/{name}.cu"));
        let source = std::fs::read_to_string(path).unwrap();
        let task = &tasks["relu"];
        let stopped = recorded(&source, &Entry::of(task.function()), &calls(task));
        assert!(stopped.is_err(), "{name}: {stopped:?}");
    }
}

#[test]
fn what_a_gpu_would_refuse_is_told() {
    let kernel = "__global__ void k(float *y) {}\n";
    let solve = |body: &str| {
        plan_of(&format!(
            "{kernel}extern \"C\" void solve(const float *x, float *y, long long n) {{ {body} }}"
        ))
    };
    let refused = |body: &str, why: &str| {
        let verdict = solve(body).unwrap_err();
        assert_eq!(verdict.label(), Label::Refused, "{body}: {verdict:?}");
        assert!(verdict.detail().contains(why), "{body}: {verdict:?}");
    };
    refused("k<<<1, 2048>>>(y);", "a block of too many threads");
    refused("k<<<0, 32>>>(y);", "without blocks");
    refused(
        "k<<<1, 32, 60000>>>(y);",
        "60000 bytes of dynamic shared memory",
    );
    refused("k(y);", "called like a function");
    refused("cudaMemset(y, 0, 4004); k<<<1, 1>>>(y);", "has 4000 left");
    refused(
        "float *t; cudaMalloc(&t, 8); cudaFree(t); k<<<1, 1>>>(t);",
        "after cudaFree",
    );
    refused("cudaFree(y);", "not the host function's own");
    refused(
        "float h; cudaMemcpy(&h, x, 4, cudaMemcpyDeviceToHost);",
        "a plan holds no data",
    );
    refused("k<<<1, 1>>>(y + 1001);", "4004 bytes into a buffer of 4000");
    let plan = solve("k<<<0, 32>>>(y); k<<<1, 32>>>(y);").unwrap();
    assert_eq!((plan.steps.len(), plan.failures.len()), (1, 1));
    let asks = "cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000);";
    let plan = solve(&format!("{asks} k<<<1, 32, 60000>>>(y);")).unwrap();
    assert_eq!((plan.steps.len(), plan.failures.len()), (1, 0));
}

#[test]
fn launches_without_angles_are_recorded() {
    let source = "struct Pair { const float *from; float *to; };\n\
        __global__ void k(Pair pair, int n) {}\n\
        extern \"C\" void solve(const float *x, float *y, long long n) {\n\
            Pair pair = {x, y + 1}; int count = 5; void *arguments[] = {&pair, &count};\n\
            cudaLaunchKernel((const void *)k, dim3(3), dim3(32), arguments, 0, nullptr);\n\
            cudaLaunchCooperativeKernel((void *)k, 2, 32, arguments);\n\
            cudaLaunchConfig_t config = {}; config.gridDim = 4; config.blockDim = 32;\n\
            cudaLaunchAttribute cluster[1]; cluster[0].id = cudaLaunchAttributeClusterDimension;\n\
            cluster[0].val.clusterDim = {2, 1, 1}; config.attrs = cluster; config.numAttrs = 1;\n\
            cudaLaunchKernelEx(&config, k, pair, 6);\n\
            cudaGraph_t graph; cudaGraphExec_t run; cudaStream_t s; cudaStreamCreate(&s);\n\
            cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal); k<<<1, 1, 0, s>>>(pair, 7);\n\
            cudaStreamEndCapture(s, &graph); cudaGraphInstantiate(&run, graph, NULL, NULL, 0);\n\
            for (int i = 0; i < 2; i++) cudaGraphLaunch(run, s);\n\
        }\n";
    let plan = plan_of(source).unwrap();
    let launches: Vec<_> = plan
        .steps
        .iter()
        .map(|step| match step {
            Step::Launch(launch) => {
                let pointers = launch.arguments[0].pointers.clone();
                assert_eq!(pointers.len(), 2);
                assert_eq!(
                    pointers[1],
                    (
                        8,
                        Place {
                            buffer: 1,
                            offset: 4
                        }
                    )
                );
                let count = launch.arguments[1].bytes[0];
                (launch.grid[0], launch.cooperative, launch.cluster, count)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        launches,
        [
            (3, false, None, 5),
            (2, true, None, 5),
            (4, false, Some([2, 1, 1]), 6),
            (1, false, None, 7),
            (1, false, None, 7),
        ]
    );
}
