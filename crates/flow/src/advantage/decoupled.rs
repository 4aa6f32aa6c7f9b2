//! Correctness and speed, each normalised apart, as `DRTriton` (arXiv 2603.21465) trains: decoupled
//! reward policy optimisation (Li et al., "DRPO", arXiv 2510.04474).
//!
//! One reward for both has a flaw: a correct but slow answer can lie below the group's mean, and
//! the policy then unlearns being correct. Here correctness is normalised over the group, and speed
//! only over the correct answers, by a softmax of its logarithm. While any answer fails, no correct
//! one gets a negative advantage.

use super::known::Known;

/// Standardised correctness, plus for correct answers their softmax weight by log2 of the speed,
/// scaled to a mean of 1, minus 1.
pub(super) fn advantages(known: &[Known]) -> Vec<f64> {
    let count = known.len() as f64;
    let fastest = speeds(known).fold(0.0, f64::max);
    // The softmax of log2: twice as fast weighs e times as much.
    let raised = |speed: f64| (speed / fastest).log2().exp();
    let sum: f64 = speeds(known).map(raised).sum();
    let correct = speeds(known).count() as f64;
    let share = correct / count;
    let std = (share * (1.0 - share)).sqrt();
    let standardised = |is_correct: f64| {
        if std > 0.0 {
            (is_correct - share) / std
        } else {
            0.0
        }
    };
    let value = |one: &Known| match one.speed {
        None => standardised(0.0),
        Some(speed) => {
            let both = standardised(1.0) + raised(speed) / sum * correct - 1.0;
            if std > 0.0 { both.max(0.0) } else { both }
        }
    };
    known.iter().map(value).collect()
}

fn speeds(known: &[Known]) -> impl Iterator<Item = f64> {
    known.iter().filter_map(|one| one.speed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(speeds: &[Option<f64>]) -> Vec<f64> {
        let known = |speed: &Option<f64>| Known {
            reward: 0.0,
            share: 1.0,
            speed: *speed,
        };
        advantages(&speeds.iter().map(known).collect::<Vec<_>>())
    }

    fn near(got: &[f64], want: &[f64]) {
        for (got, want) in got.iter().zip(want) {
            assert!((got - want).abs() < 1e-9, "{got} is not {want}");
        }
    }

    #[test]
    fn speed_counts_among_correct_answers_only() {
        // Half are correct: std 1/2, so +1 and -1. Speeds 2 and 1 weigh 1 and 1/e: their softmax
        // times 2 is 2e/(e+1) = 1.462117 and 2/(e+1) = 0.537883.
        let e = std::f64::consts::E;
        let (fast, slow) = (2.0 * e / (e + 1.0), 2.0 / (e + 1.0));
        near(
            &of(&[Some(2.0), None, Some(1.0), None]),
            &[fast, -1.0, slow, -1.0],
        );
    }

    #[test]
    fn a_slow_correct_answer_is_not_unlearned_while_others_fail() {
        // Nine of ten correct: +1/3 for correctness. Next to eight that are 32 times as fast, the
        // slow one weighs nearly nothing: 1/3 - 1 < 0, so 0.
        let mut speeds = vec![Some(32.0); 8];
        speeds.extend([Some(1.0), None]);
        let got = of(&speeds);
        assert!(
            got[8].abs() < 1e-12 && got[9] < -2.9 && got[0] > 0.3,
            "{got:?}"
        );
    }

    #[test]
    fn where_all_are_correct_only_speed_counts_and_adds_up_to_zero() {
        let got = of(&[Some(4.0), Some(1.0), Some(2.0)]);
        assert!(got.iter().sum::<f64>().abs() < 1e-12 && got[0] > got[2] && got[2] > got[1]);
        near(&of(&[Some(3.0), Some(3.0)]), &[0.0, 0.0]);
    }
}
