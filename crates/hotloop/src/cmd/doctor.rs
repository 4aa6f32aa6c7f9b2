//! `hotloop doctor`: what this machine offers, what is missing and how to fix it.

use hotloop_bench::sandbox::Layers;
use hotloop_bench::survey::{CompilerSurvey, CudaSurvey, Noise, Offer, Survey};
use hotloop_bench::torch::TorchPython;
use hotloop_flow::BenchError;
use serde::Serialize;

use crate::cli::DoctorArgs;
use crate::failure::{Failure, Status};
use crate::output;
use crate::output::table::Table;
use crate::output::{percent, say, say_json};
use crate::progress::Progress;

/// A machine with a smaller share of calm probes is noisy.
const CALM_SHARE: f64 = 0.7;
/// A machine whose arithmetic peak varies more is noisy.
const PEAK_CV: f64 = 0.05;
/// How often the peak is measured.
const TIMES: usize = 3;

/// The state of one finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Mark {
    Ok,
    Warn,
    /// Judging works less well without it.
    Missing,
    /// Judging is impossible without it.
    Needed,
    /// Neither good nor bad.
    Note,
}

impl Mark {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Missing => "missing",
            Self::Needed => "NEEDED",
            Self::Note => "-",
        }
    }
}

/// One thing about the machine.
#[derive(Debug, Serialize)]
struct Finding {
    about: &'static str,
    mark: Mark,
    says: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Finding {
    fn new(about: &'static str, mark: Mark, says: impl Into<String>) -> Self {
        Self {
            about,
            mark,
            says: says.into(),
            hint: None,
        }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// All findings, as `--json` prints them.
#[derive(Debug, Serialize)]
struct Diagnosis<'a> {
    can_judge: bool,
    can_judge_cuda: bool,
    quiet: Option<bool>,
    findings: &'a [Finding],
    machine: &'a Survey,
    cuda: Option<&'a CudaSurvey>,
    noise: &'a [Noise],
}

/// Examines the machine and reports.
pub(crate) fn run(arguments: &DoctorArgs) -> Result<Status, Failure> {
    let settings = crate::settings::own()?;
    let progress = Progress::spinner("looking at the machine", !arguments.json);
    let survey = hotloop_bench::survey::survey(&settings.roles);
    let can_compile = survey.compilers.iter().any(|compiler| compiler.ready);
    let can_judge = can_compile && survey.layers.seccomp;
    let mut findings = vec![system(), kernel(), cpu(&survey), cores(&survey)];
    findings.extend(
        survey
            .compilers
            .iter()
            .map(|compiler| self::compiler(compiler, can_compile)),
    );
    findings.extend([openblas(&survey), gpu()]);
    progress.message("looking at what judges CUDA");
    let cuda = hotloop_bench::survey::cuda(&settings.roles).ok();
    findings.extend(cuda.iter().flat_map(self::cuda));
    let can_judge_cuda = cuda
        .as_ref()
        .is_some_and(|cuda| cuda.compiler.ready && cuda.recorder.ready && cuda.gpu.ready);
    findings.push(torch());
    findings.extend(sandbox(&survey));
    findings.extend(
        [huge_pages(), governor(), load(&survey)]
            .into_iter()
            .flatten(),
    );
    let (mut noise, mut quiet) = (Vec::new(), None);
    if can_judge {
        progress.message("measuring how steady it is");
        let compiler = survey
            .compilers
            .iter()
            .find(|compiler| compiler.ready)
            .map(|compiler| compiler.name);
        let measured = measure(&survey, compiler);
        findings.extend(noise_findings(&measured));
        noise = measured.into_iter().flatten().collect();
        quiet = (!noise.is_empty()).then(|| noise.iter().all(is_quiet));
    }
    drop(progress);
    if arguments.json {
        let diagnosis = Diagnosis {
            can_judge,
            can_judge_cuda,
            quiet,
            findings: &findings,
            machine: &survey,
            cuda: cuda.as_ref(),
            noise: &noise,
        };
        say_json(&diagnosis);
    } else {
        say(&text(&findings, can_judge, quiet));
    }
    Ok(if can_judge {
        Status::Fine
    } else {
        Status::MachineFailed
    })
}

fn text(findings: &[Finding], can_judge: bool, quiet: Option<bool>) -> String {
    let mut table = Table::new().left("").left("").left("");
    for finding in findings {
        table.row([finding.mark.word(), finding.about, &finding.says]);
        if let Some(hint) = &finding.hint {
            table.below(format!("  hint: {hint}"));
        }
    }
    let end = match (can_judge, quiet) {
        (false, _) => "Candidates cannot be judged here: see what is NEEDED above.",
        (true, Some(true)) => "Candidates can be judged here, and the machine is quiet.",
        (true, Some(false)) => {
            "Candidates can be judged here, but the machine is noisy: expect wider spreads."
        }
        (true, None) => "Candidates can be judged here, but timing failed: see above.",
    };
    format!("{}\n\n{end}", table.render())
}

fn read(path: &str) -> Option<String> {
    fs_err::read_to_string(path)
        .ok()
        .map(|text| text.trim().to_owned())
}

fn system() -> Finding {
    let release = read("/etc/os-release").unwrap_or_default();
    let name = release
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))
        .map(|name| name.trim_matches('"'));
    Finding::new("system", Mark::Note, name.unwrap_or("Linux"))
}

