//! One problem's result, as a file keeps it.

use hotloop_bench::torch::{Baselines, Measured, Times, WorkerFacts};
use serde::{Deserialize, Serialize};

use crate::cli::torch::TorchArgs;
use crate::cmd::bench::problems::Named;

/// What was measured, of what, and where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) task: String,
    /// BLAKE3 of the problem's text.
    source: String,
    seed: u64,
    /// Whether `torch.compile` was asked for.
    with_compiled: bool,
    #[serde(flatten)]
    machine: WorkerFacts,
    #[serde(flatten)]
    pub(super) baselines: Option<Baselines>,
    /// Why nothing was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) why: Option<String>,
}

impl Record {
    /// A result that is still empty.
    pub(super) fn wanted(problem: &Named, facts: &WorkerFacts, arguments: &TorchArgs) -> Self {
        Self {
            task: problem.name.clone(),
            source: blake3::hash(problem.source.as_bytes()).to_hex().to_string(),
            seed: arguments.seed,
            with_compiled: !arguments.eager_only,
            machine: facts.clone(),
            baselines: None,
            why: None,
        }
    }

    /// Whether this is the result of what is wanted.
    pub(super) fn answers(&self, wanted: &Self) -> bool {
        let empty = Self {
            baselines: None,
            why: None,
            ..self.clone()
        };
        empty == *wanted
    }

    /// For example `kernelbench/1`; none for a file.
    pub(super) fn level(&self) -> Option<&str> {
        let (level, _) = self.task.rsplit_once('/')?;
        level.starts_with("kernelbench/").then_some(level)
    }

    /// Eager and compiled times, as far as there are any.
    pub(super) fn sides(&self) -> (Option<Times>, Option<Times>) {
        let Some(baselines) = &self.baselines else {
            return (None, None);
        };
        let compiled = baselines.compiled.as_ref();
        (
            baselines.eager.got().copied(),
            compiled.and_then(|part| part.got().copied()),
        )
    }

    /// Why parts were not measured.
    pub(super) fn reasons(&self) -> Vec<String> {
        let Some(baselines) = &self.baselines else {
            return Vec::new();
        };
        let compiled = baselines.compiled.as_ref();
        [
            why("eager", &baselines.eager),
            compiled.and_then(|part| why("compiled", part)),
            why("in doubles", &baselines.reference),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Why a part was not measured.
pub(super) fn why<T>(what: &str, part: &Measured<T>) -> Option<String> {
    match part {
        Measured::Got(_) => None,
        Measured::Failed { why } => Some(format!("{what}: {why}")),
    }
}
