//! Timing noise: the measured spread in reward units.

use crate::reward::{Reward, RewardContext, RewardError};
use crate::timing::Timing;
use crate::verdict::Verdict;

/// The relative uncertainty of a candidate's seconds: the standard error of the mean of the quiet
/// samples. The fastest sample varies less than that, because disturbance only adds time. Disturbed
/// samples share their disturbance, so many of them are no better than one.
pub fn of_timing(timing: &Timing) -> f64 {
    let kept = if timing.quiet {
        f64::from(timing.kept.max(1))
    } else {
        1.0
    };
    timing.cv.max(0.0) / kept.sqrt()
}

/// The noise of a group: the root mean square of the change in reward if a member were slower by
/// its uncertainty, over the correct members.
pub fn of_group(
    reward: Reward,
    verdicts: &[Option<&Verdict>],
    context: &RewardContext,
) -> Result<f64, RewardError> {
    let rewards = reward.of_group(verdicts, context)?;
    let mut squares = Vec::new();
    for (at, verdict) in verdicts.iter().enumerate() {
        let (Some(Verdict::Correct(measured)), Some(earned)) = (verdict, rewards[at]) else {
            continue;
        };
        let slowdown = 1.0 + of_timing(&measured.timing);
        let mut slower = measured.clone();
        slower.seconds *= slowdown;
        let slower = Verdict::Correct(slower);
        let mut group = verdicts.to_vec();
        group[at] = Some(&slower);
        if let Some(less) = reward.of_group(&group, context)?[at] {
            squares.push((earned - less).powi(2));
        }
    }
    let noise = if squares.is_empty() {
        0.0
    } else {
        (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
    };
    Ok(noise)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Measured;

    fn correct(gflops: f64, cv: f64, kept: u32, quiet: bool) -> Verdict {
        let mut measured = Measured::steady(gflops, 1.0 / gflops);
        measured.timing = Timing {
            cv,
            kept,
            quiet,
            ..measured.timing
        };
        Verdict::Correct(measured)
    }

    fn check(reward: Reward, verdicts: &[Verdict], expect: f64) {
        let group: Vec<Option<&Verdict>> = verdicts.iter().map(Some).collect();
        let context = RewardContext {
            seed_s: Some(1.0),
            ..RewardContext::default()
        };
        let noise = of_group(reward, &group, &context).unwrap();
        assert!((noise - expect).abs() < 1e-3, "{noise} is not {expect}");
    }

    #[test]
    fn noise_is_in_units_of_the_reward() {
        let disturbed = correct(100.0, 0.1, 0, false);
        check(
            Reward::Ladder,
            std::slice::from_ref(&disturbed),
            100.0 - 100.0 / 1.1,
        );
        check(
            "ladder-log".parse().unwrap(),
            &[correct(100.0, 0.1, 0, false)],
            1.1f64.log2(),
        );
    }

    #[test]
    fn many_quiet_samples_are_better_than_one_and_disturbed_ones_are_not() {
        let (quiet, loud) = (
            correct(10.0, 0.08, 16, true),
            correct(10.0, 0.08, 16, false),
        );
        let (Verdict::Correct(quiet), Verdict::Correct(loud)) = (quiet, loud) else {
            panic!("both are correct")
        };
        assert!((of_timing(&quiet.timing) - 0.02).abs() < 1e-12);
        assert!((of_timing(&loud.timing) - 0.08).abs() < 1e-12);
    }

    #[test]
    fn failures_are_not_noisy() {
        check(
            Reward::Ladder,
            &[Verdict::Crashed { how: String::new() }],
            0.0,
        );
        assert!(
            of_group(Reward::Ladder, &[None], &RewardContext::default())
                .unwrap()
                .abs()
                < 1e-12
        );
    }
}
