//! Turns the rewards of a group into advantages.
//!
//! A masked member (`None`) does not count and gets no advantage. Three kinds of groups carry no
//! gradient, and are counted by their reason:
//! - **dropped**: fewer than half of its members are unmasked;
//! - **dead**: all rewards are equal, so there is nothing to learn;
//! - **drowned**: the spread of rewards is below the timing noise, so the differences are chance.

use serde::{Deserialize, Serialize};

/// Keeps eq. 1 finite. Small spreads are limited by the floor, not by this.
const EPSILON: f64 = 1e-6;
/// The std is at least this many times the noise, because a difference as large as the noise means
/// nothing.
pub const NOISE_FACTOR: f64 = 3.0;

/// How advantages follow from a group's rewards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Advantage {
    /// Eq. 1 of Mikasa et al.: `(R - mean) / (std + eps)`, with a floor for the std.
    Std,
    /// Garg, Heo and Mou: `R - mean`.
    MeanOnly,
    /// `R` minus the mean of the others.
    LeaveOneOut,
    /// Like [`Advantage::Std`], but over distinct programs: copies share the advantage of one of
    /// them. So a frequent answer does not become more likely just because it is frequent.
    Shared,
}

/// What became of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It carries a gradient.
    Live,
    /// One distinct reward.
    Dead,
    /// The spread is below the noise.
    Drowned,
    /// Too many of its members are masked.
    Dropped,
}

/// The advantages of a group and their statistics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Advantages {
    /// In the group's order; `None` where there is nothing to learn.
    pub values: Vec<Option<f64>>,
    /// What became of the group.
    pub fate: Fate,
    /// Mean reward of the unmasked members; 0 if all are masked.
    pub mean: f64,
    /// Standard deviation of their rewards (the population formula).
    pub std: f64,
    /// The divisor without eps; only for [`Advantage::Std`] and [`Advantage::Shared`].
    pub divisor: Option<f64>,
}

impl Advantage {
    /// The advantages of a group. `copies` counts, for each member, the unmasked members with the
    /// same program, itself included. `floor` is the lower bound of the std, and `noise` the timing
    /// noise in reward units.
    pub fn of(self, rewards: &[Option<f64>], copies: &[u32], floor: f64, noise: f64) -> Advantages {
        let share = |copies: &u32| {
            if self == Self::Shared {
                1.0 / f64::from((*copies).max(1))
            } else {
                1.0
            }
        };
        let shares: Vec<f64> = copies.iter().map(share).collect();
        let known: Vec<(f64, f64)> = rewards
            .iter()
            .zip(&shares)
            .filter_map(|(reward, share)| Some(((*reward)?, *share)))
            .collect();
        let count = known.iter().map(|(_, share)| share).sum::<f64>();
        let mean_of = |of: &dyn Fn(f64) -> f64| {
            let sum = known
                .iter()
                .map(|(reward, share)| share * of(*reward))
                .sum::<f64>();
            if known.is_empty() { 0.0 } else { sum / count }
        };
        let mean = mean_of(&|reward| reward);
        let std = mean_of(&|reward| (reward - mean).powi(2)).sqrt();
        let fate = fate(&known, rewards.len(), std, noise);
        let divided = matches!(self, Self::Std | Self::Shared);
        let divisor = divided.then(|| std.max(floor).max(NOISE_FACTOR * noise));
        let of_one = |reward: f64| match self {
            Self::Std | Self::Shared => (reward - mean) / (divisor.unwrap_or(std) + EPSILON),
            Self::MeanOnly => reward - mean,
            // The mean of the others, without summing them again.
            Self::LeaveOneOut => (reward - mean) * count / (count - 1.0),
        };
        let value = |(reward, share): (&Option<f64>, &f64)| Some(of_one((*reward)?) * share);
        let is_live = fate == Fate::Live;
        let values = rewards
            .iter()
            .zip(&shares)
            .map(|member| value(member).filter(|_| is_live))
            .collect();
        Advantages {
            values,
            fate,
            mean,
            std,
            divisor,
        }
    }
}

