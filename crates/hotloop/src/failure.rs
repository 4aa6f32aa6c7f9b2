//! How the program ends: one exit status per kind, one line and a hint per failure.

mod remedy;

use std::io;
use std::process::ExitCode;

use hotloop_flow::{BenchError, ErrorKind, PolicyError, Remedy};
use hotloop_serve::Refusal;

use crate::output;

pub(crate) use remedy::advice;

/// The program's exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// The command did its work, whatever the verdicts are.
    Fine,
    UserError,
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

impl From<ErrorKind> for Status {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::User => Self::UserError,
            ErrorKind::Machine => Self::MachineFailed,
        }
    }
}

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) struct Failure {
    status: Status,
    what: String,
    hint: Option<String>,
    remedies: Vec<Remedy>,
}

impl Failure {
    fn new(status: Status, what: impl Into<String>) -> Self {
        Self {
            status,
            what: what.into(),
            hint: None,
            remedies: Vec::new(),
        }
    }

    pub(crate) fn user(what: impl Into<String>) -> Self {
        Self::new(Status::UserError, what)
    }

    pub(crate) fn machine(what: impl Into<String>) -> Self {
        Self::new(Status::MachineFailed, what)
    }

    pub(crate) fn of(kind: ErrorKind, what: impl Into<String>) -> Self {
        Self::new(kind.into(), what)
    }

    /// A signal stopped the program, so there is nothing to report.
    pub(crate) fn interrupted() -> Self {
        Self::new(Status::Interrupted, String::new())
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub(crate) fn remedies(mut self, remedies: &[Remedy]) -> Self {
        self.remedies = remedies.to_vec();
        self
    }

    /// A failure with a file. If the limit on file sizes caused it, the hint says how to raise that
    /// limit, because no other remedy helps.
    #[must_use]
    pub(crate) fn of_file(self, kind: io::ErrorKind) -> Self {
        if kind == io::ErrorKind::FileTooLarge {
            self.hint(hotloop_bench::role::RAISE)
        } else {
            self
        }
    }

    /// What failed, without the hint.
    pub(crate) fn what(&self) -> &str {
        &self.what
    }

    /// The same failure, with the name of what it concerns in front.
    #[must_use]
    pub(crate) fn about(mut self, what: impl Into<String>) -> Self {
        self.what = what.into();
        self
    }

    /// Reports the failure on standard error.
    pub(crate) fn tell(&self) -> Status {
        if !self.what.is_empty() {
            output::complain(&format!("hotloop: {}", self.what));
        }
        if let Some(hint) = advice(self.hint.as_deref(), &self.remedies) {
            output::complain(&format!("  hint: {hint}"));
        }
        self.status
    }
}

/// A hint for a policy's failure, if this program knows more than the policy.
pub(crate) fn policy_hint(error: &PolicyError) -> Option<&'static str> {
    const TOO_MANY_REQUESTS: u16 = 429;
    match error {
        PolicyError::Endpoint {
            status: Some(TOO_MANY_REQUESTS),
            ..
        } => Some(
            "keep below the endpoint's limit: HOTLOOP_API_PER_MINUTE=N in the environment allows N \
             requests per minute",
        ),
        PolicyError::File { kind, .. } if *kind == io::ErrorKind::FileTooLarge => {
            Some(hotloop_bench::role::RAISE)
        }
        _ => None,
    }
}

impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Self {
        Self {
            status: error.kind.into(),
            what: error.what,
            hint: error.hint,
            remedies: error.remedies,
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::user(refusal.what)
            .hint(refusal.hint)
            .remedies(refusal.remedy.as_slice())
    }
}

impl From<Failure> for BenchError {
    fn from(failure: Failure) -> Self {
        let error = match failure.status {
            Status::UserError => Self::user(failure.what),
            Status::Fine | Status::MachineFailed | Status::Interrupted => {
                Self::machine(failure.what)
            }
        };
        Self {
            hint: failure.hint,
            remedies: failure.remedies,
            ..error
        }
    }
}
