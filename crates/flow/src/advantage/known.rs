//! The unmasked members of a group, as the estimators see them.

/// An unmasked member.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub(super) reward: f64,
    /// What it counts: a share of 1 among copies where copies share, otherwise 1.
    pub(super) share: f64,
    pub(super) speed: Option<f64>,
}

/// The mean and the standard deviation of the rewards.
pub(super) fn spread(known: &[Known]) -> (f64, f64) {
    let count: f64 = known.iter().map(|one| one.share).sum();
    let mean_of = |of: &dyn Fn(f64) -> f64| {
        let sum: f64 = known.iter().map(|one| one.share * of(one.reward)).sum();
        if known.is_empty() { 0.0 } else { sum / count }
    };
    let mean = mean_of(&|reward| reward);
    (mean, mean_of(&|reward| (reward - mean).powi(2)).sqrt())
}
