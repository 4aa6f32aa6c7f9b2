//! What the clock said: samples of one candidate and what they add up to.

use serde::{Deserialize, Serialize};

/// The timing of one candidate, by both estimators.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Seconds per call by the gated estimator: the median of the kept samples.
    pub median_s: f64,
    /// Seconds per call of the fastest sample.
    pub min_s: f64,
    /// Seconds per call by the paper's estimator: the mean of three runs after one warm-up.
    pub paper_s: f64,
    /// Coefficient of variation of the samples that the median rests on.
    pub cv: f64,
    /// Runs that were timed.
    pub samples: u32,
    /// Of these, runs with quiet probes on both sides.
    pub kept: u32,
    /// Whether enough samples were kept; if not, the median rests on all of them.
    pub quiet: bool,
    /// Calls per run, each on inputs of its own.
    pub calls: u32,
    /// OpenMP threads.
    pub threads: u32,
}
