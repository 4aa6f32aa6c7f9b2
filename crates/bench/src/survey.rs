//! What this machine offers to a bench, for `doctor` and for measurements of the bench itself.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hotloop_flow::how::Compiler;
use hotloop_flow::{BenchError, Device, statistics};
use serde::Serialize;

use crate::cpu::blas;
use crate::cpu::crew::Crew;
use crate::cpu::machine::{self, Machine};
use crate::cpu::prober::Prober;
use crate::cpu::roof::{Bay, Roof};
use crate::cpu::slot::Slot;
use crate::cpu::toolchain::Toolchain;
use crate::gpu::compile::{self, DeviceCompiler};
use crate::gpu::site::Site;
use crate::sandbox::Layers;
use crate::settings::Settings;
use crate::{cores, sys};

/// The number of probes that measure how quiet a machine is, and the pause between them.
const PROBES: usize = 400;
const PAUSE: Duration = Duration::from_millis(2);
/// A probe this much above the floor was disturbed.
const CALM: f64 = 1.05;

/// What this machine offers.
#[derive(Debug, Clone, Serialize)]
pub struct Survey {
    /// The CPU's name.
    pub cpu: String,
    /// Widest vector level: `sse2`, `avx2`, `avx512`.
    pub simd: &'static str,
    /// Physical cores that this process may use.
    pub physical_cores: usize,
    /// Logical cores that this process may use.
    pub logical_cores: usize,
    /// gcc and clang.
    pub compilers: Vec<CompilerSurvey>,
    /// OpenBLAS, if it was found.
    pub openblas: Option<OpenBlasSurvey>,
    /// The layers of the sandbox that are active here.
    pub layers: Layers,
}

/// One compiler, found or not.
#[derive(Debug, Clone, Serialize)]
pub struct CompilerSurvey {
    /// `gcc` or `clang`.
    pub name: &'static str,
    /// Its first line of `--version`.
    pub version: Option<String>,
    /// Its OpenMP runtime.
    pub openmp: Option<PathBuf>,
    /// Whether candidates can be compiled with it: the precompiled prelude works.
    pub ready: bool,
    /// What is missing.
    pub problem: Option<String>,
    /// How to fix it.
    pub hint: Option<String>,
}

/// OpenBLAS as it was found.
#[derive(Debug, Clone, Serialize)]
pub struct OpenBlasSurvey {
    /// The library.
    pub path: PathBuf,
    /// The code path that is used.
    pub core: String,
    /// The code path that the library chose by itself.
    pub detected: String,
    /// Whether that choice had to be corrected.
    pub corrected: bool,
}

/// How steady this machine is at one number of threads.
#[derive(Debug, Clone, Serialize)]
pub struct Noise {
    /// OpenMP threads.
    pub threads: u32,
    /// Seconds of a run that does nothing.
    pub null_s: f64,
    /// Floating-point operations per second at best.
    pub peak_flops: f64,
    /// Coefficient of variation of the peak, measured several times.
    pub peak_cv: f64,
    /// Share of short probes that ran at the machine's floor.
    pub calm: f64,
}

/// What this machine offers for candidates in CUDA.
#[derive(Debug, Clone, Serialize)]
pub struct CudaSurvey {
    /// Compiles device code.
    pub compiler: Offer,
    /// Compiles host code and records what it would do.
    pub recorder: Offer,
    /// Runs candidates.
    pub gpu: Offer,
}

/// One thing that was tried.
#[derive(Debug, Clone, Serialize)]
pub struct Offer {
    pub ready: bool,
    /// What it is, or what is missing.
    pub says: String,
    /// How to get what is missing.
    pub hint: Option<String>,
}

impl Offer {
    fn of(tried: Result<String, BenchError>) -> Self {
        match tried {
            Ok(says) => Self {
                ready: true,
                says,
                hint: None,
            },
            Err(error) => Self {
                ready: false,
                says: error.what,
                hint: error.hint,
            },
        }
    }
}

/// Tries everything that judging CUDA needs.
pub fn cuda(roles: &Path) -> Result<CudaSurvey, BenchError> {
    let (site, examiner) = Site::prepare(Settings::new(roles.to_owned()))?;
    let says = |what: &str| what.to_owned();
    let gpu = |device: &Device| match device {
        Device::Gpu {
            name,
            compute_capability,
            driver,
            ..
        } => format!("{name}, compute capability {compute_capability}, driver {driver}"),
        Device::Cpu { name, .. } => name.clone(),
    };
    let toolkit = compile::survey();
    let mut compiler = Offer::of(site.compiler().map(DeviceCompiler::version));
    let found = [&toolkit.nvrtc, &toolkit.nvcc].into_iter().flatten();
    for path in found.filter(|_| compiler.ready) {
        let _ = write!(compiler.says, ", {}", path.display());
    }
    // A missing compiler is reason enough: the same command installs the headers.
    for lack in toolkit.missing.iter().filter(|_| compiler.ready) {
        let _ = write!(compiler.says, "; {lack}");
        compiler.hint = compiler.hint.or_else(|| toolkit.hint.map(str::to_owned));
    }
    Ok(CudaSurvey {
        compiler,
        recorder: Offer::of(
            site.recorder()
                .map(|_| says("host code is compiled and recorded")),
        ),
        gpu: Offer::of(examiner.map(|examiner| gpu(&examiner.facts().device))),
    })
}

