//! How often a reviewer agrees with the bench: tables, and points of a calibration curve.

use hotloop_flow::verdict::Phase;
use hotloop_flow::{Label, Verdict};
use serde::Serialize;

use super::opinion::Opinion;

/// The bins of a calibration table.
const BINS: usize = 5;
/// The normal quantile of 95 % intervals.
const Z: f64 = 1.96;

/// A candidate with an opinion and a verdict.
#[derive(Debug, Clone, Copy)]
pub struct Reviewed<'a> {
    /// `None` if the reviewer gave none that could be read.
    pub opinion: Option<&'a Opinion>,
    /// Whether it is correct; unknown for one that is too fast to be believed.
    pub correct: Option<bool>,
    /// Whether it compiled; unknown where a rule refused it first.
    pub compiled: Option<bool>,
    /// The speed of a correct candidate.
    pub speed: Option<f64>,
}

impl<'a> Reviewed<'a> {
    pub fn new(opinion: Option<&'a Opinion>, verdict: &Verdict, speed: Option<f64>) -> Self {
        let in_compiler = matches!(
            verdict,
            Verdict::TimedOut {
                during: Phase::Compile,
                ..
            }
        );
        Self {
            compiled: if in_compiler {
                Some(false)
            } else {
                compiled(verdict.label())
            },
            ..Self::labelled(opinion, verdict.label(), speed)
        }
    }

    /// The same where only the verdict's label is known. A timeout does not tell what timed out.
    pub fn labelled(opinion: Option<&'a Opinion>, label: Label, speed: Option<f64>) -> Self {
        Self {
            opinion,
            correct: (label != Label::Suspect).then_some(label == Label::Correct),
            compiled: compiled(label).filter(|_| label != Label::TimedOut),
            speed,
        }
    }
}

/// The agreement of a reviewer with the bench.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Agreement {
    /// Candidates that the reviewer was asked about.
    pub asked: usize,
    /// Those without an opinion that could be read.
    pub broken: usize,
    pub correctness: Axis,
    pub compilability: Axis,
    /// Spearman's rank correlation of the opinion on speed with the measured speed of correct
    /// candidates; `None` for fewer than three, or without any difference.
    pub speed: Option<f64>,
    /// The correct candidates that it is of.
    pub timed: usize,
}

/// One question with a yes or no that the bench answers.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Axis {
    pub of: usize,
    /// Share of candidates for which the answer is yes.
    pub truth: f64,
    /// The mean opinion.
    pub opinion: f64,
    /// Share of opinions on the right side of 0.5.
    pub agreed: f64,
    /// Share that always the more frequent answer would have right.
    pub constant: f64,
    /// The mean squared error of the opinion (Brier's score).
    pub brier: f64,
    /// How likely a candidate with yes has the higher opinion than one with no; ties count a half.
    /// `None` if one of both is missing.
    pub auc: Option<f64>,
    pub bins: Vec<Bin>,
}

/// Candidates with opinions of about the same height.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bin {
    /// Opinions from here,
    pub low: f64,
    /// to here.
    pub high: f64,
    pub count: usize,
    /// The mean opinion.
    pub opinion: f64,
    /// Share of yes, with its 95 % interval (Wilson).
    pub truth: f64,
    pub truth_low: f64,
    pub truth_high: f64,
}

impl Agreement {
    /// The agreement over candidates; `None` if nobody was asked.
    pub fn of<'a>(reviewed: impl IntoIterator<Item = Reviewed<'a>>) -> Option<Self> {
        let all: Vec<Reviewed<'a>> = reviewed.into_iter().collect();
        if all.is_empty() {
            return None;
        }
        let mut correctness = Vec::new();
        let mut compilability = Vec::new();
        let mut speeds = Vec::new();
        for one in &all {
            let Some(opinion) = one.opinion else { continue };
            correctness.extend(one.correct.map(|truth| (opinion.correctness, truth)));
            compilability.extend(one.compiled.map(|truth| (opinion.compilability, truth)));
            speeds.extend(one.speed.map(|speed| (opinion.speed, speed)));
        }
        Some(Self {
            asked: all.len(),
            broken: all.iter().filter(|one| one.opinion.is_none()).count(),
            correctness: Axis::of(&correctness),
            compilability: Axis::of(&compilability),
            speed: spearman(&speeds),
            timed: speeds.len(),
        })
    }
}

/// Whether a candidate with this verdict compiled; unknown where a rule refused it first.
fn compiled(label: Label) -> Option<bool> {
    match label {
        Label::Malformed | Label::Refused => None,
        Label::NotCompiled => Some(false),
        Label::TimedOut | Label::Crashed | Label::Wrong | Label::Correct | Label::Suspect => {
            Some(true)
        }
    }
}

impl Axis {
    fn of(pairs: &[(f64, bool)]) -> Self {
        if pairs.is_empty() {
            return Self::default();
        }
        let count = pairs.len() as f64;
        let share = |holds: &dyn Fn(&(f64, bool)) -> bool| {
            pairs.iter().filter(|pair| holds(pair)).count() as f64 / count
        };
        let truth = share(&|(_, truth)| *truth);
        let error =
            |(opinion, truth): &(f64, bool)| (opinion - f64::from(u8::from(*truth))).powi(2);
        Self {
            of: pairs.len(),
            truth,
            opinion: pairs.iter().map(|(opinion, _)| opinion).sum::<f64>() / count,
            agreed: share(&|(opinion, truth)| (*opinion >= 0.5) == *truth),
            constant: truth.max(1.0 - truth),
            brier: pairs.iter().map(error).sum::<f64>() / count,
            auc: auc(pairs),
            bins: (0..BINS).filter_map(|at| Bin::of(at, pairs)).collect(),
        }
    }
}

