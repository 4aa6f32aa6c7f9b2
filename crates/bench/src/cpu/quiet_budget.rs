//! How long candidates may wait for a quiet machine.
//!
//! Waiting pays as long as it costs less than the work that it protects. So each candidate earns
//! the time that examining it took, and all candidates of a group spend from one budget: one that
//! meets a quiet machine at once leaves its share to the others. Waiting that is in vain takes a
//! quarter from what the next candidates earn, because busy spells of a host last for minutes.

/// Minimum seconds that a candidate earns, and maximum seconds of a budget.
const LEAST_S: f64 = 0.1;
const MOST_S: f64 = 3.0;
/// Seconds that one more round of samples costs.
const ROUND_S: f64 = 0.1;

/// The least share of its time that a candidate earns, however often waiting was in vain.
const LEAST_WORTH: f64 = 0.05;

/// Seconds that are left for waiting.
#[derive(Debug)]
pub(super) struct QuietBudget {
    left_s: f64,
    /// The share of its time that a candidate earns.
    worth: f64,
}

impl Default for QuietBudget {
    fn default() -> Self {
        Self {
            left_s: 0.0,
            worth: 1.0,
        }
    }
}

impl QuietBudget {
    /// Adds the time of an examination.
    pub(super) fn earn(&mut self, examined_s: f64) {
        let earned_s = self.worth * examined_s.max(LEAST_S);
        self.left_s = (self.left_s + earned_s).min(MOST_S);
    }

    /// Notes whether a candidate met a quiet machine at last.
    pub(super) fn learn(&mut self, quiet: bool) {
        self.worth = if quiet {
            1.0
        } else {
            (0.75 * self.worth).max(LEAST_WORTH)
        };
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
        assert_eq!((budget.rounds(9), budget.allows(0.2)), (2, false));
        budget.earn(0.35);
        assert_eq!((budget.rounds(9), budget.allows(0.2)), (5, true));
        budget.spend_rounds(4);
        assert_eq!((budget.rounds(9), budget.allows(0.2)), (2, false));
        (0..100).for_each(|_| budget.earn(1.0));
        assert_eq!(budget.rounds(99), 31, "a long run saves up three seconds");
        budget.spend(9.0);
        assert_eq!(budget.rounds(9), 1);
    }

    #[test]
    fn waiting_in_vain_makes_the_next_ones_wait_less() {
        let mut budget = QuietBudget::default();
        budget.learn(false);
        budget.earn(0.8);
        assert_eq!(budget.rounds(9), 7);
        (0..20).for_each(|_| budget.learn(false));
        budget.spend(9.0);
        (0..5).for_each(|_| budget.earn(0.8));
        assert_eq!(budget.rounds(9), 3, "a try now and then");
        budget.learn(true);
        budget.earn(0.8);
        assert_eq!(budget.rounds(99), 11, "one quiet moment, and it pays again");
    }
}
