//! `hotloop bench`: measurements of the bench itself.

mod aa;
mod plain;
mod throughput;
mod variants;

use std::sync::Arc;

use hotloop_flow::{Candidate, Job, JobId, Task};

use crate::cli::{BenchArgs, BenchCommand};
use crate::failure::{Failure, Status};

/// Does what was asked for.
pub(crate) fn run(arguments: &BenchArgs) -> Result<Status, Failure> {
    match &arguments.command {
        BenchCommand::Throughput { count, json } => throughput::run(*count as usize, *json),
        BenchCommand::Aa { count, json } => aa::run(*count, *json),
    }
}

/// The task that the bench is measured with.
fn matmul() -> Result<Arc<Task>, Failure> {
    Ok(Arc::new(crate::cmd::judge::load("matmul")?))
}

/// A job for one of our own candidates.
fn job(task: &Arc<Task>, source: &str) -> Result<Job, Failure> {
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
