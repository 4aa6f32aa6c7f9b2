//! max@k: the expected best of k answers of a run, with bootstrap intervals.
//!
//! The mean says how good a usual answer is, and the best code depends on how many answers were
//! drawn. max@k says what k answers are worth, whatever their number.

use hotloop_flow::advantage::max_at_k::{weighted, weights};
use hotloop_flow::random::Random;
use serde::Serialize;

use crate::bootstrap::{Estimate, RESAMPLES, SEED, interval};
use crate::fared::Fared;
use crate::state::{RunState, Step};

/// The numbers of answers that are reported.
pub const KS: [usize; 4] = [1, 8, 64, 512];

/// Answers that are drawn for intervals, in all resamples together. The live page computes them
/// again and again beside the bench, and the more answers, the narrower is what resamples vary by.
const DRAWS: usize = 20_000_000;
const FEWEST_RESAMPLES: usize = 200;

/// The expected best of k answers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BestOf {
    pub k: usize,
    /// Its speed in the task's unit, failures counted as 0.
    pub speed: Estimate,
}

/// The expected best of `KS` answers among all that the run judged, without bias. A k above the
/// number of answers is left out. The policy changes while a run goes on, so this describes the run
/// and not its last policy.
pub fn of_run(state: &RunState) -> Vec<BestOf> {
    let verdicts = state.steps.iter().flat_map(Step::members);
    let verdicts = verdicts.filter_map(|member| member.verdict.as_ref());
    let fared = Fared::all(verdicts, state.pace());
    of(fared.iter().map(|one| one.speed).collect())
}

fn of(mut speeds: Vec<f64>) -> Vec<BestOf> {
    speeds.sort_by(f64::total_cmp);
    let count = speeds.len();
    let ks: Vec<usize> = KS.into_iter().filter(|k| *k <= count).collect();
    // The share of subsets whose best has at most this rank.
    let shares: Vec<Vec<f64>> = ks.iter().map(|k| summed(&weights(count, *k))).collect();
    let resamples = if ks.is_empty() { 0 } else { resamples(count) };
    let mut drawn: Vec<Vec<f64>> = vec![Vec::with_capacity(resamples); ks.len()];
    let mut random = Random::new(SEED);
    let mut times = vec![0usize; count];
    for _ in 0..resamples {
        times.fill(0);
        (0..count).for_each(|_| times[random.below(count)] += 1);
        for (drawn, shares) in drawn.iter_mut().zip(&shares) {
            // A resample is sorted like the answers, each as often as it was drawn.
            let (mut rank, mut sum) = (0, 0.0);
            for (speed, times) in speeds.iter().zip(&times) {
                sum += speed * (shares[rank + times] - shares[rank]);
                rank += times;
            }
            drawn.push(sum);
        }
    }
    let each = ks.into_iter().zip(drawn);
    each.map(|(k, drawn)| BestOf {
        k,
        speed: interval(weighted(&speeds, &weights(count, k)), drawn),
    })
    .collect()
}

fn resamples(count: usize) -> usize {
    (DRAWS / count.max(1)).clamp(FEWEST_RESAMPLES, RESAMPLES)
}

/// The sums of the first 0, 1, 2, ... values.
fn summed(values: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for value in values {
        sums.push(sums[sums.len() - 1] + value);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_k_is_unbiased_and_its_interval_covers_it() {
        // Of ten answers one has 10 and nine have 0: a subset of 8 misses it with probability
        // C(9, 8) / C(10, 8) = 9 / 45, so its best is 10 x 0.8.
        let mut speeds = vec![0.0; 9];
        speeds.push(10.0);
        let found = of(speeds);
        assert_eq!(found.iter().map(|one| one.k).collect::<Vec<_>>(), [1, 8]);
        assert!((found[0].speed.value - 1.0).abs() < 1e-9);
        assert!((found[1].speed.value - 8.0).abs() < 1e-9, "{found:?}");
        // A resample lacks the fast one with probability (9/10)^10 = 0.35, so 0 is in the interval.
        assert!(found[1].speed.low.abs() < 1e-9 && (found[1].speed.high - 10.0).abs() < 1e-9);
        assert!(of(Vec::new()).is_empty());
    }

    #[test]
    fn many_answers_need_few_resamples() {
        assert_eq!([100, 10_000, 100_000].map(resamples), [2000, 2000, 200]);
        // The mean of 20,000 numbers between 0 and 1 has a standard error of 1 / sqrt(12 x 20,000).
        let count = 20_000.0;
        let found = of((0..20_000).map(|at| f64::from(at) / count).collect());
        let Estimate { low, high, .. } = found[0].speed;
        let wanted = 2.0 * 1.96 / f64::sqrt(12.0 * count);
        assert!((0.9..1.1).contains(&((high - low) / wanted)), "{found:?}");
    }

    #[test]
    fn equal_answers_have_an_interval_of_no_width() {
        for one in of(vec![3.0; 70]) {
            let Estimate { value, low, high } = one.speed;
            for got in [value, low, high] {
                assert!((got - 3.0).abs() < 1e-9, "{one:?}");
            }
        }
    }
}
