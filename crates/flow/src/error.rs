//! Failures that are not verdicts: whose fault they are, and how to fix them.

use serde::{Deserialize, Serialize};

/// Whose fault a failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// The user asked for something impossible.
    User,
    /// The machine, the network or another program failed. A retry may help.
    Machine,
}

/// What a user can change to fix a failure. Libraries know no flags and no commands. The program
/// translates the remedy into its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Remedy {
    /// How many OpenMP threads a candidate has.
    Threads,
    /// How many candidates are timed at the same time.
    Slots,
    /// How many candidates are compiled and verified at the same time.
    Jobs,
    /// Where the compiler is.
    CompilerPath,
    /// Whether Landlock confines the compiler.
    Landlock,
    /// Which cores a worker has.
    Cores,
    /// Whether workers may have the same core.
    ShareCores,
    /// Start the fleet.
    FleetUp,
    /// End the fleet.
    FleetDown,
    /// Look at the fleet.
    FleetStatus,
    /// The token of a fleet whose server is given by its address.
    FleetToken,
    /// Print a fleet's configuration with every key.
    FleetExample,
    /// Where the service listens.
    Bind,
    /// Which tokens the service accepts.
    TokenFile,
    /// Which tasks there are.
    TaskList,
}

/// The failure of a bench. It is never a verdict, and never becomes a reward.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct BenchError {
    pub kind: ErrorKind,
    pub what: String,
    pub hint: Option<String>,
    pub remedies: Vec<Remedy>,
}

impl BenchError {
    pub fn user(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::User, what.into())
    }

    pub fn machine(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Machine, what.into())
    }

    fn new(kind: ErrorKind, what: String) -> Self {
        Self {
            kind,
            what,
            hint: None,
            remedies: Vec::new(),
        }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Names the remedy in the hint, so that a program can say how to apply it.
    #[must_use]
    pub fn remedies(mut self, remedies: &[Remedy]) -> Self {
        self.remedies = remedies.to_vec();
        self
    }
}
