//! The entropic objective of Yuksekgonul et al., "Learning to Discover at Test Time"
//! (TTT-Discover, arXiv 2601.16175).
//!
//! It maximises `log E[exp(beta R)]`, which goes from the mean to the maximum as beta grows. The
//! advantage of an answer is its weight `exp(beta R) / E[exp(beta R)]` minus 1. Each group gets the
//! beta at which the weighted answers are `kl` nats away from the unweighted ones. So neither the
//! scale of rewards nor a single high one decides how sharp the weights are.

/// Beta is at most this many times the inverse of the spread. Then all weight is on the best.
const SHARPEST: f64 = 1e4;
/// Halvings until beta is known to far less than a percent.
const HALVINGS: u32 = 60;

/// The advantages: weights minus 1. They add up to zero. Where no beta reaches `kl`, because too
/// many answers share the best reward, all weight is on the best.
pub(super) fn advantages(rewards: &[f64], kl: f64) -> Vec<f64> {
    let count = rewards.len() as f64;
    let weights = weights(rewards, beta(rewards, kl));
    weights.into_iter().map(|w| w * count - 1.0).collect()
}

/// The beta at which the weights are `kl` nats from uniform. The divergence grows with beta.
fn beta(rewards: &[f64], kl: f64) -> f64 {
    let least = rewards.iter().copied().fold(f64::INFINITY, f64::min);
    let most = rewards.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut low, mut high) = (0.0, SHARPEST / (most - least));
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if divergence(&weights(rewards, middle)) < kl {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// The softmax of `beta R`.
fn weights(rewards: &[f64], beta: f64) -> Vec<f64> {
    let most = rewards.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Relative to the greatest, so that nothing overflows.
    let raised: Vec<f64> = rewards.iter().map(|r| (beta * (r - most)).exp()).collect();
    let sum: f64 = raised.iter().sum();
    raised.into_iter().map(|one| one / sum).collect()
}

/// The KL divergence of weights from uniform ones, in nats.
fn divergence(weights: &[f64]) -> f64 {
    let count = weights.len() as f64;
    let term = |w: &f64| if *w > 0.0 { w * (w * count).ln() } else { 0.0 };
    weights.iter().map(term).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn beta_spends_the_budget() {
        // Two answers, weights 3/4 and 1/4: KL = 3/4 ln(3/2) + 1/4 ln(1/2) = 0.304099 - 0.173287
        // = 0.130812. The rewards differ by 1, so e^beta = 3 and beta = ln 3.
        let kl = 0.75 * 1.5f64.ln() + 0.25 * 0.5f64.ln();
        assert!((beta(&[1.0, 2.0], kl) - 3.0f64.ln()).abs() < 1e-9);
        // 2 x 3/4 - 1 = 1/2 and 2 x 1/4 - 1 = -1/2.
        let got = advantages(&[2.0, 1.0], kl);
        assert!(
            (got[0] - 0.5).abs() < 1e-9 && (got[1] + 0.5).abs() < 1e-9,
            "{got:?}"
        );
    }

    #[test]
    fn scale_and_offset_of_rewards_change_nothing() {
        let one = advantages(&[0.0, 1.0, 4.0], 0.3);
        let other = advantages(&[-20.0, -10.0, 20.0], 0.3);
        for (a, b) in one.iter().zip(&other) {
            assert!((a - b).abs() < 1e-9, "{one:?} {other:?}");
        }
    }

    #[test]
    fn a_budget_out_of_reach_puts_all_weight_on_the_best() {
        // Two of four are the best: at most ln(4/2) = 0.69 nats, below 1. Each weighs 1/2, so
        // 4 x 1/2 - 1 = 1, and the others -1.
        let got = advantages(&[1.0, 7.0, 7.0, 2.0], 1.0);
        for (got, want) in got.iter().zip([-1.0, 1.0, 1.0, -1.0]) {
            assert!((got - want).abs() < 1e-9, "{got}");
        }
    }

    proptest! {
        #[test]
        fn weights_are_as_far_from_uniform_as_the_budget(rewards in prop::collection::vec(-50.0..50.0f64, 4..40)) {
            prop_assume!(rewards.windows(2).any(|pair| (pair[0] - pair[1]).abs() > 1e-3));
            // One answer alone is the best, almost surely, so ln 2 is in reach.
            let kl = 2.0f64.ln();
            let spent = divergence(&weights(&rewards, beta(&rewards, kl)));
            prop_assert!((spent - kl).abs() < 1e-6, "{spent}");
        }
    }
}
