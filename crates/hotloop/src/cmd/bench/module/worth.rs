//! The rewards of verdicts on answers. Plain torch stands for the seed and for the baseline.

use hotloop_flow::measured::Pace;
use hotloop_flow::reward::RewardContext;
use hotloop_flow::{Reward, Verdict};

use super::record::Record;
use crate::failure::Failure;

/// Refuses a shape that one answer beside torch has no number for.
pub(in crate::cmd) fn check(reward: Option<Reward>) -> Result<(), Failure> {
    let Some(reward) = reward else {
        return Ok(());
    };
    if let Some(mistake) = reward.mistake() {
        return Err(Failure::user(mistake.to_string()));
    }
    match reward {
        Reward::Weighted | Reward::Composite { .. } | Reward::LadderLog { .. } => Ok(()),
        Reward::Ladder | Reward::LadderGroup | Reward::Gain { .. } | Reward::Sol => {
            Err(Failure::user(format!(
                "reward `{}` has no number for one answer beside torch",
                reward.name()
            ))
            .hint("there are weighted, composite and ladder-log"))
        }
    }
}

/// What an answer earns; nothing where its verdict is masked or torch was not measured.
pub(in crate::cmd) fn earned(reward: Reward, record: &Record) -> Option<f64> {
    of(reward, &record.judged(), record.eager_s)
}

/// What an answer without code earns.
pub(in crate::cmd) fn of_none(reward: Reward) -> Option<f64> {
    let why = String::new();
    of(reward, &Verdict::Malformed { why }, None)
}

fn of(reward: Reward, verdict: &Verdict, eager_s: Option<f64>) -> Option<f64> {
    let context = RewardContext {
        pace: eager_s.map_or(Pace::Gflops, |seconds| Pace::TimesSeed { seconds }),
        seed_s: eager_s,
        baseline_s: eager_s,
        parent_s: eager_s,
        sol_s: None,
    };
    reward.of(verdict, &context).ok().flatten()
}

#[cfg(test)]
mod tests {
    use hotloop_flow::Measured;
    use hotloop_flow::verdict::Phase;

    use super::*;

    #[test]
    fn the_papers_rewards_are_those_that_a_hand_computes() {
        let near = |reward: Reward, verdict: &Verdict, wanted: f64| {
            let got = of(reward, verdict, Some(3e-3)).unwrap();
            assert!(
                (got - wanted).abs() < 1e-12,
                "{reward:?} {verdict:?}: {got}"
            );
        };
        let composite = Reward::Composite {
            alpha: 0.5,
            beta: 0.5,
            gamma: 1.0 / 6.0,
            r_max: 3.0,
        };
        let right = |seconds| Verdict::Correct(Measured::steady(None, seconds));
        near(Reward::Weighted, &right(2e-3), 1.0);
        near(Reward::Weighted, &right(4e-3), 0.8);
        near(composite, &right(2e-3), 1.25);
        near(composite, &right(1e-4), 1.5);
        let why = String::new;
        near(Reward::Weighted, &Verdict::Crashed { how: why() }, 0.4);
        near(composite, &Verdict::Crashed { how: why() }, 0.5);
        near(composite, &Verdict::Refused { why: why() }, 0.0);
        let timed_out = Verdict::TimedOut {
            limit_s: 1.0,
            during: Phase::Compile,
        };
        near(Reward::Weighted, &timed_out, 0.0);
        let suspect = Verdict::Suspect {
            why: why(),
            measured: Measured::steady(None, 1e-9),
        };
        assert_eq!(
            of(composite, &suspect, Some(3e-3)),
            None,
            "neither earns nor costs"
        );
        assert_eq!(
            of(composite, &right(2e-3), None),
            None,
            "torch was not measured"
        );
        assert_eq!(of_none(Reward::Weighted), Some(0.0));
    }

    #[test]
    fn shapes_without_a_number_are_refused() {
        assert!(check(None).is_ok() && check(Some(Reward::Weighted)).is_ok());
        assert!(check(Some(Reward::Sol)).is_err());
        assert!(check(Some(Reward::LadderGroup)).is_err());
    }
}
