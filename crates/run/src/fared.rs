//! How one answer counts in statistics over many answers.

use hotloop_flow::{Pace, Verdict};

/// The outcome of one answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fared {
    pub(crate) is_correct: bool,
    /// 0 for failures.
    pub(crate) speed: f64,
}

impl Fared {
    /// The outcome of a verdict; `None` if the verdict is ignored.
    pub(crate) fn of(verdict: &Verdict, pace: Pace) -> Option<Self> {
        if matches!(verdict, Verdict::Suspect { .. }) {
            return None;
        }
        let correct = verdict.correct();
        Some(Self {
            is_correct: correct.is_some(),
            speed: correct
                .and_then(|measured| measured.speed(pace))
                .unwrap_or(0.0),
        })
    }

    /// The outcomes of all verdicts that are not ignored.
    pub(crate) fn all<'a>(
        verdicts: impl IntoIterator<Item = &'a Verdict>,
        pace: Pace,
    ) -> Vec<Self> {
        verdicts
            .into_iter()
            .filter_map(|verdict| Self::of(verdict, pace))
            .collect()
    }

    /// The speeds of the correct answers.
    pub(crate) fn speeds(all: &[Self]) -> Vec<f64> {
        all.iter()
            .filter(|one| one.is_correct)
            .map(|one| one.speed)
            .collect()
    }

    /// Share of correct answers over all stages.
    pub(crate) fn share_correct(stages: &[Vec<Self>]) -> f64 {
        mean(stages, |one| f64::from(u8::from(one.is_correct)))
    }

    /// Mean speed over all stages, failures counted as 0.
    pub(crate) fn mean_speed(stages: &[Vec<Self>]) -> f64 {
        mean(stages, |one| one.speed)
    }
}

fn mean(stages: &[Vec<Fared>], of: impl Fn(Fared) -> f64) -> f64 {
    let values: Vec<f64> = stages.iter().flatten().map(|one| of(*one)).collect();
    hotloop_flow::statistics::mean(&values)
}
