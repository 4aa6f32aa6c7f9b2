//! The scores that papers on generated kernels report: compiled, correct, `fast_p`, mean runtime.

use hotloop_flow::{Judgement, Label, Measured};
use serde::{Deserialize, Serialize};

/// The speed-ups of `fast_p` that the papers report.
pub const SPEEDUPS: [f64; 5] = [0.0, 1.0, 1.2, 1.5, 2.0];

/// How good answers were, in the papers' terms. Shares are of all answers that were judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// Answers that were judged. Those that the machine failed to judge count nowhere.
    pub answers: usize,
    /// Share that a compiler accepted.
    pub compiled: f64,
    /// Share that is correct. A suspect answer is not.
    pub correct: f64,
    /// Mean seconds per call of the correct answers, if there are any.
    pub mean_seconds: Option<f64>,
    /// What speed-ups are relative to: a library, or the task's seed.
    pub baseline: String,
    /// Seconds per call of the baseline.
    pub baseline_seconds: f64,
    /// Geometric mean of the correct answers' speed-ups, if there are any.
    pub geometric_mean: Option<f64>,
    /// For each speed-up p, the share of answers that are correct and more than p times as fast as
    /// the baseline.
    pub fast: Vec<(f64, f64)>,
}

impl Scores {
    /// The baseline of a task that no library does.
    pub const SEED: &str = "the seed";

    /// The scores of judgements; `None` where the machine failed. Returns `None` if nothing was
    /// judged. The baseline is the library's median beside the correct answers, or else the seed.
    pub fn of<'a>(
        judged: impl IntoIterator<Item = &'a Option<Judgement>>,
        seed: &Measured,
    ) -> Option<Self> {
        let judged: Vec<&Judgement> = judged.into_iter().flatten().collect();
        if judged.is_empty() {
            return None;
        }
        let share = |count: usize| count as f64 / judged.len() as f64;
        let correct: Vec<&Measured> = judged
            .iter()
            .filter_map(|judgement| judgement.verdict.correct())
            .collect();
        let compiled = judged
            .iter()
            .filter(|judgement| has_compiled(judgement.verdict.label()));
        // A library's time varies with the clock, so each answer is compared with its own.
        let speedups: Vec<f64> = correct
            .iter()
            .map(|measured| {
                measured
                    .baseline_ratio()
                    .unwrap_or(seed.seconds / measured.seconds)
            })
            .collect();
        let of_correct = |sum: f64| (!correct.is_empty()).then(|| sum / correct.len() as f64);
        let library = seed.baseline.as_ref().or_else(|| {
            correct
                .iter()
                .find_map(|measured| measured.baseline.as_ref())
        });
        Some(Self {
            answers: judged.len(),
            compiled: share(compiled.count()),
            correct: share(correct.len()),
            mean_seconds: of_correct(correct.iter().map(|measured| measured.seconds).sum()),
            baseline: library.map_or_else(|| Self::SEED.to_owned(), |library| library.name.clone()),
            baseline_seconds: library.map_or(seed.seconds, |library| library.seconds),
            geometric_mean: of_correct(speedups.iter().map(|ratio| ratio.ln()).sum()).map(f64::exp),
            fast: SPEEDUPS
                .map(|least| {
                    let faster = speedups.iter().filter(|speedup| **speedup > least);
                    (least, share(faster.count()))
                })
                .to_vec(),
        })
    }
}

/// Whether a compiler accepted the candidate. A refused one may not have been compiled.
fn has_compiled(label: Label) -> bool {
    match label {
        Label::Malformed | Label::Refused | Label::NotCompiled => false,
        Label::TimedOut | Label::Crashed | Label::Wrong | Label::Suspect | Label::Correct => true,
    }
}

#[cfg(test)]
mod tests {
    use hotloop_flow::verdict::Mismatch;
    use hotloop_flow::{Baseline, Verdict};

    use super::*;

    fn judged(verdict: Verdict) -> Judgement {
        Judgement {
            verdict,
            seconds: hotloop_flow::bench::Seconds::default(),
        }
    }

    fn right(seconds: f64) -> Measured {
        Measured::steady(None, seconds)
    }

    fn wrong() -> Verdict {
        Verdict::Wrong(Mismatch {
            why: String::new(),
            error: 1.0,
            paper: false,
        })
    }

    #[test]
    fn fast_p_counts_correct_answers_that_are_faster() {
        // Speed-ups over a seed of 6 s: 1, 1.5 and 4; two more answers are not correct.
        let all = [
            Some(judged(Verdict::Correct(right(6.0)))),
            Some(judged(Verdict::Correct(right(4.0)))),
            Some(judged(Verdict::Correct(right(1.5)))),
            Some(judged(wrong())),
            Some(judged(Verdict::Malformed { why: String::new() })),
            None,
        ];
        let scores = Scores::of(&all, &right(6.0)).unwrap();
        assert_eq!(scores.answers, 5);
        assert_eq!((scores.compiled, scores.correct), (0.8, 0.6));
        assert_eq!(
            scores.fast,
            [(0.0, 0.6), (1.0, 0.4), (1.2, 0.4), (1.5, 0.2), (2.0, 0.2)]
        );
        assert_eq!(scores.mean_seconds, Some(11.5 / 3.0));
        // The cube root of 1 * 1.5 * 4 = 6.
        assert!((scores.geometric_mean.unwrap() - 6f64.cbrt()).abs() < 1e-12);
        assert_eq!(
            (scores.baseline.as_str(), scores.baseline_seconds),
            ("the seed", 6.0)
        );
    }

    #[test]
    fn a_library_is_the_baseline_where_there_is_one() {
        let mut fast = right(2.0);
        fast.baseline = Some(Baseline {
            name: Baseline::OPENBLAS.to_owned(),
            seconds: 3.0,
        });
        let scores = Scores::of(&[Some(judged(Verdict::Correct(fast)))], &right(100.0)).unwrap();
        assert_eq!(scores.baseline, Baseline::OPENBLAS);
        assert!((scores.geometric_mean.unwrap() - 1.5).abs() < 1e-12);
        assert_eq!(scores.fast[3], (1.5, 0.0), "1.5 is not more than 1.5");
        assert_eq!(scores.fast[2], (1.2, 1.0));
    }

    #[test]
    fn without_a_correct_answer_there_is_no_mean() {
        let scores = Scores::of(&[Some(judged(wrong()))], &right(1.0)).unwrap();
        assert_eq!((scores.mean_seconds, scores.geometric_mean), (None, None));
        assert_eq!(scores.fast[0], (0.0, 0.0));
        assert_eq!(Scores::of(&[None], &right(1.0)), None);
    }
}
