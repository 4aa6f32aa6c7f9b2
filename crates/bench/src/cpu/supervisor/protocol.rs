//! What the bench asks a supervisor, and what it answers: one JSON object a line.

use std::path::PathBuf;

use hotloop_flow::Timing;
use hotloop_flow::how::{Check, Estimator};
use hotloop_flow::task::TaskSpec;
use hotloop_flow::verdict::{Checks, Mismatch};
use serde::{Deserialize, Serialize};

use crate::sandbox::rights::OwnThreads;

/// The variable that tells a supervisor its cores, the first being its own.
pub(crate) const CORES: &str = "HOTLOOP_SLOT_CORES";

/// Problems that are drawn for a candidate, where its task draws any: so many that few mistakes of one remainder pass.
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
    /// The task.
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
    /// Runs at most, the warm-up not counted.
    pub(crate) runs: u32,
    /// Calls per run at least: 1, or those of a timing that it is to stand beside. How many sets of buffers a run goes
    /// through decides which cache holds them.
    pub(crate) calls: u32,
    /// Rounds of samples at most, if they are gated.
    pub(crate) rounds: u32,
    /// The gated estimator samples until enough samples are quiet.
    pub(crate) timing: Estimator,
    /// Whether memory is the task's roof, so that memory must be quiet too.
    pub(crate) memory_bound: bool,
    /// Whether every run is verified. Only the bench's own roof kernels are not.
    pub(crate) verified: bool,
}

/// What came of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Answer {
    /// Everything was right.
    Verified(Checks),
    /// Everything was right, and timed.
    Timed {
        /// Both checks over all runs.
        checks: Checks,
        /// Both estimators.
        timing: Timing,
        /// Seconds of one call on its own, at its fastest, the null round trip taken off.
        single_s: f64,
    },
    /// Seconds of the null round trip: a low quantile.
    Null(f64),
    /// It ended its process, in words.
    Crashed(String),
    /// It did not stop within the limit.
    TimedOut(f64),
    /// It left something wrong.
    Wrong(Mismatch),
    /// Something from outside killed it.
    Killed,
    /// The task's own code cannot be used.
    Task(String),
    /// The machine failed; nothing is known of the candidate.
    Machine(String),
}
