//! The combined result of all checks of a candidate.

use hotloop_flow::verdict::Checks;

/// The combined result of all checks of a candidate.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) checks: Checks,
    /// The first strict failure, in words.
    pub(super) strict_why: Option<String>,
    /// The first paper failure, in words.
    pub(super) paper_why: Option<String>,
}

impl Default for Found {
    fn default() -> Self {
        let checks = Checks {
            paper: true,
            strict: true,
            error: 0.0,
        };
        Self {
            checks,
            strict_why: None,
            paper_why: None,
        }
    }
}

impl Found {
    pub(super) fn note_error(&mut self, error: f64) {
        let worst = &mut self.checks.error;
        if !within(error, *worst) {
            *worst = if error.is_nan() { f64::INFINITY } else { error };
        }
    }

    pub(super) fn fail_strict(&mut self, why: String) {
        self.checks.strict = false;
        self.strict_why.get_or_insert(why);
    }

    /// Fails both checks, because the candidate wrote where it must not.
    pub(super) fn fail_both(&mut self, why: String) {
        self.checks = Checks {
            paper: false,
            strict: false,
            error: f64::INFINITY,
        };
        self.strict_why.get_or_insert_with(|| why.clone());
        self.paper_why.get_or_insert(why);
    }

    /// Adds a later result.
    pub(super) fn add(&mut self, later: Self) {
        self.note_error(later.checks.error);
        self.checks.strict &= later.checks.strict;
        self.checks.paper &= later.checks.paper;
        self.strict_why = self.strict_why.take().or(later.strict_why);
        self.paper_why = self.paper_why.take().or(later.paper_why);
    }
}

/// Whether an error is small enough. NaN never is, which `error > bound` would miss.
pub(super) fn within(error: f64, bound: f64) -> bool {
    error <= bound
}
