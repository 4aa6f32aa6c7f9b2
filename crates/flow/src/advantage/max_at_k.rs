//! The best of k answers: Walder and Karkhanis, "Pass@K Policy Optimization" (arXiv 2505.15201).
//!
//! From n answers, [`expected`] estimates the expected maximum of k without bias: the mean over all
//! subsets of k. `advantages` estimates its gradient with the paper's baseline of k - 1: from each
//! subset's maximum it subtracts the maximum without the answer itself. So an answer earns
//! something only where it is the best of a subset, and copies of the best program earn less than
//! one alone.

use super::baseline;

/// The advantages for the expected best of `k`. Their mean estimates the gradient, so the sum over
/// subsets is multiplied by the number of answers. For k = 1 the baseline is the mean of the
/// others.
pub(super) fn advantages(rewards: &[f64], k: usize) -> Vec<f64> {
    let count = rewards.len();
    let k = k.clamp(1, count);
    if k == 1 {
        return baseline::leave_one_out(rewards);
    }
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|a, b| rewards[*a].total_cmp(&rewards[*b]));
    // Among all subsets of k, this share has a certain best answer, and `below` as its second best.
    let subsets = Subsets::of(count);
    let shares: Vec<f64> = (0..count)
        .map(|below| count as f64 * subsets.share(below, k - 2, count, k))
        .collect();
    let mut values = vec![0.0; count];
    for (rank, at) in order.iter().enumerate() {
        let below = order[..rank].iter().zip(&shares);
        values[*at] = below
            .map(|(other, share)| share * (rewards[*at] - rewards[*other]))
            .sum();
    }
    values
}

/// The expected maximum of `k` of these values, drawn without replacement; NaN for none. With fewer
/// than `k` values this is their maximum.
pub fn expected(values: &[f64], k: usize) -> f64 {
    let weights = weights(values.len(), k);
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    weighted(&sorted, &weights)
}

/// What each value counts in [`expected`], from the least to the greatest.
pub fn weights(count: usize, k: usize) -> Vec<f64> {
    let k = k.clamp(1, count.max(1));
    let subsets = Subsets::of(count);
    (0..count)
        .map(|rank| subsets.share(rank, k - 1, count, k))
        .collect()
}

/// The expected maximum from sorted values and their weights.
pub fn weighted(sorted: &[f64], weights: &[f64]) -> f64 {
    if sorted.is_empty() {
        return f64::NAN;
    }
    sorted.iter().zip(weights).map(|(a, b)| a * b).sum()
}

/// The k of a run that has spent this share of its budget: it goes evenly from `first` to `last`.
pub fn annealed(first: u32, last: u32, spent: f64) -> usize {
    let (first, last) = (f64::from(first), f64::from(last));
    (first + (last - first) * spent.clamp(0.0, 1.0)).round() as usize
}

/// Binomial coefficients by their logarithms, because they overflow.
struct Subsets {
    /// The logarithms of factorials.
    factorials: Vec<f64>,
}

impl Subsets {
    fn of(count: usize) -> Self {
        let mut factorials = vec![0.0];
        for number in 1..=count {
            factorials.push(factorials[number - 1] + (number as f64).ln());
        }
        Self { factorials }
    }

    /// `C(some, picked) / C(all, k)`.
    fn share(&self, some: usize, picked: usize, all: usize, k: usize) -> f64 {
        if picked > some {
            return 0.0;
        }
        (self.log(some, picked) - self.log(all, k)).exp()
    }

