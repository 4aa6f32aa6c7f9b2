//! `hotloop bench`: measurements of the bench itself.

mod aa;
mod clients;
mod fleet;
mod plain;
mod serve;
mod threads;
mod throughput;
mod variants;

use std::sync::Arc;

use flow::{Candidate, Job, JobId, Task};

use crate::cli::{BenchArgs, BenchCommand};
use crate::failure::{Failure, Status};

/// Does what was asked for.
pub(crate) fn run(arguments: &BenchArgs) -> Result<Status, Failure> {
    match &arguments.command {
        BenchCommand::Throughput { count, json } => throughput::run(*count as usize, *json),
        BenchCommand::Aa { count, json } => aa::run(*count, *json),
        BenchCommand::Fleet { count, seconds, large, server, json } => {
            fleet::run(*count, *seconds, *large, server.as_deref(), *json)
        }
        BenchCommand::Serve { count, connections, json } => serve::run(*count as usize, *connections as usize, *json),
        BenchCommand::Threads { threads, count, json } => threads::run(threads, *count, *json),
    }
}

/// The task that the bench is measured with.
fn matmul() -> Result<Arc<Task>, Failure> {
    Ok(Arc::new(crate::cmd::judge::load("matmul")?))
}

/// A job for one of our own candidates.
fn job(task: &Arc<Task>, source: &str) -> Result<Job, Failure> {
    let candidate = Candidate::from_source(source.as_bytes(), task)
        .map_err(|malformed| Failure::machine(format!("a built-in candidate is malformed: {malformed}")))?;
    Ok(Job { id: JobId(0), task: Arc::clone(task), candidate, stage: None })
}

/// The mean.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The middle value.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        length if length % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// Standard deviation relative to the mean; 0 for fewer than two values.
pub(crate) fn variation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt() / mean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_and_the_variation_are_as_in_books() {
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < 1e-12);
        assert!((median(&[4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-12);
        assert!((variation(&[9.0, 10.0, 11.0]) - 0.1).abs() < 1e-12);
        assert!(variation(&[5.0]).abs() < 1e-12);
    }
}
