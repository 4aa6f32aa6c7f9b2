//! How an answer counts in figures about many answers.

use hotloop_flow::{Pace, Verdict};

/// How one answer fared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fared {
    pub(crate) is_correct: bool,
    /// 0 for failures.
    pub(crate) speed: f64,
}

impl Fared {
    /// What a verdict counts as; `None` where it counts for nothing.
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

    /// All that count of some verdicts.
    pub(crate) fn all<'a>(
        verdicts: impl IntoIterator<Item = &'a Verdict>,
        pace: Pace,
    ) -> Vec<Self> {
        verdicts
            .into_iter()
            .filter_map(|verdict| Self::of(verdict, pace))
            .collect()
    }

    /// The speeds of the correct ones.
    pub(crate) fn speeds(all: &[Self]) -> Vec<f64> {
        all.iter()
            .filter(|one| one.is_correct)
            .map(|one| one.speed)
            .collect()
    }

    /// Share of correct ones in all stages together.
    pub(crate) fn share_correct(stages: &[Vec<Self>]) -> f64 {
        mean(stages, |one| f64::from(u8::from(one.is_correct)))
    }

    /// Mean speed in all stages together, failures counted as 0.
    pub(crate) fn mean_speed(stages: &[Vec<Self>]) -> f64 {
        mean(stages, |one| one.speed)
    }
}

fn mean(stages: &[Vec<Fared>], of: impl Fn(Fared) -> f64) -> f64 {
    let values: Vec<f64> = stages.iter().flatten().map(|one| of(*one)).collect();
    hotloop_flow::statistics::mean(&values)
}