fn fate(known: &[(f64, f64)], members: usize, std: f64, noise: f64) -> Fate {
    if known.len() * 2 < members || known.len() < 2 {
        Fate::Dropped
    } else if known
        .iter()
        .all(|(reward, _)| reward.total_cmp(&known[0].0).is_eq())
    {
        Fate::Dead
    } else if std < noise {
        Fate::Drowned
    } else {
        Fate::Live
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(advantage: Advantage, rewards: &[f64], floor: f64, noise: f64, expect: &[f64]) {
        let rewards: Vec<Option<f64>> = rewards.iter().copied().map(Some).collect();
        let advantages = advantage.of(&rewards, &vec![1; rewards.len()], floor, noise);
        assert_eq!(advantages.fate, Fate::Live);
        for (got, want) in advantages.values.iter().zip(expect) {
            assert!(
                (got.unwrap() - want).abs() < 1e-5,
                "{advantages:?} is not {expect:?}"
            );
        }
    }

    #[test]
    fn the_estimators_match_their_formulas() {
        // Mean 2.5, std of the group 1.5.
        check(Advantage::Std, &[1.0, 4.0], 0.0, 0.0, &[-1.0, 1.0]);
        check(Advantage::MeanOnly, &[1.0, 4.0], 0.0, 0.0, &[-1.5, 1.5]);
        check(
            Advantage::LeaveOneOut,
            &[1.0, 4.0, 7.0],
            0.0,
            0.0,
            &[-4.5, 0.0, 4.5],
        );
    }

    #[test]
    fn the_std_has_a_configured_floor_and_one_from_noise() {
        check(
            Advantage::Std,
            &[1.0, 1.2],
            0.3,
            0.0,
            &[-1.0 / 3.0, 1.0 / 3.0],
        );
        check(Advantage::Std, &[1.0, 4.0], 0.3, 1.0, &[-0.5, 0.5]);
        // Other estimators do not divide.
        check(Advantage::MeanOnly, &[1.0, 1.2], 0.3, 0.0, &[-0.1, 0.1]);
    }

    #[test]
    fn copies_share_the_advantage_of_one() {
        // Three programs with rewards 1, 4 and 4, the last of which appears three times: mean 3,
        // std sqrt(2).
        let rewards = [1.0, 4.0, 4.0, 4.0, 4.0].map(Some);
        let shared = Advantage::Shared.of(&rewards, &[1, 1, 3, 3, 3], 0.0, 0.0);
        let one = 1.0 / 2.0f64.sqrt();
        for (got, want) in
            shared
                .values
                .iter()
                .zip([-2.0 * one, one, one / 3.0, one / 3.0, one / 3.0])
        {
            assert!((got.unwrap() - want).abs() < 1e-5, "{shared:?}");
        }
        assert!((shared.mean - 3.0).abs() < 1e-12);
        let all_the_same = Advantage::Shared.of(&[Some(4.0); 3], &[3; 3], 0.0, 0.0);
        assert_eq!(all_the_same.fate, Fate::Dead);
    }

    #[test]
    fn masked_members_do_not_count() {
        let advantages = Advantage::MeanOnly.of(&[Some(1.0), None, Some(3.0)], &[1; 3], 0.3, 0.0);
        assert_eq!(advantages.values, [Some(-1.0), None, Some(1.0)]);
        assert!((advantages.mean - 2.0).abs() < 1e-12);
    }

    #[test]
    fn uninformative_groups_carry_no_gradient() {
        let of = |rewards: &[Option<f64>], noise| {
            let advantages = Advantage::Std.of(rewards, &vec![1; rewards.len()], 0.3, noise);
            assert!(advantages.fate == Fate::Live || advantages.values.iter().all(Option::is_none));
            advantages.fate
        };
        assert_eq!(of(&[Some(-4.0); 8], 0.0), Fate::Dead);
        assert_eq!(
            of(&[Some(1.0), Some(2.0), None, None, None], 0.0),
            Fate::Dropped
        );
        assert_eq!(of(&[Some(1.0), Some(2.0), None, None], 0.0), Fate::Live);
        assert_eq!(of(&[Some(1.0), None], 0.0), Fate::Dropped);
        assert_eq!(of(&[None, None], 0.0), Fate::Dropped);
        assert_eq!(of(&[], 0.0), Fate::Dropped);
        assert_eq!(of(&[Some(3.0), Some(3.01)], 0.1), Fate::Drowned);
    }

    proptest! {
        #[test]
        fn advantages_add_up_to_zero_and_keep_the_order(rewards in prop::collection::vec(-100.0..300.0f64, 2..20)) {
            for advantage in [Advantage::Std, Advantage::MeanOnly, Advantage::LeaveOneOut, Advantage::Shared] {
                let group: Vec<Option<f64>> = rewards.iter().copied().map(Some).collect();
                let values: Vec<f64> = advantage.of(&group, &vec![1; group.len()], 0.3, 0.0).values.into_iter().flatten().collect();
                prop_assert_eq!(values.len(), rewards.len());
                prop_assert!(values.iter().sum::<f64>().abs() < 1e-6);
                for (a, b) in values.iter().zip(&rewards).flat_map(|a| values.iter().zip(&rewards).map(move |b| (a, b))) {
                    prop_assert!((a.1 < b.1) == (a.0 < b.0) || (a.1 - b.1).abs() < 1e-9);
                }
            }
        }
    }
}
