//! Scores of answers to problems that have baselines, as `KernelBench` defines them.

use serde::Serialize;

use crate::statistics::mean;
use crate::verdict::Label;

/// The speed-ups that `fast_p` is told for.
pub const THRESHOLDS: [f64; 5] = [0.0, 1.0, 1.2, 1.5, 2.0];

/// A judged answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    pub label: Label,
    /// How many times as fast as each baseline; nothing if it is not correct or there is none.
    pub over: Over<Option<f64>>,
}

/// Something for each of both baselines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Over<T> {
    /// Plain torch.
    pub eager: T,
    /// `torch.compile`.
    pub compiled: T,
}

/// The scores of some answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scores {
    pub answers: usize,
    /// Those that there is code of which compiles.
    pub compiled: usize,
    pub correct: usize,
    /// Nothing for a baseline that was not measured.
    pub over: Over<Option<Fast>>,
}

/// How fast answers are beside one baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fast {
    /// `fast_p`: the share of all answers that are correct and more than so many times as fast, for
    /// each of [`THRESHOLDS`].
    pub fast_p: [f64; THRESHOLDS.len()],
    /// The geometric mean of the speed-ups of correct answers, slower ones included.
    pub geometric_mean: f64,
}

impl Scores {
    pub fn of(answers: &[Scored]) -> Self {
        let count = |is: fn(Label) -> bool| answers.iter().filter(|one| is(one.label)).count();
        let side = |pick: fn(&Over<Option<f64>>) -> Option<f64>| {
            let correct = answers.iter().filter(|one| is_correct(one.label));
            Fast::of(correct.filter_map(|one| pick(&one.over)), answers.len())
        };
        Self {
            answers: answers.len(),
            compiled: count(is_compiled),
            correct: count(is_correct),
            over: Over {
                eager: side(|over| over.eager),
                compiled: side(|over| over.compiled),
            },
        }
    }
}

impl Fast {
    /// `None` if no speed-up is known.
    fn of(speed_ups: impl Iterator<Item = f64>, answers: usize) -> Option<Self> {
        let speed_ups: Vec<f64> = speed_ups.collect();
        if speed_ups.is_empty() {
            return None;
        }
        let share = |threshold: f64| {
            let faster = speed_ups.iter().filter(|one| **one > threshold);
            faster.count() as f64 / answers as f64
        };
        let logarithms: Vec<f64> = speed_ups.iter().map(|one| one.ln()).collect();
        Some(Self {
            fast_p: THRESHOLDS.map(share),
            geometric_mean: mean(&logarithms).exp(),
        })
    }
}

/// A speed that cannot be true is no success.
fn is_correct(label: Label) -> bool {
    label == Label::Correct
}

fn is_compiled(label: Label) -> bool {
    match label {
        Label::Malformed | Label::Refused | Label::NotCompiled => false,
        Label::TimedOut | Label::Crashed | Label::Wrong | Label::Suspect | Label::Correct => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(label: Label, eager: impl Into<Option<f64>>) -> Scored {
        let eager = eager.into();
        Scored {
            label,
            over: Over {
                eager,
                compiled: eager.map(|ratio| ratio / 2.0),
            },
        }
    }

    #[test]
    fn scores_are_those_that_a_hand_computes() {
        let answers = [
            scored(Label::Correct, 4.0),
            scored(Label::Correct, 1.0),
            scored(Label::Correct, 0.5),
            scored(Label::Correct, 1.5),
            scored(Label::Suspect, 100.0),
            scored(Label::Wrong, None),
            scored(Label::NotCompiled, None),
            scored(Label::Refused, None),
        ];
        let scores = Scores::of(&answers);
        let eighths = |share: f64| (8.0 * share).round() as u32;
        assert_eq!((scores.answers, scores.compiled, scores.correct), (8, 6, 4));
        let eager = scores.over.eager.unwrap();
        // More than once as fast: neither 1.0 nor, more than 1.5 times, 1.5 itself.
        assert_eq!(eager.fast_p.map(eighths), [4, 2, 2, 1, 1]);
        // 4 * 1 * 0.5 * 1.5 = 3.
        assert!((eager.geometric_mean - 3f64.powf(0.25)).abs() < 1e-12);
        let compiled = scores.over.compiled.unwrap();
        assert_eq!(compiled.fast_p.map(eighths), [4, 1, 1, 1, 0]);
        assert!((compiled.geometric_mean - 3f64.powf(0.25) / 2.0).abs() < 1e-12);
    }

    #[test]
    fn what_was_not_measured_has_no_score() {
        let one = Scored {
            label: Label::Correct,
            over: Over {
                eager: Some(2.0),
                compiled: None,
            },
        };
        let scores = Scores::of(&[one]);
        assert_eq!(scores.over.compiled, None);
        assert!(scores.over.eager.is_some());
        assert_eq!(Scores::of(&[]).over.eager, None);
        assert_eq!(Scores::of(&[scored(Label::Wrong, None)]).over.eager, None);
    }
}
