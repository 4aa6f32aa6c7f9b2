//! The task and the jobs that measure the bench.

use std::sync::Arc;

use hotloop_flow::{Candidate, Job, JobId, Task};

use crate::failure::Failure;

pub(super) fn matmul() -> Result<Arc<Task>, Failure> {
    Ok(Arc::new(crate::cmd::judge::load("matmul")?))
}

/// A job for one of the built-in candidates.
pub(super) fn job(task: &Arc<Task>, source: &str) -> Result<Job, Failure> {
    let candidate = Candidate::from_source(source.as_bytes(), task).map_err(|malformed| {
        Failure::machine(format!("a built-in candidate is malformed: {malformed}"))
    })?;
    Ok(Job {
        id: JobId(0),
        task: Arc::clone(task),
        candidate,
        stage: None,
    })
}
