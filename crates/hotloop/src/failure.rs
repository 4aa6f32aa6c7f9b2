//! How the program ends: one exit status per kind, one line and a hint per failure.

use std::process::ExitCode;

use flow::BenchError;

use crate::output;

/// The program's exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// Everything asked for was done, whatever the verdicts.
    Fine,
    /// The user's error.
    UserError,
    /// The machine failed.
    MachineFailed,
    /// Stopped from outside.
    Interrupted,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(match status {
            Status::Fine => 0,
            Status::UserError => 1,
            Status::MachineFailed => 3,
            Status::Interrupted => 130,
        })
    }
}

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) struct Failure {
    status: Status,
    what: String,
    hint: Option<String>,
}

impl Failure {
    /// The user's error.
    pub(crate) fn user(what: impl Into<String>) -> Self {
        Self { status: Status::UserError, what: what.into(), hint: None }
    }

    /// The machine's failure.
    pub(crate) fn machine(what: impl Into<String>) -> Self {
        Self { status: Status::MachineFailed, what: what.into(), hint: None }
    }

    /// Stopped from outside: nothing more to say.
    pub(crate) fn interrupted() -> Self {
        Self { status: Status::Interrupted, what: String::new(), hint: None }
    }

    /// The same failure with a remedy.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What `error` says of something that the user gave.
    pub(crate) fn of_user(error: BenchError) -> Self {
        Self { status: Status::UserError, what: error.what, hint: error.hint }
    }

    /// Tells the user on standard error.
    pub(crate) fn tell(&self) -> Status {
        if !self.what.is_empty() {
            output::complain(&format!("hotloop: {}", self.what));
        }
        if let Some(hint) = &self.hint {
            output::complain(&format!("  hint: {hint}"));
        }
        self.status
    }
}

impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Self {
        Self { status: Status::MachineFailed, what: error.what, hint: error.hint }
    }
}
