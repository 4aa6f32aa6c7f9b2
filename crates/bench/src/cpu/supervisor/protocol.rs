//! The protocol between the bench and a supervisor: one JSON object per line.

use std::path::PathBuf;

use hotloop_flow::Timing;
use hotloop_flow::how::{Check, Estimator};
use hotloop_flow::task::{CacheState, TaskSpec};
use hotloop_flow::verdict::{Checks, Mismatch};
use serde::{Deserialize, Serialize};

use crate::sandbox::rights::OwnThreads;

/// The environment variable with a supervisor's cores. The first is its own.
pub(crate) const CORES: &str = "HOTLOOP_SLOT_CORES";

/// Number of problems drawn for a candidate, if its task draws any. It is large enough that few
/// candidates with a mistake in one remainder pass.
pub(crate) const DRAWN: usize = 8;

/// One piece of work for a supervisor.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Request {
    /// The candidate's shared object.
    pub(crate) object: PathBuf,
    /// The object built from the task's `reference.c`; absent for the bench's own roofs.
    pub(crate) trusted: Option<PathBuf>,
    /// The library and the object built from the task's `baseline.c`.
    pub(crate) baseline: Option<(PathBuf, PathBuf)>,
    /// Libraries that the runner loads before it is confined.
    pub(crate) libraries: Vec<PathBuf>,
    /// Environment of the runner.
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) task: TaskSpec,
    /// OpenMP threads.
    pub(crate) threads: u32,
    /// Threads that the candidate makes by hand.
    pub(crate) own_threads: OwnThreads,
    /// The user that the runner becomes, when hotloop is root.
    pub(crate) user: Option<u32>,
    /// Whether Landlock closes files.
    pub(crate) landlock: bool,
    /// Whether namespaces are entered.
    pub(crate) namespaces: bool,
    /// The check that decides.
    pub(crate) check: Check,
    /// Seconds that one call may take.
    pub(crate) limit_s: f64,
    /// Seconds that a timed run on several threads lasts at least.
    pub(crate) team_run_s: f64,
    /// Whether the candidate may only execute instructions that were read, and is watched for it.
    pub(crate) watched: bool,
    /// What to do.
    pub(crate) work: Work,
}

/// What to do with a candidate.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Work {
    /// Run the timed size and all hidden sizes; no clock.
    Verify,
    /// Time it on this slot's cores.
    Time(TimeWork),
    /// Time the round trip alone: the object does nothing.
    Null,
}

/// How to time.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TimeWork {
    /// Seconds of the null round trip at equal threads.
    pub(crate) null_s: f64,
    /// Maximum number of runs, without the warm-up.
    pub(crate) runs: u32,
    /// Minimum number of calls per run: 1, or that of a timing to compare with. The number of
    /// buffer sets in a run decides which cache holds them.
    pub(crate) calls: u32,
    /// Maximum number of rounds of samples, if they are gated.
    pub(crate) rounds: u32,
    /// The estimator. The gated one samples until enough samples are quiet.
    pub(crate) timing: Estimator,
    /// Whether memory is the task's roof, so that memory must be quiet, too.
    pub(crate) memory_bound: bool,
    /// Whether every run is verified. Only the bench's own roof kernels are not.
    pub(crate) verified: bool,
}

/// The result of a request.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Answer {
    /// Everything was right.
    Verified(Checks),
    /// Everything was correct and timed.
    Timed {
        /// Both checks over all runs.
        checks: Checks,
        /// Both estimators.
        timing: Timing,
        /// The fastest seconds of a single call, without the null round trip.
        single_s: f64,
        /// The state of the caches when every run began.
        began: CacheState,
    },
    /// Seconds of the null round trip: a low quantile.
    Null(f64),
    /// Its process crashed or exited, in words.
    Crashed(String),
    /// It did not stop within the limit.
    TimedOut(f64),
    /// It executes what nobody has read.
    Strayed(Stray),
    /// Its outputs were wrong.
    Wrong(Mismatch),
    /// Something from outside killed it.
    Killed,
    /// The task's own code cannot be used.
    Task(String),
    /// The machine failed, and nothing is known about the candidate.
    Machine(String),
}

/// What a candidate executes besides its own instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Stray {
    /// What begins within an instruction.
    Within,
    /// The bench's own program.
    Bench,
}
