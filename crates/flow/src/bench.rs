//! The trait of a bench, which judges candidates and replies in the order in which they finish.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::candidate::Candidate;
use crate::error::BenchError;
use crate::language::Language;
use crate::machine::MachineFacts;
use crate::measured::Measured;
use crate::stage::{Rules, Stage, StageError};
use crate::task::Task;
use crate::verdict::Verdict;

/// Names a job within one bench.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JobId(pub u64);

/// A candidate to judge.
#[derive(Debug, Clone)]
pub struct Job {
    /// The submitter's name for it.
    pub id: JobId,
    pub task: Arc<Task>,
    pub candidate: Candidate,
    /// The stage it was asked for; its forbidden techniques are refused.
    pub stage: Option<Stage>,
}

/// Identifies a job. Jobs with equal keys get one verdict.
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

    /// The rules of the stage, if the job has one.
    pub fn rules(&self) -> Result<Option<Rules<'_>>, StageError> {
        let stages = &self.task.spec.stages;
        self.stage.map(|stage| stages.get(stage)).transpose()
    }

    /// Checks that the job can be judged: this version supports the task's language, and the task
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

/// A candidate's verdict and the time it took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    pub verdict: Verdict,
    /// Where the time went.
    pub seconds: Seconds,
}

impl Judgement {
    /// The judgement itself, or the machine's failure if it contains a number that no machine can
    /// have measured.
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
    /// From submission to verdict, including waiting.
    pub total: f64,
}

/// The bench's answer to one job: a judgement, or the machine's failure to reach one.
#[derive(Debug)]
pub struct Reply {
    pub id: JobId,
    /// An error never becomes a reward.
    pub judged: Result<Judgement, BenchError>,
}

/// Something that judges candidates. Replies come in the order in which jobs finish.
pub trait Bench {
    /// Takes jobs. Identical candidates among them are judged once. The jobs of one call are a
    /// group, which a bench of several machines judges on one machine.
    fn submit(&mut self, jobs: Vec<Job>) -> Result<(), BenchError>;
    /// The next reply, or `None` if none arrives within `timeout`.
    fn next(&mut self, timeout: Duration) -> Result<Option<Reply>, BenchError>;
    /// Cancels jobs that have not finished. They get no reply.
    fn cancel(&mut self, ids: &[JobId]);
    /// The machine that judges.
    fn facts(&self) -> MachineFacts;
    /// What can be said about a job's candidate without running it, for prompts. No verdict and no
    /// reward depends on it. `None` from a bench that takes no profiles.
    fn profile(&mut self, job: &Job) -> Result<Option<String>, BenchError> {
        let _ = job;
        Ok(None)
    }
    /// The machine that judges candidates in `language`, if that is another one.
    fn facts_of(&self, _language: Language) -> MachineFacts {
        self.facts()
    }
}