fn kernel() -> Finding {
    Finding::new(
        "kernel",
        Mark::Note,
        read("/proc/sys/kernel/osrelease").unwrap_or_else(|| "unknown".to_owned()),
    )
}

fn cpu(survey: &Survey) -> Finding {
    match survey.simd {
        "sse2" => Finding::new("CPU", Mark::Warn, format!("{}, no AVX2", survey.cpu)).hint(
            "candidates with AVX2 or AVX-512 code crash here; use a newer CPU to judge those",
        ),
        simd => Finding::new("CPU", Mark::Ok, format!("{}, {simd}", survey.cpu)),
    }
}

fn cores(survey: &Survey) -> Finding {
    let says = format!(
        "{} physical, {} logical may be used",
        survey.physical_cores, survey.logical_cores
    );
    if survey.physical_cores < 4 {
        let says = format!("{says}; compiling waits while a candidate is timed");
        return Finding::new("cores", Mark::Ok, says);
    }
    Finding::new("cores", Mark::Ok, says)
}

fn compiler(compiler: &CompilerSurvey, another: bool) -> Finding {
    let version = compiler
        .version
        .clone()
        .unwrap_or_else(|| "not found".to_owned());
    if compiler.ready {
        let openmp = compiler
            .openmp
            .as_ref()
            .and_then(|path| path.file_name())
            .map(|name| name.to_string_lossy().into_owned());
        let says = format!(
            "{version}, OpenMP by {}, prelude precompiled",
            openmp.unwrap_or_default()
        );
        return Finding::new(compiler.name, Mark::Ok, says);
    }
    // One compiler is enough.
    let mark = if another { Mark::Missing } else { Mark::Needed };
    let problem = compiler.problem.clone().unwrap_or_default();
    let says = if compiler.version.is_some() {
        format!("{version}: {problem}")
    } else {
        problem
    };
    let finding = Finding::new(compiler.name, mark, says.lines().next().unwrap_or_default());
    match &compiler.hint {
        Some(hint) => finding.hint(hint),
        None => finding,
    }
}

