//! Judges answers: plans them, has the GPU bench run the plans, and compares with the real torch.

use std::path::Path;

use hotloop_flow::{BenchError, Device, MachineFacts, Verdict, count};

use super::answer::Answer;
use super::message::Facts;
use super::plan::{Compiled, ModulePlan};
use super::planner::{Outcome, Planner};
use super::runnable::{Runnable, runnable};
use super::worker::{Baselines, TorchPython};
use crate::cpu::machine::read_line;
use crate::gpu::examine::{Examiner, ModuleWork, TorchSite};
use crate::gpu::image::Image;
use crate::gpu::{resident, site};
use crate::settings::Settings;

/// How to judge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judging {
    /// Whether to time `torch.compile` as well.
    pub with_compiled: bool,
    /// Seconds that one call may take.
    pub limit_s: f64,
    /// Verified runs that are timed at least; with 0 the bench decides alone.
    pub runs: u32,
}

/// What became of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    pub verdict: Verdict,
    /// What torch takes for the problem; nothing if the answer never ran.
    pub torch: Option<Baselines>,
}

/// Judges answers on this machine. Without a GPU it still gives every verdict that needs none.
pub struct Judge {
    planner: Planner,
    examiner: Result<Examiner, BenchError>,
    python: Option<TorchPython>,
    how: Judging,
    images: Images,
}

/// Gives the images that a plan names.
pub(super) type Images = fn(&ModulePlan, &Runnable) -> Result<Vec<Image>, BenchError>;

impl Judge {
    /// Prepares this machine. `python` names the Python that has torch.
    pub fn open(
        settings: &Settings,
        python: Option<&Path>,
        how: Judging,
    ) -> Result<Self, BenchError> {
        let found = TorchPython::find(python);
        if python.is_some() {
            found.as_ref().map_err(Clone::clone)?;
        }
        let planner = Planner::open(settings)?;
        let examiner = planner.device_compiler().and_then(|compiler| {
            let torch = TorchSite {
                python: found.clone()?,
                device: "cuda".to_owned(),
            };
            site::examiner(settings, compiler, Some(torch))
        });
        Ok(Self {
            planner,
            examiner,
            python: found.ok(),
            how,
            images,
        })
    }

    /// A judge of other parts than this machine's own.
    pub(super) fn of(
        planner: Planner,
        examiner: Examiner,
        python: TorchPython,
        (how, images): (Judging, Images),
    ) -> Self {
        Self {
            planner,
            examiner: Ok(examiner),
            python: Some(python),
            how,
            images,
        }
    }

    /// The GPU that judges, if there is one.
    pub fn device(&self) -> Option<&Device> {
        let examiner = self.examiner.as_ref().ok()?;
        Some(&examiner.facts().device)
    }

    /// The machine that runs modules, or why this one cannot.
    pub fn facts(&self) -> Result<MachineFacts, BenchError> {
        let examiner = self.examiner.as_ref().map_err(Clone::clone)?;
        let device = examiner.facts().device.clone();
        let torch = self.torch().unwrap_or_default().to_owned();
        let compiler = match self.planner.compiler() {
            Compiled::By(version) => version,
            Compiled::Not(_) => String::new(),
        };
        let mut hasher = blake3::Hasher::new();
        let described = serde_json::to_string(&device).unwrap_or_default();
        for part in ["torch", &described, &compiler, &torch] {
            hasher.update(part.as_bytes());
            hasher.update(b"\0");
        }
        Ok(MachineFacts {
            class: hasher.finalize().to_hex()[..12].to_owned(),
            device,
            kernel: read_line("/proc/sys/kernel/osrelease"),
            compiler,
            libraries: [("torch".to_owned(), torch)].into(),
            sandbox: self.planner.sandbox().to_vec(),
        })
    }

    /// The version of torch that says what is right, if there is one.
    pub fn torch(&self) -> Option<&str> {
        self.python.as_ref().map(|python| python.torch.as_str())
    }

    /// Reads a problem; the inner error says why it cannot be read.
    pub fn problem(&self, source: &str) -> Result<Result<Facts, String>, BenchError> {
        self.planner.problem(source)
    }

    /// Judges an answer to a problem whose facts are known.
    pub fn judge(
        &mut self,
        problem: &str,
        facts: &Facts,
        answer: Answer<'_>,
    ) -> Result<Judged, BenchError> {
        let failed = |verdict| Ok(Judged::without_torch(verdict));
        let plan = match self.planner.plan(problem, facts, answer)? {
            Outcome::Planned(plan) => plan,
            Outcome::Failed(verdict) => return failed(verdict),
        };
        if let Some(how) = plan.failures.first() {
            let how = how.clone();
            return failed(Verdict::Crashed { how });
        }
        let examiner = self
            .examiner
            .as_mut()
            .map_err(|error| unrun(&plan, error))?;
        let runnable = runnable(&plan);
        let images = (self.images)(&plan, &runnable)?;
        let plans = std::slice::from_ref(&runnable.plan);
        let traits = site::traits(&examiner.facts().device);
        if let Some(how) = resident::refuse(plans, &images, &traits) {
            return failed(Verdict::Crashed { how });
        }
        let judged = examiner.judge_module(&work(problem, runnable, images, self.how))?;
        Ok(Judged {
            verdict: judged.answer.into(),
            torch: judged.torch,
        })
    }
}

impl Judged {
    fn without_torch(verdict: Verdict) -> Self {
        Self {
            verdict,
            torch: None,
        }
    }
}

/// What the examiner is asked.
fn work(problem: &str, runnable: Runnable, images: Vec<Image>, how: Judging) -> ModuleWork {
    ModuleWork {
        problem: problem.to_owned(),
        images,
        plan: runnable.plan,
        given: runnable.given,
        outputs: runnable.outputs,
        with_compiled: how.with_compiled,
        limit_s: how.limit_s,
        runs: how.runs,
    }
}

/// The images that a plan names. Where there is a GPU, there is a compiler.
fn images(plan: &ModulePlan, runnable: &Runnable) -> Result<Vec<Image>, BenchError> {
    let image = |extension: &usize| plan.devices.get(*extension)?.image.clone();
    let images = runnable.extensions.iter().map(image);
    images
        .collect::<Option<Vec<Image>>>()
        .ok_or_else(|| BenchError::machine("the code for the GPU was not compiled"))
}

/// The error for an answer that passed everything that needs no GPU.
fn unrun(plan: &ModulePlan, error: &BenchError) -> BenchError {
    let compiled = match &plan.compiled {
        Compiled::By(_) => "it compiles",
        Compiled::Not(_) => "its host code compiles",
    };
    BenchError {
        what: format!(
            "{compiled}, and one call makes {}, but it cannot run here: {}",
            count(plan.launches(), "launch"),
            error.what
        ),
        ..error.clone()
    }
}
