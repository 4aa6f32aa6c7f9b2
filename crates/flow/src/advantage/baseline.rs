//! Estimators that compare each reward with a mean.

use super::known::{Known, spread};

/// Keeps eq. 1 finite. Small spreads are limited by the floor, not by this.
const EPSILON: f64 = 1e-6;

/// `(R - mean) / (std + eps)`, where the std is at least `floor` (Mikasa et al., eq. 1). Copies
/// share.
pub(super) fn divided(known: &[Known], floor: f64) -> Vec<f64> {
    let (mean, std) = spread(known);
    let divisor = std.max(floor) + EPSILON;
    let value = |one: &Known| (one.reward - mean) / divisor * one.share;
    known.iter().map(value).collect()
}

/// `R - mean` (Garg, Heo and Mou).
pub(super) fn mean_only(known: &[Known]) -> Vec<f64> {
    let (mean, _) = spread(known);
    known.iter().map(|one| one.reward - mean).collect()
}

/// `R` minus the mean of the others.
pub(super) fn leave_one_out(rewards: &[f64]) -> Vec<f64> {
    let count = rewards.len() as f64;
    let mean = rewards.iter().sum::<f64>() / count;
    // The mean of the others, without summing them again.
    let value = |reward: &f64| (reward - mean) * count / (count - 1.0);
    rewards.iter().map(value).collect()
}
