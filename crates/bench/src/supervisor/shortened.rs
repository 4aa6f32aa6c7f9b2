//! Runs that end before all calls of a batch are made.
//!
//! Buffers of a batch stay where they are from run to run, so a candidate can learn them and do the work of one call in
//! another: all sets in the first call, one on each thread, or all in the last. Whatever was done ahead shows when the
//! run ends early, and so does what was put off, if it was done in the outputs (`docs/bench.md` tells what gets through).
//! Nothing but the plan tells such a run from a sample before it ends: it comes unforeseen, on fresh inputs, after the same
//! preparations. It is verified and not timed. Only teams gain by it, so only they have such runs.

use crate::inputs::Fresh;

/// One in so many samples has a shortened run before it, besides the sure ones.
const RARELY: usize = 8;

/// When runs are shortened, and to how many calls.
pub(super) struct Shortened {
    calls: usize,
    /// Two samples that have one before them in any case.
    sure: [usize; 2],
    /// How many there were, and the calls of the last.
    made: (usize, usize),
}

impl Shortened {
    /// For runs of `calls` calls. The sure ones come before the first `sure_among` samples.
    pub(super) fn new(fresh: &mut Fresh, calls: usize, sure_among: usize) -> Self {
        let first = fresh.index(sure_among);
        let second = first + 1 + fresh.index(sure_among.saturating_sub(1));
        Self { calls, sure: [first, second % sure_among.max(1)], made: (0, 0) }
    }

    /// The calls of a shortened run before sample `number`, if there is one.
    pub(super) fn before(&mut self, fresh: &mut Fresh, number: usize) -> Option<usize> {
        if self.calls < 2 || !(self.sure.contains(&number) || fresh.index(RARELY) == 0) {
            return None;
        }
        let (count, last) = self.made;
        let mut calls = 1 + fresh.index(self.calls - 1);
        // Of an odd and an even number one ends between the two calls of a pair. Later ones follow no rule: it could be learnt.
        while count == 1 && self.calls > 2 && calls % 2 == last % 2 {
            calls = 1 + fresh.index(self.calls - 1);
        }
        self.made = (count + 1, calls);
        Some(calls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(seed: u8, calls: usize, samples: usize) -> Vec<usize> {
        let mut fresh = Fresh::from_seed(seed);
        let mut shortened = Shortened::new(&mut fresh, calls, samples.min(5));
        (0..samples).filter_map(|number| shortened.before(&mut fresh, number)).collect()
    }

    #[test]
    fn every_batch_has_runs_that_end_early_and_end_between_the_calls_of_any_pair() {
        for seed in 0..100 {
            assert!(runs(seed, 1, 10).is_empty(), "a call alone cannot be shortened");
            assert!(runs(seed, 2, 5).len() >= 2);
            assert!(!runs(seed, 8, 1).is_empty());
            let few = runs(seed, 9, 5);
            assert!(few.iter().all(|calls| (1..9).contains(calls)), "{few:?}");
            assert_ne!(few[0] % 2, few[1] % 2, "{few:?}");
        }
    }

    #[test]
    fn no_sample_is_safe_from_a_run_that_ends_early() {
        let late = |seed: u8| runs(seed, 9, 40).len() > runs(seed, 9, 20).len();
        assert!((0..20).filter(|seed| late(*seed)).count() > 10);
    }
}
