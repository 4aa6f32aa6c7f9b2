//! What the examiner is asked, and what it answers.

use hotloop_flow::machine::Device;
use hotloop_flow::task::TaskSpec;
use hotloop_flow::verdict::{Measured, Mismatch, Phase};
use hotloop_flow::{How, Verdict};
use serde::{Deserialize, Serialize};

use crate::gpu::call::Call;
use crate::gpu::image::Image;
use crate::gpu::plan::Plan;

/// A candidate to judge, compiled and recorded.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Work {
    pub(crate) task: TaskSpec,
    pub(crate) reference: Trusted,
    /// The candidate's device half.
    pub(crate) candidate: Image,
    /// The calls; the last one is timed.
    pub(crate) calls: Vec<Call>,
    /// The candidate's plan of each call.
    pub(crate) plans: Vec<Plan>,
    pub(crate) how: How,
    /// Seconds that one call may take.
    pub(crate) limit_s: f64,
}

/// A task's reference, compiled and recorded.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Trusted {
    pub(crate) image: Image,
    /// `reference` for each call.
    pub(crate) reference: Vec<Plan>,
    /// `check` for each call, if the task is verified by a projection.
    pub(crate) check: Option<Vec<Plan>>,
}

/// What became of a candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Answer {
    Correct(Measured),
    /// Right, and faster than can be, three times.
    Suspect {
        why: String,
        measured: Measured,
    },
    Wrong(Mismatch),
    /// With the driver's name of the error.
    Crashed(String),
    /// It did not end within so many seconds.
    TimedOut(f64),
    /// Host code and device code do not fit together.
    Refused(String),
}

impl From<Answer> for Verdict {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Correct(measured) => Self::Correct(measured),
            Answer::Suspect { why, measured } => Self::Suspect { why, measured },
            Answer::Wrong(mismatch) => Self::Wrong(mismatch),
            Answer::Crashed(how) => Self::Crashed { how },
            Answer::TimedOut(limit_s) => Self::TimedOut {
                limit_s,
                during: Phase::Run,
            },
            Answer::Refused(why) => Self::Refused { why },
        }
    }
}

/// A request to the examiner's process.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Request {
    /// To open the GPU. The message carries the trusted kernels.
    Open(Opening),
    /// The message carries the code of the reference and of the candidate.
    Judge(Box<Work>),
}

/// How to open the GPU.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Opening {
    /// Whether runners close their system calls.
    pub(super) seccomp: bool,
    /// Runners that wait for another's death.
    pub(super) spares: u32,
}

/// The examiner's answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Reply {
    Opened(GpuFacts),
    Judged(Answer),
    /// The task's own code cannot be used.
    Task(String),
    /// The machine failed, and nothing is known about the candidate.
    Machine(String),
}

/// The GPU that judges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct GpuFacts {
    pub(crate) device: Device,
    /// Processes of others that use the GPU now; `None` if nobody can say.
    pub(crate) others: Option<u32>,
    /// Versions of the libraries that baselines call.
    pub(crate) cublas: Option<String>,
}

/// Why there is no answer about the candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The task's own code cannot be used.
    Task(String),
    /// The machine failed.
    Machine(String),
}

impl From<crate::gpu::driver::Failure> for Trouble {
    /// In the examiner's own context a failure is never the candidate's.
    fn from(failure: crate::gpu::driver::Failure) -> Self {
        Self::Machine(format!("the GPU failed the examiner: {failure}"))
    }
}
