//! How long candidates may wait for a quiet machine.
//!
//! Waiting pays as long as it costs less than the work that it protects. So each candidate earns
//! the time that examining it took, and all candidates of a group spend from one budget: one that
//! meets a quiet machine at once leaves its share to the others.

/// Minimum seconds that a candidate earns, and maximum seconds of a budget.
const LEAST_S: f64 = 0.35;
const MOST_S: f64 = 3.0;
/// Seconds that one more round of samples costs.
const ROUND_S: f64 = 0.1;

/// Seconds that are left for waiting.
#[derive(Debug, Default)]
pub(super) struct QuietBudget {
    left_s: f64,
}

impl QuietBudget {
    /// Adds the time of an examination.
    pub(super) fn earn(&mut self, examined_s: f64) {
        self.left_s = (self.left_s + examined_s.max(LEAST_S)).min(MOST_S);
    }

    /// Rounds of samples that one candidate may take, at most `most`.
    pub(super) fn rounds(&self, most: u32) -> u32 {
        most.min(1 + (self.left_s / ROUND_S) as u32)
    }

    /// Subtracts the rounds of a candidate. The first one is not waiting.
    pub(super) fn spend_rounds(&mut self, rounds: u32) {
        self.spend(f64::from(rounds.saturating_sub(1)) * ROUND_S);
    }

    pub(super) fn spend(&mut self, seconds: f64) {
        self.left_s = (self.left_s - seconds).max(0.0);
    }

    /// Whether a candidate may be timed once more after a pause.
    pub(super) fn allows(&self, pause_s: f64) -> bool {
        self.left_s >= pause_s + ROUND_S
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_waits_no_longer_than_its_candidates_are_worth() {
        let mut budget = QuietBudget::default();
        assert_eq!((budget.rounds(3), budget.allows(0.2)), (1, false));
        budget.earn(0.01);
        assert_eq!((budget.rounds(9), budget.allows(0.2)), (4, true));
        budget.spend_rounds(3);
        assert_eq!((budget.rounds(9), budget.allows(0.2)), (2, false));
        (0..100).for_each(|_| budget.earn(1.0));
        assert_eq!(budget.rounds(99), 31, "a long run saves up three seconds");
        budget.spend(9.0);
        assert_eq!(budget.rounds(9), 1);
    }
}