impl Bin {
    fn of(at: usize, pairs: &[(f64, bool)]) -> Option<Self> {
        let place = |opinion: f64| ((opinion * BINS as f64) as usize).min(BINS - 1);
        let inside: Vec<&(f64, bool)> = pairs
            .iter()
            .filter(|(opinion, _)| place(*opinion) == at)
            .collect();
        if inside.is_empty() {
            return None;
        }
        let count = inside.len() as f64;
        let truth = inside.iter().filter(|(_, truth)| *truth).count() as f64 / count;
        let (truth_low, truth_high) = wilson(truth, count);
        Some(Self {
            low: at as f64 / BINS as f64,
            high: (at + 1) as f64 / BINS as f64,
            count: inside.len(),
            opinion: inside.iter().map(|(opinion, _)| opinion).sum::<f64>() / count,
            truth,
            truth_low,
            truth_high,
        })
    }
}

fn wilson(share: f64, count: f64) -> (f64, f64) {
    let square = Z * Z;
    let middle = (share + square / (2.0 * count)) / (1.0 + square / count);
    let half = Z / (1.0 + square / count)
        * (share * (1.0 - share) / count + square / (4.0 * count * count)).sqrt();
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

fn auc(pairs: &[(f64, bool)]) -> Option<f64> {
    let opinions: Vec<f64> = pairs.iter().map(|(opinion, _)| *opinion).collect();
    let ranks = ranks(&opinions);
    let yes = pairs.iter().filter(|(_, truth)| *truth).count() as f64;
    let no = pairs.len() as f64 - yes;
    let sum: f64 = ranks
        .iter()
        .zip(pairs)
        .filter(|(_, (_, truth))| *truth)
        .map(|(rank, _)| rank)
        .sum();
    (yes > 0.0 && no > 0.0).then(|| (sum - yes * (yes + 1.0) / 2.0) / (yes * no))
}

/// Ranks from 1; equal values share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    for tied in order.chunk_by(|a, b| values[*a].total_cmp(&values[*b]).is_eq()) {
        let first = order.iter().position(|at| *at == tied[0]).unwrap_or(0);
        for at in tied {
            ranks[*at] = first as f64 + f64::midpoint(tied.len() as f64, 1.0);
        }
    }
    ranks
}

fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < 3 {
        return None;
    }
    let (opinions, speeds): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (a, b) = (ranks(&opinions), ranks(&speeds));
    let mean = f64::midpoint(pairs.len() as f64, 1.0);
    let of = |x: &[f64], y: &[f64]| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum()
    };
    let spread = (of(&a, &a) * of(&b, &b)).sqrt();
    (spread > 0.0).then(|| of(&a, &b) / spread)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{correct, suspect, wrong};

    fn opinion(correctness: f64, speed: f64) -> Opinion {
        Opinion {
            correctness,
            compilability: 1.0,
            speed,
            reasoning: String::new(),
        }
    }

    #[test]
    fn agreement_is_counted_by_hand() {
        let given = [
            (Some(opinion(0.9, 0.1)), correct(10.0), Some(10.0)),
            (Some(opinion(0.8, 0.5)), correct(20.0), Some(20.0)),
            (Some(opinion(0.7, 0.9)), wrong(), None),
            (Some(opinion(0.2, 0.9)), correct(30.0), Some(30.0)),
            (Some(opinion(0.1, 0.0)), wrong(), None),
            (Some(opinion(0.5, 0.0)), suspect(9.0), None),
            (None, wrong(), None),
        ];
        let reviewed = given
            .iter()
            .map(|(opinion, verdict, speed)| Reviewed::new(opinion.as_ref(), verdict, *speed));
        let agreement = Agreement::of(reviewed).expect("there are some");
        assert_eq!(
            (agreement.asked, agreement.broken, agreement.timed),
            (7, 1, 3)
        );
        let axis = &agreement.correctness;
        assert_eq!(axis.of, 5, "the suspect one is neither");
        assert!((axis.agreed - 0.6).abs() < 1e-12 && (axis.constant - 0.6).abs() < 1e-12);
        // Of the six pairs of a correct and a wrong one, five are in order.
        assert!((axis.auc.expect("both exist") - 5.0 / 6.0).abs() < 1e-12);
        let errors = 0.01 + 0.04 + 0.49 + 0.64 + 0.01;
        assert!((axis.brier - errors / 5.0).abs() < 1e-12);
        let counts: Vec<(f64, usize)> = axis.bins.iter().map(|bin| (bin.low, bin.count)).collect();
        assert_eq!(counts, [(0.0, 1), (0.2, 1), (0.6, 1), (0.8, 2)]);
        assert_eq!(agreement.speed, Some(1.0));
        assert!((agreement.compilability.constant - 1.0).abs() < 1e-12);
        assert_eq!(agreement.compilability.auc, None);
    }

    #[test]
    fn nobody_asked_is_no_agreement() {
        assert_eq!(Agreement::of([]), None);
    }

    #[test]
    fn wilsons_interval_is_the_textbooks() {
        // 8 of 10.
        let (low, high) = wilson(0.8, 10.0);
        assert!(
            (low - 0.490).abs() < 1e-3 && (high - 0.943).abs() < 1e-3,
            "{low} {high}"
        );
    }

    #[test]
    fn equal_values_share_their_ranks() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
        assert_eq!(spearman(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
    }
}
