//! How to judge: everything that a user may choose.

use std::path::PathBuf;

use hotloop_flow::how::{Check, Estimator};
use hotloop_flow::{How, Language};

use crate::sandbox::Layer;

/// Maximum number of rounds to wait for a quiet machine.
pub(crate) const ROUNDS: u32 = 3;

/// Minimum seconds of a run on several threads.
pub(crate) const TEAM_RUN_S: f64 = 5e-3;

/// How to judge.
#[derive(Debug, Clone)]
pub struct Settings {
    pub how: How,
    /// The languages of the jobs to come. A bench prepares for them when it opens, and
    /// [`facts`](hotloop_flow::Bench::facts) describe the machine that judges the first one. It
    /// prepares for others when their first job comes.
    pub languages: Vec<Language>,
    /// The compiler's command, if not found by its name.
    pub compiler_path: Option<PathBuf>,
    /// Number of timing slots on CPUs.
    pub slots: u32,
    /// Number of candidates compiled and verified at the same time; 0 means one per remaining core.
    pub jobs: u32,
    /// Seconds that one call may take.
    pub limit_s: f64,
    /// Maximum number of timed runs in one round.
    pub runs: u32,
    /// Maximum number of rounds of samples while the machine is not quiet, and of timings of such a
    /// candidate.
    pub rounds: u32,
    /// Whether compiled objects are kept and reused.
    pub reuse: bool,
    /// Judge as if these layers of the sandbox were missing.
    pub without: Vec<Layer>,
    /// Minimum seconds of a run on several threads, because they are slower at first.
    pub team_run_s: f64,
    /// The executable that plays the bench's hidden roles.
    pub roles: PathBuf,
}

impl Settings {
    /// The settings for [`How::default`].
    pub fn new(roles: PathBuf) -> Self {
        Self {
            how: How::default(),
            languages: vec![Language::C],
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

    /// The same settings with another `How`. The paper's estimator takes three runs and allows 8 s
    /// per call.
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
