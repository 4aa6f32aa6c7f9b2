//! How good a policy is at a task, without training.
//!
//! An evaluation asks the same prompts as the probe, with the same random draws. With a run's seed,
//! temperature and number of answers it repeats that run's probe. Only the speed of the task's seed
//! may differ, because prompts quote it as measured. The evaluation adds numbers that compare
//! across tasks: the speed-up over the naive seed.

use std::collections::BTreeMap;

use hotloop_flow::statistics::median;
use hotloop_flow::{Judgement, Label, Measured, Pace};
use serde::Serialize;

pub use crate::asking::{Answer, Asking};
use crate::bootstrap::{Estimate, estimate};
use crate::fared::Fared;
use crate::probe::fared;

/// How good the answers to a task's prompts were.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// Answers that were judged. Suspect ones are included here and ignored below.
    pub answers: usize,
    /// Answers that the machine failed to judge.
    pub masked: usize,
    /// The number of answers with each verdict.
    pub verdicts: BTreeMap<Label, usize>,
    /// Share of correct answers.
    pub correct: Estimate,
    /// The unit of speeds.
    pub unit: &'static str,
    /// Mean speed, failures counted as 0.
    pub speed: Estimate,
    /// Speed-up of the correct answers over the seed, if there are any.
    pub speedup_correct: Option<Speedup>,
    /// Speed-up of all answers over the seed, failures counted as 0.
    pub speedup_all: Speedup,
}

/// How many times as fast as the seed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Speedup {
    pub median: Estimate,
    pub mean: Estimate,
}

impl Evaluation {
    /// Evaluates the judgements of each prompt against the task's seed. A judgement is
    /// `None` where the machine failed. Returns `None` if nothing was judged.
    pub fn of(prompts: &[Vec<Option<Judgement>>], seed: &Measured) -> Option<Self> {
        let all = || prompts.iter().flatten();
        let mut verdicts = BTreeMap::new();
        for judgement in all().flatten() {
            *verdicts.entry(judgement.verdict.label()).or_insert(0) += 1;
        }
        let in_pace = |pace: Pace| -> Vec<Vec<Fared>> {
            let stages = prompts.iter().map(|judged| fared(judged, pace));
            stages.filter(|fared| !fared.is_empty()).collect()
        };
        let pace = Pace::of_seed(seed);
        let speeds = [in_pace(pace)];
        let times_seed = [in_pace(Pace::TimesSeed {
            seconds: seed.seconds,
        })];
        let stages = &speeds[0];
        if stages.is_empty() {
            return None;
        }
        let any_correct = stages.iter().flatten().any(|one| one.is_correct);
        let speedup = |of: fn(&[Vec<Fared>]) -> Vec<f64>| Speedup {
            median: estimate(&times_seed, |stages| median(&of(stages))),
            // The mean of no answers is NaN, so a resample without a correct answer is left out.
            mean: estimate(&times_seed, |stages| {
                let times = of(stages);
                times.iter().sum::<f64>() / times.len() as f64
            }),
        };
        Some(Self {
            answers: all().flatten().count(),
            masked: all().filter(|judged| judged.is_none()).count(),
            verdicts,
            correct: estimate(&speeds, Fared::share_correct),
            unit: pace.unit(),
            speed: estimate(&speeds, Fared::mean_speed),
            speedup_correct: any_correct.then(|| speedup(|stages| Fared::speeds(&stages.concat()))),
            speedup_all: speedup(|stages| stages.iter().flatten().map(|one| one.speed).collect()),
        })
    }
}

#[cfg(test)]
mod tests {
    use hotloop_flow::Verdict;
    use hotloop_flow::verdict::Mismatch;

    use super::*;

    fn judged(verdict: Verdict) -> Judgement {
        Judgement {
            verdict,
            seconds: hotloop_flow::bench::Seconds::default(),
        }
    }

    fn correct(gflops: f64) -> Judgement {
        judged(Verdict::Correct(Measured::steady(gflops, 1.0 / gflops)))
    }

    fn seed() -> Measured {
        Measured::steady(2.0, 0.5)
    }

    fn wrong() -> Judgement {
        judged(Verdict::Wrong(Mismatch {
            why: String::new(),
            error: 1.0,
            paper: false,
        }))
    }

    fn is(value: f64, wanted: f64) -> bool {
        (value - wanted).abs() < 1e-12
    }

    #[test]
    fn speedups_are_reported_with_and_without_failures() {
        let suspect = judged(Verdict::Suspect {
            why: String::new(),
            measured: Measured::steady(1e6, 1e-6),
        });
        let first = vec![
            Some(correct(2.0)),
            Some(correct(4.0)),
            Some(correct(12.0)),
            Some(suspect),
            None,
        ];
        let second = vec![Some(wrong()); 3];
        let found = Evaluation::of(&[first, second], &seed()).expect("something was judged");
        assert_eq!((found.answers, found.masked), (7, 1));
        assert_eq!(found.verdicts[&Label::Suspect], 1);
        assert!(
            is(found.correct.value, 0.5) && is(found.speed.value, 3.0),
            "{found:?}"
        );
        let among = found.speedup_correct.expect("three are correct");
        assert!(
            is(among.median.value, 2.0) && is(among.mean.value, 3.0),
            "{among:?}"
        );
        assert!(among.mean.low < 3.0 && among.mean.high > 3.0);
        assert!(is(found.speedup_all.median.value, 0.5) && is(found.speedup_all.mean.value, 1.5));
    }

    #[test]
    fn without_a_correct_answer_there_is_no_speedup_of_correct_ones() {
        let found =
            Evaluation::of(&[vec![Some(wrong()); 2]], &seed()).expect("something was judged");
        assert!(found.speedup_correct.is_none() && is(found.speedup_all.mean.value, 0.0));
        assert!(
            Evaluation::of(&[vec![None]], &seed()).is_none(),
            "the machine failed on all"
        );
    }

    #[test]
    fn answers_can_be_correct_without_counted_operations() {
        let right = |seconds| judged(Verdict::Correct(Measured::steady(None, seconds)));
        let prompts = [vec![Some(right(2.0)), Some(right(0.5)), Some(wrong())]];
        let found = Evaluation::of(&prompts, &Measured::steady(None, 1.0)).unwrap();
        assert_eq!(found.unit, "x seed");
        assert!(is(found.correct.value, 2.0 / 3.0), "{found:?}");
        assert!(is(found.speed.value, 2.5 / 3.0), "{found:?}");
        let among = found.speedup_correct.expect("two are correct");
        assert!(
            is(among.mean.value, 1.25) && is(among.median.value, 1.25),
            "{among:?}"
        );
    }
}
