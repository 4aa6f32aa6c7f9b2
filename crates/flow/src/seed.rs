//! A task's seed as a candidate: rewards are measured against it, and a machine that cannot judge
//! it is at fault where it fails on others.

use std::sync::Arc;

use crate::bench::{Job, JobId};
use crate::language::c::extract::Candidate;
use crate::measured::Measured;
use crate::task::Task;
use crate::verdict::{Label, Verdict};

/// A seed that is not correct, so that nothing can be measured against it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the seed of {task} is {label} on this machine: {detail}")]
pub struct SeedError {
    /// The task's name.
    pub task: String,
    /// How the seed fared.
    pub label: Label,
    /// What its verdict says.
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

/// The job that has the seed judged, under the rules of no stage.
pub fn job(id: JobId, task: &Arc<Task>) -> Result<Job, SeedError> {
    Ok(Job {
        id,
        task: Arc::clone(task),
        candidate: candidate(task)?,
        stage: None,
    })
}

/// What rewards and speeds are measured against, by the seed's verdict.
pub fn measured<'a>(task: &Task, verdict: &'a Verdict) -> Result<&'a Measured, SeedError> {
    verdict.correct().ok_or_else(|| SeedError {
        task: task.spec.name.clone(),
        label: verdict.label(),
        detail: verdict.detail(),
    })
}
