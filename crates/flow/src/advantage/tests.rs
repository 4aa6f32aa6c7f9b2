use super::*;
use proptest::prelude::*;

/// A group in which every program is different, without speeds.
fn of(
    advantage: Advantage,
    rewards: &[Option<f64>],
    copies: &[u32],
    std_floor: f64,
    noise: f64,
) -> Advantages {
    let speeds = vec![None; rewards.len()];
    let group = Group {
        rewards,
        copies,
        speeds: &speeds,
        noise,
    };
    let numbers = Numbers {
        std_floor,
        k: 2,
        kl: 0.3,
    };
    advantage.of(&group, &numbers)
}

fn check(advantage: Advantage, rewards: &[f64], floor: f64, noise: f64, expect: &[f64]) {
    let rewards: Vec<Option<f64>> = rewards.iter().copied().map(Some).collect();
    let advantages = of(advantage, &rewards, &vec![1; rewards.len()], floor, noise);
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
    let shared = of(Advantage::Shared, &rewards, &[1, 1, 3, 3, 3], 0.0, 0.0);
    let one = 1.0 / 2.0f64.sqrt();
    for (got, want) in shared
        .values
        .iter()
        .zip([-2.0 * one, one, one / 3.0, one / 3.0, one / 3.0])
    {
        assert!((got.unwrap() - want).abs() < 1e-5, "{shared:?}");
    }
    assert!((shared.mean - 3.0).abs() < 1e-12);
    let all_the_same = of(Advantage::Shared, &[Some(4.0); 3], &[3; 3], 0.0, 0.0);
    assert_eq!(all_the_same.fate, Fate::Dead);
}

#[test]
fn masked_members_do_not_count() {
    let advantages = of(
        Advantage::MeanOnly,
        &[Some(1.0), None, Some(3.0)],
        &[1; 3],
        0.3,
        0.0,
    );
    assert_eq!(advantages.values, [Some(-1.0), None, Some(1.0)]);
    assert!((advantages.mean - 2.0).abs() < 1e-12);
}

#[test]
fn uninformative_groups_carry_no_gradient() {
    let fate = |rewards: &[Option<f64>], noise| {
        let advantages = of(Advantage::Std, rewards, &vec![1; rewards.len()], 0.3, noise);
        assert!(advantages.fate == Fate::Live || advantages.values.iter().all(Option::is_none));
        advantages.fate
    };
    assert_eq!(fate(&[Some(-4.0); 8], 0.0), Fate::Dead);
    assert_eq!(
        fate(&[Some(1.0), Some(2.0), None, None, None], 0.0),
        Fate::Dropped
    );
    assert_eq!(fate(&[Some(1.0), Some(2.0), None, None], 0.0), Fate::Live);
    assert_eq!(fate(&[Some(1.0), None], 0.0), Fate::Dropped);
    assert_eq!(fate(&[None, None], 0.0), Fate::Dropped);
    assert_eq!(fate(&[], 0.0), Fate::Dropped);
    assert_eq!(fate(&[Some(3.0), Some(3.01)], 0.1), Fate::Drowned);
}

proptest! {
    #[test]
    fn advantages_add_up_to_zero_and_keep_the_order(rewards in prop::collection::vec(-100.0..300.0f64, 2..20)) {
        for advantage in [Advantage::Std, Advantage::MeanOnly, Advantage::LeaveOneOut, Advantage::Shared] {
            let group: Vec<Option<f64>> = rewards.iter().copied().map(Some).collect();
            let values: Vec<f64> = of(advantage, &group, &vec![1; group.len()], 0.3, 0.0).values.into_iter().flatten().collect();
            prop_assert_eq!(values.len(), rewards.len());
            prop_assert!(values.iter().sum::<f64>().abs() < 1e-6);
            for (a, b) in values.iter().zip(&rewards).flat_map(|a| values.iter().zip(&rewards).map(move |b| (a, b))) {
                prop_assert!((a.1 < b.1) == (a.0 < b.0) || (a.1 - b.1).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn discovery_estimators_see_unmasked_members_and_keep_the_order() {
    // Pairs of 1, 2 and 4: 0, 1 and 5, as `max_at_k` derives. The masked member changes nothing.
    let got = of(
        Advantage::MaxAtK,
        &[Some(4.0), None, Some(1.0), Some(2.0)],
        &[1; 4],
        0.3,
        0.0,
    );
    assert_eq!(got.values, [Some(5.0), None, Some(0.0), Some(1.0)]);
    let entropic = of(
        Advantage::Entropic,
        &[Some(4.0), None, Some(1.0), Some(2.0)],
        &[1; 4],
        0.3,
        0.0,
    );
    let sum: f64 = entropic.values.iter().flatten().sum();
    assert!(
        sum.abs() < 1e-9 && entropic.values[1].is_none() && entropic.values[0] > entropic.values[3]
    );
    // Correct and failed: std 1/2, so 1 and -1; one correct answer has nothing to be faster than.
    let group = Group {
        rewards: &[Some(2.0), None, Some(-4.0)],
        copies: &[1; 3],
        speeds: &[Some(7.0), None, None],
        noise: 0.0,
    };
    let decoupled = Advantage::Decoupled.of(
        &group,
        &Numbers {
            std_floor: 0.3,
            k: 2,
            kl: 0.3,
        },
    );
    assert_eq!(decoupled.values, [Some(1.0), None, Some(-1.0)]);
}

#[test]
fn no_estimator_learns_from_a_dead_group() {
    for advantage in Advantage::ALL {
        let dead = of(advantage, &[Some(2.0); 4], &[4; 4], 0.3, 0.0);
        assert_eq!((dead.fate, dead.values), (Fate::Dead, vec![None; 4]));
    }
}