/// The widest vectors of this machine: `sse2`, `avx2`, `avx512`.
pub fn simd() -> &'static str {
    machine::simd_level()
}

/// Examines this machine. `roles` is the executable that plays the bench's hidden roles.
pub fn survey(roles: &Path) -> Survey {
    let cores = cores::usable();
    let openblas = blas::find(roles).map(|found| OpenBlasSurvey {
        corrected: found.forced.is_some(),
        path: found.path,
        core: found.core,
        detected: found.detected,
    });
    Survey {
        cpu: machine::cpu_name(),
        simd: machine::simd_level(),
        physical_cores: cores.len(),
        logical_cores: cores.iter().map(|core| core.siblings.len()).sum(),
        compilers: [Compiler::Gcc, Compiler::Clang]
            .map(|compiler| look_at(compiler, roles))
            .into(),
        openblas,
        layers: Layers::probe(roles, &[]),
    }
}

fn look_at(compiler: Compiler, roles: &Path) -> CompilerSurvey {
    let mut settings = Settings::new(roles.to_owned());
    settings.how.compiler = compiler;
    let (toolchain, error) = match Toolchain::find(compiler, None) {
        Ok(toolchain) => (Some(toolchain), Machine::prepare(settings).err()),
        Err(error) => (None, Some(error)),
    };
    CompilerSurvey {
        name: compiler.name(),
        version: toolchain
            .as_ref()
            .map(|toolchain| toolchain.version.clone()),
        openmp: toolchain.map(|toolchain| toolchain.openmp),
        ready: error.is_none(),
        problem: error.as_ref().map(|error| error.what.clone()),
        hint: error.and_then(|error| error.hint),
    }
}

/// Measures null round trip and arithmetic peak `times` times, and probes how quiet the cores are.
pub fn noise(settings: Settings, times: usize) -> Result<Noise, BenchError> {
    let machine = Machine::prepare(settings)?;
    let threads = machine.settings.how.threads;
    let cores = slot_cores(threads as usize);
    let mut slot = Slot::new(&machine.settings.roles, cores.clone(), None);
    let (mut nulls, mut peaks) = (Vec::new(), Vec::new());
    for _ in 0..times.max(1) {
        let mut bay = Bay {
            slot: &mut slot,
            user: machine.user(0),
        };
        let roof = Roof::measure(&machine, &mut bay)?;
        nulls.push(roof.null_s);
        peaks.push(roof.peak_flops);
    }
    drop(slot);
    // In a separate thread, because pinning must not outlive the probes.
    let calm = std::thread::spawn(move || calm_share(&cores))
        .join()
        .unwrap_or(0.0);
    Ok(Noise {
        threads,
        null_s: statistics::median(&nulls),
        peak_flops: peaks.iter().copied().fold(0.0, f64::max),
        peak_cv: statistics::variation(&peaks),
        calm,
    })
}

fn calm_share(cores: &[usize]) -> f64 {
    // If pinning fails, the probe is only less accurate.
    drop(sys::pin(0, &cores[..cores.len().min(1)]));
    let crew = Crew::new(cores);
    let mut prober = Prober::new(&crew);
    let mut calm = 0;
    for _ in 0..PROBES {
        std::thread::sleep(PAUSE);
        // The first probe after a pause finds a sleeping core.
        prober.probe(&crew, false);
        calm += usize::from(prober.probe(&crew, false) <= CALM);
    }
    calm as f64 / PROBES as f64
}

/// The physical cores that this process may use.
pub fn physical_cores() -> usize {
    cores::usable().len()
}

/// The logical cores that this process may use.
pub fn logical_cores() -> Vec<usize> {
    sys::affinity(0).unwrap_or_else(|_| vec![0])
}

/// The logical cores that the first timing slot of `threads` threads runs on.
pub fn slot_cores(threads: usize) -> Vec<usize> {
    cores::divide(&cores::usable(), 1, threads)
        .0
        .into_iter()
        .next()
        .unwrap_or_default()
}

/// Time of all cores since the machine started, and the part of it that the host gave to others, in
/// ticks.
pub fn stolen() -> (u64, u64) {
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let first = stat.lines().next().unwrap_or_default();
    // user, nice, system, idle, iowait, irq, softirq, steal; guests are counted in the first two.
    let ticks: Vec<u64> = first
        .split_whitespace()
        .skip(1)
        .take(8)
        .filter_map(|tick| tick.parse().ok())
        .collect();
    (ticks.iter().sum(), ticks.get(7).copied().unwrap_or(0))
}

/// Pins the calling thread, and everything that it starts from now on, to `cores`.
pub fn pin_to_cores(cores: &[usize]) -> std::io::Result<()> {
    sys::pin(0, cores)
}
