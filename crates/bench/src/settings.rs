//! How to judge: everything that a user may choose.

use std::path::PathBuf;

use hotloop_flow::bench::{Compiler, OptLevel};
use serde::{Deserialize, Serialize};

use crate::sandbox::Layer;

/// Rounds that a candidate, a roof or a baseline waits for quiet.
pub(crate) const ROUNDS: u32 = 3;

/// Seconds that a run on several threads lasts at least.
pub(crate) const TEAM_RUN_S: f64 = 5e-3;

/// How to judge.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The compiler.
    pub compiler: Compiler,
    /// The compiler's command, if not found by its name.
    pub compiler_path: Option<PathBuf>,
    /// The level that candidates are compiled with.
    pub level: OptLevel,
    /// OpenMP threads of a candidate.
    pub threads: u32,
    /// Timing slots that run side by side.
    pub slots: u32,
    /// Candidates compiled and verified side by side; 0 means one per core left.
    pub jobs: u32,
    /// Seconds that one call may take.
    pub limit_s: f64,
    /// The check that decides.
    pub check: Check,
    /// The estimator that decides.
    pub estimator: Estimator,
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

/// The check that decides whether a candidate is correct; both are always computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// Every element, scale-aware bound.
    Strict,
    /// 105 points, 1e-6.
    Paper,
}

/// The estimator that decides; both are always reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// Median of samples with quiet probes.
    Gated,
    /// One warm-up, the mean of three runs.
    Paper,
}

impl Settings {
    /// The defaults: gcc -O3, one thread, strict check, gated estimator.
    pub fn new(roles: PathBuf) -> Self {
        Self {
            compiler: Compiler::Gcc,
            compiler_path: None,
            level: OptLevel::O3,
            threads: 1,
            slots: 1,
            jobs: 0,
            limit_s: 1.0,
            check: Check::Strict,
            estimator: Estimator::Gated,
            runs: 60,
            rounds: ROUNDS,
            reuse: true,
            without: Vec::new(),
            team_run_s: TEAM_RUN_S,
            roles,
        }
    }

    /// As the paper judges: 8 s, one warm-up, three runs, 105 points.
    #[must_use]
    pub fn like_the_paper(mut self) -> Self {
        self.limit_s = 8.0;
        self.check = Check::Paper;
        self.estimator = Estimator::Paper;
        self.runs = 3;
        self
    }
}
