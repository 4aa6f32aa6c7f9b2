//! The printed result of one policy and one task.

use hotloop_run::{Evaluation, Scores};
use serde::Serialize;

use super::timing::Best;

/// How good one policy's answers to one task were.
#[derive(Debug, Serialize)]
pub(super) struct Line {
    pub(super) policy: String,
    pub(super) model: String,
    pub(super) adapter: Option<String>,
    pub(super) task: String,
    pub(super) temperature: f64,
    /// Answers to each stage's prompt.
    pub(super) count: u32,
    pub(super) stages: Vec<u8>,
    pub(super) opt: String,
    pub(super) threads: u32,
    /// The median of the seed's timings here, in the unit that `unit` names.
    pub(super) seed_speed: Option<f64>,
    /// Candidates that differ in more than white space and comments. Copies are judged once, so
    /// they share a timing.
    pub(super) distinct: usize,
    #[serde(flatten)]
    pub(super) evaluation: Evaluation,
    /// The same in the terms of papers on generated kernels.
    pub(super) scores: Scores,
    /// Tokens of all answers; 0 if an API does not report them.
    pub(super) tokens: usize,
    /// Seconds that the policy took to answer.
    pub(super) sampling_seconds: f64,
    /// Seconds that the bench took to judge.
    pub(super) judging_seconds: f64,
    pub(super) best: Option<Best>,
}