    fn log(&self, all: usize, picked: usize) -> f64 {
        self.factorials[all] - self.factorials[picked] - self.factorials[all - picked]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(got: &[f64], want: &[f64]) {
        assert_eq!(got.len(), want.len());
        for (got, want) in got.iter().zip(want) {
            assert!((got - want).abs() < 1e-9, "{got} is not {want}");
        }
    }

    #[test]
    fn the_expected_best_is_the_mean_over_all_subsets() {
        // The pairs of 1, 2 and 4 have the maxima 2, 4 and 4: their mean is 10/3.
        near(&[expected(&[4.0, 1.0, 2.0], 2)], &[10.0 / 3.0]);
        near(&[expected(&[4.0, 1.0, 2.0], 1)], &[7.0 / 3.0]);
        near(&[expected(&[4.0, 1.0, 2.0], 3)], &[4.0]);
        // Fewer values than k: their maximum.
        near(&[expected(&[4.0, 1.0], 9)], &[4.0]);
        assert!(expected(&[], 2).is_nan());
    }

    #[test]
    fn advantages_are_gains_over_the_best_without_the_answer() {
        // Three answers 1, 2 and 4 make three pairs. 2 is the best of {1, 2} and gains 1 there; 4
        // is the best of {1, 4} and {2, 4} and gains 3 + 2 = 5. Times 3 answers, over 3 pairs: 0,
        // 1, 5.
        near(&advantages(&[1.0, 2.0, 4.0], 2), &[0.0, 1.0, 5.0]);
        // One subset of three: 4 gains 4 - 2 = 2 there. Times 3 answers, over 1 subset: 6.
        near(&advantages(&[4.0, 1.0, 2.0], 3), &[6.0, 0.0, 0.0]);
        // k = 1: 1 - (2 + 4) / 2, 2 - (1 + 4) / 2, 4 - (1 + 2) / 2.
        near(&advantages(&[1.0, 2.0, 4.0], 1), &[-2.0, -0.5, 2.5]);
        // A k above the group is the group's size.
        near(&advantages(&[4.0, 1.0, 2.0], 8), &[6.0, 0.0, 0.0]);
    }

    #[test]
    fn a_copy_of_the_best_takes_what_the_best_gains() {
        // Pairs of 1, 4, 4: {1, 4} twice, where a 4 gains 3, and {4, 4}, where nobody gains.
        near(&advantages(&[1.0, 4.0, 4.0], 2), &[0.0, 3.0, 3.0]);
        // All three together: the best without either 4 is the other 4.
        near(&advantages(&[1.0, 4.0, 4.0], 3), &[0.0, 0.0, 0.0]);
    }

    #[test]
    fn k_goes_evenly_from_first_to_last() {
        let of = |spent| annealed(8, 2, spent);
        assert_eq!([of(0.0), of(0.5), of(1.0), of(7.0)], [8, 5, 2, 2]);
    }

    fn subsets(values: &[f64], k: usize) -> Vec<Vec<usize>> {
        let all = 0..1u32 << values.len();
        all.filter(|bits| bits.count_ones() as usize == k)
            .map(|bits| (0..values.len()).filter(|at| bits >> at & 1 == 1).collect())
            .collect()
    }

    proptest! {
        /// Against the definition, which visits every subset.
        #[test]
        fn formulas_equal_the_definition(values in prop::collection::vec(-5.0..9.0f64, 2..8), k in 2..8usize) {
            let k = k.min(values.len());
            let best = |of: &[usize]| of.iter().map(|at| values[*at]).fold(f64::NEG_INFINITY, f64::max);
            let sets = subsets(&values, k);
            let mean = sets.iter().map(|set| best(set)).sum::<f64>() / sets.len() as f64;
            prop_assert!((expected(&values, k) - mean).abs() < 1e-9);
            for (at, got) in advantages(&values, k).into_iter().enumerate() {
                let gain = |set: &Vec<usize>| {
                    let others: Vec<usize> = set.iter().copied().filter(|one| *one != at).collect();
                    best(set) - best(&others)
                };
                let sum: f64 = sets.iter().filter(|set| set.contains(&at)).map(gain).sum();
                prop_assert!((got - sum * values.len() as f64 / sets.len() as f64).abs() < 1e-9);
            }
        }

        /// Large groups neither overflow nor lose the sum of weights.
        #[test]
        fn weights_add_up_to_one(count in 1..600usize, k in 1..600usize) {
            let sum: f64 = weights(count, k).iter().sum();
            prop_assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        }
    }
}
