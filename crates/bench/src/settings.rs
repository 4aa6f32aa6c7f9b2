//! How to judge: everything that a user may choose.

use std::path::PathBuf;

use hotloop_flow::How;
use hotloop_flow::how::{Check, Estimator};

use crate::sandbox::Layer;

/// Rounds that a candidate, a roof or a baseline waits for quiet.
pub(crate) const ROUNDS: u32 = 3;

/// Seconds that a run on several threads lasts at least.
pub(crate) const TEAM_RUN_S: f64 = 5e-3;

/// How to judge.
#[derive(Debug, Clone)]
pub struct Settings {
    pub how: How,
    /// The compiler's command, if not found by its name.
    pub compiler_path: Option<PathBuf>,
    /// Timing slots that run side by side.
    pub slots: u32,
    /// Candidates compiled and verified side by side; 0 means one per core left.
    pub jobs: u32,
    /// Seconds that one call may take.
    pub limit_s: f64,
    /// Timed runs at most in one round.
    pub runs: u32,
    /// Rounds of samples at most while the machine is not quiet, and times that such a candidate is timed.
    pub rounds: u32,
    /// Whether compiled objects are kept and reused.
    pub reuse: bool,
    /// Judge as if these layers of the sandbox were missing.
    pub without: Vec<Layer>,
    /// Seconds that a run on several threads lasts at least: their first moments are not their pace.
    pub team_run_s: f64,
    /// The executable that plays the bench's hidden roles.
    pub roles: PathBuf,
}

impl Settings {
    /// The settings for [`How::default`].
    pub fn new(roles: PathBuf) -> Self {
        Self {
            how: How::default(),
            compiler_path: None,
            slots: 1,
            jobs: 0,
            limit_s: 1.0,
            runs: 60,
            rounds: ROUNDS,
            reuse: true,
            without: Vec::new(),
            team_run_s: TEAM_RUN_S,
            roles,
        }
    }

    /// The same settings with another way of judging. The paper's estimator takes three runs and
    /// allows a call 8 s.
    #[must_use]
    pub fn with(mut self, how: How) -> Self {
        self.how = how;
        if how.timing == Estimator::Paper {
            self.limit_s = 8.0;
            self.runs = 3;
        }
        self
    }

    /// The paper's estimator and the paper's check.
    #[must_use]
    pub fn like_the_paper(self) -> Self {
        let how = How {
            timing: Estimator::Paper,
            check: Check::Paper,
            ..self.how
        };
        self.with(how)
    }
}