fn openblas(survey: &Survey) -> Finding {
    match &survey.openblas {
        Some(found) if found.corrected => Finding::new(
            "OpenBLAS",
            Mark::Ok,
            format!(
                "{} as {} (its own choice is {}, which is corrected)",
                found.path.display(),
                found.core,
                found.detected
            ),
        ),
        Some(found) => Finding::new(
            "OpenBLAS",
            Mark::Ok,
            format!("{} as {}", found.path.display(), found.core),
        ),
        None => Finding::new(
            "OpenBLAS",
            Mark::Missing,
            "not found: verdicts have no ratio against it",
        )
        .hint("apt-get install -y libopenblas0-pthread, or set HOTLOOP_OPENBLAS to the library"),
    }
}

/// What judging CUDA needs. Without it the other tasks are judged all the same.
fn cuda(cuda: &CudaSurvey) -> [Finding; 3] {
    let tried = |about: &'static str, offer: &Offer, otherwise: &str| {
        let first = offer.says.lines().next().unwrap_or_default();
        if offer.ready {
            return Finding::new(about, Mark::Ok, first);
        }
        let finding = Finding::new(about, Mark::Missing, format!("{first}: {otherwise}"));
        match &offer.hint {
            Some(hint) => finding.hint(hint),
            None => finding,
        }
    };
    [
        tried(
            "CUDA code",
            &cuda.compiler,
            "tasks in CUDA cannot be judged",
        ),
        tried(
            "CUDA host",
            &cuda.recorder,
            "tasks in CUDA cannot be judged",
        ),
        if cuda.compiler.ready {
            tried(
                "CUDA runs",
                &cuda.gpu,
                "candidates in CUDA are compiled and planned here, and not timed",
            )
        } else {
            Finding::new("CUDA runs", Mark::Note, "not tried without a compiler")
        },
    ]
}

/// Judging tasks does not need torch.
fn torch() -> Finding {
    match TorchPython::find(None) {
        Ok(python) => {
            let says = format!("{} in {}", python.torch, python.path.display());
            Finding::new("torch", Mark::Ok, says)
        }
        Err(error) => Finding::new(
            "torch",
            Mark::Note,
            format!("{}: only problems of KernelBench need it", error.what),
        ),
    }
}

/// Judging C does not need a GPU.
fn gpu() -> Finding {
    if hotloop_policy::cuda::available() {
        return Finding::new("GPU", Mark::Ok, "models run on it");
    }
    match hotloop_policy::cuda::hindrance() {
        Some(missing) => Finding::new("GPU", Mark::Warn, "there is one, but models run on the CPU")
            .hint(missing.to_string()),
        None => Finding::new(
            "GPU",
            Mark::Note,
            "none that can be used: models run on the CPU",
        ),
    }
}

fn sandbox(survey: &Survey) -> Vec<Finding> {
    let layers = &survey.layers;
    let seccomp = if layers.seccomp {
        Finding::new("seccomp", Mark::Ok, "system calls are filtered")
    } else {
        Finding::new(
            "seccomp",
            Mark::Needed,
            "not available: without it no candidate runs",
        )
        .hint("use a kernel with CONFIG_SECCOMP_FILTER, or a container that allows seccomp")
    };
    let landlock = match layers.landlock {
        Some(version) => Finding::new(
            "Landlock",
            Mark::Ok,
            format!("version {version}: rules close files"),
        ),
        None => Finding::new(
            "Landlock",
            Mark::Missing,
            "a second seccomp filter closes files instead",
        )
        .hint("use Linux 5.13 or newer and boot with landlock in lsm="),
    };
    let namespaces = if layers.namespaces {
        Finding::new(
            "namespaces",
            Mark::Ok,
            "candidates get their own user and IPC namespaces",
        )
    } else {
        Finding::new(
            "namespaces",
            Mark::Missing,
            "the limit on threads counts the whole user \
            instead",
        )
        .hint(
            "sysctl -w kernel.unprivileged_userns_clone=1, or allow user namespaces in the \
                container",
        )
    };
    let root = if layers.drops_root {
        Finding::new(
            "user",
            Mark::Ok,
            "root: candidates and compilers run as unprivileged users",
        )
    } else {
        Finding::new(
            "user",
            Mark::Ok,
            "unprivileged; no control groups or other rights are needed",
        )
    };
    vec![seccomp, landlock, namespaces, watch(layers), root]
}

