//! A task's seed as a candidate. Rewards are relative to it. If a machine cannot judge the seed,
//! its failures on other candidates are the machine's fault.

use std::sync::Arc;

use crate::bench::{Job, JobId};
use crate::candidate::Candidate;
use crate::measured::Measured;
use crate::task::Task;
use crate::verdict::{Label, Verdict};

/// The seed is not correct, so nothing can be compared with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the seed of {task} is {label} on this machine: {detail}")]
pub struct SeedError {
    /// The task's name.
    pub task: String,
    /// The seed's verdict.
    pub label: Label,
    /// The verdict's detail.
    pub detail: String,
}

/// The seed as a candidate.
pub fn candidate(task: &Task) -> Result<Candidate, SeedError> {
    Candidate::from_source(task.seed.as_bytes(), task).map_err(|malformed| SeedError {
        task: task.spec.name.clone(),
        label: Label::Malformed,
        detail: malformed.why,
    })
}

/// The job to judge the seed, without the rules of a stage.
pub fn job(id: JobId, task: &Arc<Task>) -> Result<Job, SeedError> {
    Ok(Job {
        id,
        task: Arc::clone(task),
        candidate: candidate(task)?,
        stage: None,
    })
}

/// The seed's measurements, which rewards and speeds are relative to.
pub fn measured<'a>(task: &Task, verdict: &'a Verdict) -> Result<&'a Measured, SeedError> {
    verdict.correct().ok_or_else(|| SeedError {
        task: task.spec.name.clone(),
        label: verdict.label(),
        detail: verdict.detail(),
    })
}
