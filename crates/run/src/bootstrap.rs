//! Bootstrap intervals: how certain a number is.

use hotloop_flow::random::Random;
use serde::Serialize;

/// Resamples behind an interval.
pub(crate) const RESAMPLES: usize = 2000;
/// Any value works, but it must not change.
pub(crate) const SEED: u64 = 0x70_726f_6265;

/// A number and its 95 % bootstrap interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The value over all answers.
    pub value: f64,
    /// 2.5 % of the resamples lie below.
    pub low: f64,
    /// 2.5 % of the resamples lie above.
    pub high: f64,
}

/// Resamples runs, and answers within each stage. Stages are fixed and never resampled. Resamples
/// for which `of` returns NaN are left out.
pub(crate) fn estimate<T: Copy>(runs: &[Vec<Vec<T>>], of: impl Fn(&[Vec<T>]) -> f64) -> Estimate {
    let over = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    let mut random = Random::new(SEED);
    let drawn: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let draws = runs.iter().map(|_| {
                let stages = &runs[random.below(runs.len())];
                let resample: Vec<Vec<T>> = stages
                    .iter()
                    .map(|stage| {
                        (0..stage.len())
                            .map(|_| stage[random.below(stage.len())])
                            .collect()
                    })
                    .collect();
                of(&resample)
            });
            over(draws.collect())
        })
        .filter(|value| value.is_finite())
        .collect();
    let value = over(runs.iter().map(|stages| of(stages)).collect());
    interval(value, drawn)
}

/// A value with the interval of its resamples.
pub(crate) fn interval(value: f64, mut drawn: Vec<f64>) -> Estimate {
    drawn.sort_by(f64::total_cmp);
    let cut = drawn.len() / 40;
    let bound = |at: Option<usize>| at.and_then(|at| drawn.get(at)).copied().unwrap_or(value);
    Estimate {
        value,
        low: bound(Some(cut)),
        high: bound(drawn.len().checked_sub(1 + cut)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(stages: &[Vec<f64>]) -> f64 {
        hotloop_flow::statistics::mean(&stages.concat())
    }

    #[test]
    fn intervals_contain_the_value_and_narrow_with_more_answers() {
        let answers = |count: usize| -> Vec<Vec<f64>> {
            (0..6)
                .map(|_| {
                    (0..count)
                        .map(|at| if at % 2 == 0 { 10.0 } else { 0.0 })
                        .collect()
                })
                .collect()
        };
        let of = |runs: &[Vec<Vec<f64>>]| estimate(runs, mean);
        let (few, many) = (of(&[answers(16)]), of(&[answers(256)]));
        assert!((few.value - 5.0).abs() < 1e-12);
        assert!(few.low < 5.0 && few.high > 5.0);
        assert!(many.high - many.low < (few.high - few.low) / 3.0);
        // With 96 answers of 0 or 10 the standard error is 0.51 and the interval 5 ± 1.
        assert!((few.high - few.low - 2.0).abs() < 0.3, "{few:?}");
    }

    #[test]
    fn runs_that_disagree_widen_the_interval() {
        let run = |speed: f64| vec![vec![speed; 64]; 6];
        let agree = estimate(&[run(5.0), run(5.0), run(5.0)], mean);
        let differ = estimate(&[run(1.0), run(5.0), run(9.0)], mean);
        assert!((agree.high - agree.low).abs() < 1e-12);
        assert!(
            (differ.value - 5.0).abs() < 1e-12 && differ.low < 2.5 && differ.high > 7.5,
            "{differ:?}"
        );
    }

    #[test]
    fn resamples_without_a_number_are_left_out() {
        // The median of the correct ones: some resamples of three have none.
        let median = |stages: &[Vec<Option<f64>>]| {
            let correct: Vec<f64> = stages.concat().into_iter().flatten().collect();
            hotloop_flow::statistics::median(&correct)
        };
        let some = estimate(&[vec![vec![None, None, Some(4.0)]]], median);
        assert!(
            [some.value, some.low, some.high]
                .iter()
                .all(|value| (value - 4.0).abs() < 1e-12),
            "{some:?}"
        );
        assert!(estimate(&[vec![vec![None; 3]]], median).value.is_nan());
    }
}