fn watch(layers: &Layers) -> Finding {
    if layers.watch {
        let what = "where a stage forbids something, candidates are looked at as they run";
        return Finding::new("watch", Mark::Ok, what);
    }
    let what = "nobody finds machine code that candidates hide within instructions";
    Finding::new("watch", Mark::Missing, what).hint(
        "sysctl -w kernel.yama.ptrace_scope=1, give the container the capability SYS_PTRACE, or \
         do not run as root",
    )
}

fn huge_pages() -> Option<Finding> {
    let text = read("/sys/kernel/mm/transparent_hugepage/enabled")?;
    let chosen = text
        .split(['[', ']'])
        .nth(1)
        .unwrap_or("unknown")
        .to_owned();
    Some(Finding::new(
        "huge pages",
        Mark::Note,
        format!("transparent: {chosen}"),
    ))
}

fn governor() -> Option<Finding> {
    let governor = read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")?;
    if governor == "performance" {
        return Some(Finding::new("governor", Mark::Ok, governor));
    }
    Some(
        Finding::new(
            "governor",
            Mark::Warn,
            format!("{governor}: clocks change while candidates are timed"),
        )
        .hint("cpupower frequency-set -g performance"),
    )
}

fn load(survey: &Survey) -> Option<Finding> {
    let text = read("/proc/loadavg")?;
    let load: f64 = text.split_whitespace().next()?.parse().ok()?;
    let says = format!(
        "{load:.2} on {}",
        output::count(survey.logical_cores, "core")
    );
    if load > 0.5 * survey.logical_cores as f64 {
        return Some(
            Finding::new("load", Mark::Warn, says)
                .hint("stop other work while candidates are timed"),
        );
    }
    Some(Finding::new("load", Mark::Ok, says))
}

/// Measures with one thread, and with all if there are more.
fn measure(survey: &Survey, compiler: Option<&'static str>) -> Vec<Result<Noise, BenchError>> {
    let all = survey.physical_cores as u32;
    let threads = if all > 1 { vec![1, all] } else { vec![1] };
    let measure = |threads: u32| {
        let mut settings = crate::settings::own()
            .map_err(|_| BenchError::machine("this program's own file cannot be found"))?;
        if compiler == Some("clang") {
            settings.how.compiler = hotloop_flow::how::Compiler::Clang;
        }
        settings.how.threads = threads;
        hotloop_bench::survey::noise(settings, TIMES)
    };
    threads.into_iter().map(measure).collect()
}

fn is_quiet(noise: &Noise) -> bool {
    noise.calm >= CALM_SHARE && noise.peak_cv <= PEAK_CV
}

fn noise_findings(measured: &[Result<Noise, BenchError>]) -> Vec<Finding> {
    let one = |measured: &Result<Noise, BenchError>| match measured {
        Ok(noise) => {
            let says = format!(
                "{}: peak {:.1} GFLOPS (varies {}), empty run {}, calm {}",
                output::count(noise.threads as usize, "thread"),
                noise.peak_flops / 1e9,
                percent(noise.peak_cv),
                output::seconds(noise.null_s),
                percent(noise.calm),
            );
            if is_quiet(noise) {
                Finding::new("timing", Mark::Ok, format!("{says}: quiet"))
            } else {
                Finding::new("timing", Mark::Warn, format!("{says}: noisy"))
                    .hint("stop other work; on a shared host judge when neighbours are calm")
            }
        }
        Err(error) => {
            let finding = Finding::new(
                "timing",
                Mark::Warn,
                error.what.lines().next().unwrap_or_default(),
            );
            match &error.hint {
                Some(hint) => finding.hint(hint),
                None => finding,
            }
        }
    };
    measured.iter().map(one).collect()
}
