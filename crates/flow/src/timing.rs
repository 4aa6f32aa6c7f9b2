//! What the clock said: samples of one candidate and what they add up to.

use serde::{Deserialize, Serialize};

/// The timing of one candidate, by both estimators.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Seconds per call by the gated estimator: the fastest sample, each of which was verified. A
    /// machine only ever adds time.
    pub min_s: f64,
    /// Seconds per call in the middle: the median of the kept samples, or of all where too few were
    /// kept.
    pub median_s: f64,
    /// Seconds per call by the paper's estimator: the mean of three runs after one warm-up.
    pub paper_s: f64,
    /// Coefficient of variation of the samples that the median is of.
    pub cv: f64,
    /// Runs that were timed.
    pub samples: u32,
    /// Of these, runs with quiet probes on both sides.
    pub kept: u32,
    /// Whether enough samples were kept to believe that the fastest ran on a machine at its floor.
    pub quiet: bool,
    /// Calls per run, each on inputs of its own.
    pub calls: u32,
    /// OpenMP threads, where a CPU ran it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
}

impl Timing {
    /// The timing of a clock that always gives the same value: for benches that only pretend.
    pub fn steady(seconds: f64) -> Self {
        Self {
            min_s: seconds,
            median_s: seconds,
            paper_s: seconds,
            cv: 0.0,
            samples: 9,
            kept: 9,
            quiet: true,
            calls: 1,
            threads: Some(1),
        }
    }
}
