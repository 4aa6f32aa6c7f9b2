//! The interface for running workers, and their command line.

use std::time::Duration;

use hotloop_flow::BenchError;

use crate::config::Config;
use crate::site::quote;

/// Runs workers, each with an id.
pub(super) trait Launcher {
    /// Starts the worker of a place and returns its id.
    fn start(&mut self, place: usize) -> Result<String, BenchError>;
    /// The ids among these whose workers are alive or will be.
    fn living(&mut self, ids: &[String]) -> Result<Vec<String>, BenchError>;
    /// Tells a worker to finish.
    fn stop(&mut self, id: &str) -> Result<(), BenchError>;
    /// Waits until the stopped workers have finished.
    fn finish(&mut self, patience: Duration);
    /// Removes what starting workers left elsewhere; gives what cannot be removed, in words.
    fn clean(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// A worker's command line, as words.
pub(super) fn command(config: &Config, program: &str, access: &str) -> Vec<String> {
    let worker = &config.worker;
    let mut words: Vec<String> = [program, "worker", "--access", access]
        .map(str::to_owned)
        .to_vec();
    let options = [
        ("--slots", worker.slots.to_string()),
        ("--lease", worker.lease.to_string()),
        ("--deliveries", worker.deliveries.to_string()),
        ("--calm", worker.calm.to_string()),
        ("--grace", worker.grace.to_string()),
    ];
    words.extend(
        options
            .into_iter()
            .flat_map(|(name, value)| [name.to_owned(), value]),
    );
    if worker.share_cores {
        words.push("--share-cores".to_owned());
    }
    words.extend(worker.arguments.iter().cloned());
    words
}

/// Words as a line for a shell.
pub(super) fn line(words: &[String]) -> String {
    words
        .iter()
        .map(|word| quote(word))
        .collect::<Vec<_>>()
        .join(" ")
}
