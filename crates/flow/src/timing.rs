//! The timing of a candidate: its samples and their statistics.

use serde::{Deserialize, Serialize};

/// The timing of one candidate, by both estimators.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Seconds per call by the gated estimator: the fastest of the verified samples, because a
    /// machine only adds time.
    pub min_s: f64,
    /// Median seconds per call of the kept samples, or of all samples if too few were kept.
    pub median_s: f64,
    /// Seconds per call by the paper's estimator: the mean of three runs after one warm-up.
    pub paper_s: f64,
    /// Coefficient of variation of the samples behind the median.
    pub cv: f64,
    /// Runs that were timed.
    pub samples: u32,
    /// Timed runs with quiet probes before and after.
    pub kept: u32,
    /// Whether enough samples were kept to trust that the machine was undisturbed during the
    /// fastest.
    pub quiet: bool,
    /// Calls per run, each with its own inputs.
    pub calls: u32,
    /// OpenMP threads, if a CPU ran it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
}

impl Timing {
    /// A timing without variation, for fake benches.
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
