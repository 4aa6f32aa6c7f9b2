//! What one run of a discovery found.

use hotloop_flow::Measured;
use serde::Serialize;

use crate::best_of::{self, BestOf};
use crate::config::Config;
use crate::state::{Member, RunState, Step};

/// The shares of the baseline whose first answers are counted.
const SHARES: [f64; 3] = [0.1, 0.2, 0.5];

/// The number of judged answers until one reached a share of the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Reached {
    /// The share of the baseline's speed.
    pub share: f64,
    /// `None` where no answer reached it: the run is censored there.
    pub answers: Option<u64>,
}

/// What one run found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    pub arm: String,
    pub seed: u64,
    /// Whether its policy learned.
    pub learns: bool,
    /// The answers that it was given; 0 if something else ended it.
    pub budget: u64,
    /// Judged answers.
    pub answers: u64,
    /// Correct ones among them.
    pub correct: u64,
    /// Seconds of stepping.
    pub seconds: f64,
    /// The unit of speeds.
    pub unit: &'static str,
    /// The fastest code's speed, and at least the seed's: a run that found nothing keeps the seed.
    pub best: Option<f64>,
    /// The same as a share of the baseline.
    pub of_baseline: Option<f64>,
    /// Fresh timings behind the best; 0 if it is a step's own timing.
    pub timings: usize,
    /// What k of its answers are worth.
    pub best_of: Vec<BestOf>,
    /// Answers until a share of the baseline was reached.
    pub reached: Vec<Reached>,
    /// Why it ended; `None` if it did not.
    pub ended: Option<String>,
}

impl Outcome {
    /// The outcome of a run directory's state.
    pub fn of(arm: &str, config: &Config, state: &RunState) -> Self {
        let members = || state.steps.iter().flat_map(Step::members);
        let best = state.best.as_ref();
        let found = best.map(|best| best.speed);
        let seed = state.seed.as_ref().and_then(|seed| seed.verdict.correct());
        let seed_speed = seed.and_then(|seed| seed.speed(state.pace()));
        let is_found = found >= seed_speed && found.is_some();
        let measured = if is_found {
            best.and_then(|best| best.verdict.measured())
        } else {
            seed
        };
        Self {
            arm: arm.to_owned(),
            seed: config.seed,
            learns: config.learning.rate > 0.0,
            budget: config.budget.answers,
            answers: state.judged_answers(),
            correct: members().filter(|member| member.speed.is_some()).count() as u64,
            seconds: state.stepping_s(),
            unit: state.pace().unit(),
            best: found.into_iter().chain(seed_speed).reduce(f64::max),
            of_baseline: measured.and_then(Measured::baseline_ratio),
            timings: best.filter(|_| is_found).map_or(0, |best| best.timings),
            best_of: best_of::of_run(state),
            reached: SHARES.map(|share| reached(members(), share)).to_vec(),
            ended: state.ended.clone(),
        }
    }
}

fn reached<'a>(members: impl Iterator<Item = &'a Member>, share: f64) -> Reached {
    let judged = members.filter_map(|member| member.verdict.as_ref());
    let has = |measured: &Measured| {
        measured
            .baseline_ratio()
            .is_some_and(|ratio| ratio >= share)
    };
    let place = judged
        .enumerate()
        .find(|(_, verdict)| verdict.correct().is_some_and(has));
    Reached {
        share,
        answers: place.map(|(at, _)| at as u64 + 1),
    }
}

#[cfg(test)]
mod tests {
    use hotloop_flow::{Baseline, Stage, Verdict};

    use super::*;
    use crate::fixture::{asked, correct, group, step, wrong};

    fn at(ratio: f64) -> Verdict {
        let Verdict::Correct(mut measured) = correct(2.0) else {
            unreachable!("it is correct");
        };
        measured.baseline = Some(Baseline {
            name: "fast".to_owned(),
            seconds: measured.seconds * ratio,
        });
        Verdict::Correct(measured)
    }

    #[test]
    fn answers_are_counted_until_a_share_is_reached() {
        let first = group(
            asked(None, Stage::FIRST),
            "a",
            [wrong(), at(0.05), at(0.15)],
        );
        let second = group(asked(None, Stage::FIRST), "b", [at(0.12), at(0.3)]);
        let steps = [step(0, vec![first]), step(1, vec![second])];
        let of = |share| reached(steps.iter().flat_map(Step::members), share).answers;
        assert_eq!([of(0.1), of(0.2), of(0.5)], [Some(3), Some(5), None]);
    }
}
