//! How good a policy is at a task, without training.
//!
//! It is asked what the probe asks, with the probe's draws: an evaluation at a run's seed,
//! temperature and number of answers is that run's probe taken again (but for the digits of the
//! seed's speed, which prompts tell as it was measured). What it adds are figures that compare
//! between tasks: the speed-up over the naive seed.

use std::collections::BTreeMap;

use hotloop_flow::statistics::median;
use hotloop_flow::{Judgement, Label};
use serde::Serialize;

pub use crate::asking::{Answer, Asking};
use crate::bootstrap::{Estimate, estimate};
use crate::probe::{mean, speeds};

/// What the answers to a task's prompts were worth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// Answers that were judged; suspect ones are among them and count for nothing below.
    pub answers: usize,
    /// Answers that the machine failed to judge.
    pub masked: usize,
    /// How many had which verdict.
    pub verdicts: BTreeMap<Label, usize>,
    /// Share of correct ones.
    pub correct: Estimate,
    /// Mean GFLOPS, failures counted as 0.
    pub gflops: Estimate,
    /// Speed-up over the seed of the correct ones, if there are any.
    pub speedup_correct: Option<Speedup>,
    /// Speed-up over the seed of all, failures counted as 0.
    pub speedup_all: Speedup,
}

/// How many times as fast as the seed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Speedup {
    /// The middle one.
    pub median: Estimate,
    /// Their mean.
    pub mean: Estimate,
}

impl Evaluation {
    /// What judgements say, prompt by prompt; `None` in them is the machine's failure. Nothing where
    /// nothing was judged.
    pub fn of(prompts: &[Vec<Option<Judgement>>], seed_gflops: f64) -> Option<Self> {
        let all = || prompts.iter().flatten();
        let mut verdicts = BTreeMap::new();
        for judgement in all().flatten() {
            *verdicts.entry(judgement.verdict.label()).or_insert(0) += 1;
        }
        let speeds: Vec<Vec<f64>> = prompts
            .iter()
            .map(|judged| speeds(judged))
            .filter(|speeds| !speeds.is_empty())
            .collect();
        if speeds.is_empty() {
            return None;
        }
        let any_correct = speeds.iter().flatten().any(|gflops| *gflops > 0.0);
        let runs = [speeds];
        let speedup = |kept: fn(f64) -> bool| {
            let times = |stages: &[Vec<f64>]| -> Vec<f64> {
                stages
                    .iter()
                    .flatten()
                    .filter(|gflops| kept(**gflops))
                    .map(|gflops| gflops / seed_gflops)
                    .collect()
            };
            Speedup {
                median: estimate(&runs, |stages| median(&times(stages))),
                mean: estimate(&runs, |stages| {
                    let times = times(stages);
                    times.iter().sum::<f64>() / times.len() as f64
                }),
            }
        };
        Some(Self {
            answers: all().flatten().count(),
            masked: all().filter(|judged| judged.is_none()).count(),
            verdicts,
            correct: estimate(&runs, |stages| {
                mean(stages, |gflops| f64::from(u8::from(gflops > 0.0)))
            }),
            gflops: estimate(&runs, |stages| mean(stages, |gflops| gflops)),
            speedup_correct: any_correct.then(|| speedup(|gflops| gflops > 0.0)),
            speedup_all: speedup(|_| true),
        })
    }
}

#[cfg(test)]
mod tests {
    use hotloop_flow::Verdict;
    use hotloop_flow::verdict::{Measured, Mismatch};

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
    fn speedups_are_told_with_and_without_the_failures() {
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
        let found = Evaluation::of(&[first, second], 2.0).expect("something was judged");
        assert_eq!((found.answers, found.masked), (7, 1));
        assert_eq!(found.verdicts[&Label::Suspect], 1);
        assert!(
            is(found.correct.value, 0.5) && is(found.gflops.value, 3.0),
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
    fn without_a_correct_answer_there_is_no_speedup_among_them() {
        let found = Evaluation::of(&[vec![Some(wrong()); 2]], 2.0).expect("something was judged");
        assert!(found.speedup_correct.is_none() && is(found.speedup_all.mean.value, 0.0));
        assert!(
            Evaluation::of(&[vec![None]], 2.0).is_none(),
            "the machine failed on all"
        );
    }
}
