//! The fastest candidate of a run.

use hotloop_flow::Verdict;

/// The fastest correct candidate so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    pub hash: String,
    /// Its speed in the task's unit.
    pub speed: f64,
    /// The step that found it.
    pub step: u64,
    /// How it fared.
    pub verdict: Verdict,
    /// How many fresh timings the median covers; 0 if the speed is the step's own timing.
    pub timings: usize,
}
