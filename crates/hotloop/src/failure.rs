//! How the program ends: one exit status per kind, one line and a hint per failure.

use std::process::ExitCode;

use hotloop_flow::BenchError;

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
        Self {
            status: Status::UserError,
            what: what.into(),
            hint: None,
        }
    }

    /// The machine's failure.
    pub(crate) fn machine(what: impl Into<String>) -> Self {
        Self {
            status: Status::MachineFailed,
            what: what.into(),
            hint: None,
        }
    }

    /// Stopped from outside: nothing more to say.
    pub(crate) fn interrupted() -> Self {
        Self {
            status: Status::Interrupted,
            what: String::new(),
            hint: None,
        }
    }

    /// The same failure with a remedy.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What failed, without the remedy.
    pub(crate) fn what(&self) -> &str {
        &self.what
    }

    /// The same failure, said of something.
    #[must_use]
    pub(crate) fn about(mut self, what: impl Into<String>) -> Self {
        self.what = what.into();
        self
    }

    /// What `error` says of something that the user gave.
    pub(crate) fn of_user(error: BenchError) -> Self {
        Self {
            status: Status::UserError,
            what: error.what,
            hint: error.hint,
        }
    }

    /// Tells the user on standard error.
    pub(crate) fn tell(&self) -> Status {
        if !self.what.is_empty() {
            output::complain(&format!("hotloop: {}", self.what));
        }
        // Who was told already need not hear it twice.
        let told = |remedy: &&str| {
            self.hint
                .as_ref()
                .is_some_and(|hint| hint.contains(*remedy) || hint.contains("ulimit"))
        };
        if let Some(hint) = remedy(&self.what)
            .filter(|remedy| !told(remedy))
            .or(self.hint.as_deref())
        {
            output::complain(&format!("  hint: {hint}"));
        }
        self.status
    }
}

/// The number that Linux gives to a file that would be larger than it may.
const EFBIG: i32 = 27;

/// What mends an error of the system that may come of any file, and an endpoint that is asked too often. Those who meet
/// them know their words only: most errors name the file or the address in a text.
pub(crate) fn remedy(what: &str) -> Option<&'static str> {
    let too_large = std::io::Error::from_raw_os_error(EFBIG).to_string();
    let fewer = "keep below the endpoint's limit: HOTLOOP_API_PER_MINUTE=N in the environment lets N requests out a minute";
    let known = [
        (too_large.as_str(), hotloop_bench::role::RAISE),
        ("the last: status 429", fewer),
    ];
    known
        .into_iter()
        .find_map(|(words, remedy)| what.contains(words).then_some(remedy))
}

impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Self {
        Self {
            status: Status::MachineFailed,
            what: error.what,
            hint: error.hint,
        }
    }
}
