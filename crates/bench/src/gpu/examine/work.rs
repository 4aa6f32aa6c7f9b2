//! What the examiner judges, and what becomes of it.

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

/// Why there is no answer about the candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The task's own code cannot be used.
    Task(String),
    /// The machine failed.
    Machine(String),
    /// The GPU has too little memory, which may be the fault of what is judged.
    Memory(String),
}

impl From<crate::gpu::driver::Failure> for Trouble {
    /// In the examiner's own context a failure is never the candidate's.
    fn from(failure: crate::gpu::driver::Failure) -> Self {
        Self::Machine(format!("the GPU failed the examiner: {failure}"))
    }
}
