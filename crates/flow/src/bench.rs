//! What a bench is: something that judges candidates, in whatever order they finish.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::candidate::Candidate;
use crate::error::BenchError;
use crate::machine::MachineFacts;
use crate::measured::Measured;
use crate::stage::{Rules, Stage, StageError};
use crate::task::Task;
use crate::verdict::Verdict;

/// Names a job within one bench.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JobId(pub u64);

/// What is to be judged.
#[derive(Debug, Clone)]
pub struct Job {
    /// The submitter's name for it.
    pub id: JobId,
    /// The task.
    pub task: Arc<Task>,
    /// The candidate.
    pub candidate: Candidate,
    /// The stage it was asked for; its forbidden techniques are refused.
    pub stage: Option<Stage>,
}

/// What makes two jobs the same: they get one verdict.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobKey {
    /// The task's hash.
    pub task: String,
    /// The candidate's hash.
    pub candidate: String,
    pub stage: Option<Stage>,
}

impl Job {
    pub fn key(&self) -> JobKey {
        JobKey {
            task: self.task.hash.clone(),
            candidate: self.candidate.hash().to_owned(),
            stage: self.stage,
        }
    }

    /// What the stage says, where one was asked for.
    pub fn rules(&self) -> Result<Option<Rules<'_>>, StageError> {
        let stages = &self.task.spec.stages;
        self.stage.map(|stage| stages.get(stage)).transpose()
    }

    /// Whether the job can be judged at all: this version knows the task's language, and the task
    /// has the stage.
    pub fn check(&self) -> Result<(), BenchError> {
        let spec = &self.task.spec;
        let refused = |why: String| BenchError::user(format!("task {}: {why}", spec.name));
        let supported = spec.language.supported();
        supported.map_err(|error| refused(error.to_string()))?;
        self.rules().map_err(|error| refused(error.to_string()))?;
        Ok(())
    }
}

/// A candidate's verdict and what reaching it took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// How it fared.
    pub verdict: Verdict,
    /// Where the time went.
    pub seconds: Seconds,
}

impl Judgement {
    /// Itself, unless it holds a number that no machine can have measured: that is the machine's
    /// failure.
    pub fn believable(self) -> Result<Self, BenchError> {
        let Seconds {
            compile,
            run,
            total,
        } = self.seconds;
        let is_spent = |value: f64| value.is_finite() && value >= 0.0;
        let mistake = match self.verdict.measured().and_then(Measured::mistake) {
            None if ![compile, run, total].into_iter().all(is_spent) => Some("seconds spent"),
            mistake => mistake,
        };
        match mistake {
            None => Ok(self),
            Some(what) => Err(BenchError::machine(format!(
                "a measurement is not a number that a machine can measure: its {what}"
            ))),
        }
    }
}

/// Seconds spent on one candidate.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Seconds {
    /// Screening and compiling.
    pub compile: f64,
    /// Verifying and timing.
    pub run: f64,
    /// From submission to verdict, waiting included.
    pub total: f64,
}

/// The bench's answer to one job: a judgement, or the machine's failure to reach one.
#[derive(Debug)]
pub struct Reply {
    /// The job.
    pub id: JobId,
    /// Never turned into a reward when it is an error.
    pub judged: Result<Judgement, BenchError>,
}

/// Something that judges candidates. Replies come in the order in which jobs finish.
pub trait Bench {
    /// Takes jobs; identical candidates among them are judged once. Those of one call are a group:
    /// a bench of several machines judges them on one.
    fn submit(&mut self, jobs: Vec<Job>) -> Result<(), BenchError>;
    /// The next reply, or `None` when none came within `timeout`.
    fn next(&mut self, timeout: Duration) -> Result<Option<Reply>, BenchError>;
    /// Forgets jobs that have not finished; their replies do not come.
    fn cancel(&mut self, ids: &[JobId]);
    /// The machine that judges.
    fn facts(&self) -> MachineFacts;
}
