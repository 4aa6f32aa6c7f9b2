//! What a service tells whoever runs it. It prints nothing itself.

use std::net::SocketAddr;
use std::sync::Arc;

use serde::Serialize;

/// Something worth a line in a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "notice", rename_all = "kebab-case")]
pub enum Notice {
    /// The bench judges.
    BenchReady {
        /// Its machine.
        machine: String,
    },
    /// The bench cannot be started or fell over; it is started again.
    BenchFailed {
        /// What failed.
        what: String,
        /// What may mend it.
        hint: Option<String>,
    },
    /// The machine failed to judge a candidate, also when asked again.
    JudgingFailed {
        /// What failed.
        what: String,
    },
    /// A request was refused before anything was done for it.
    Refused {
        /// Who asked.
        peer: SocketAddr,
        /// For what; control characters are left out.
        path: String,
        /// The answer's status.
        status: u16,
        /// Why.
        why: String,
    },
    /// A connection was closed early.
    Dropped {
        /// Whose.
        peer: SocketAddr,
        /// Why.
        why: String,
    },
    /// A run of a foreign trainer was opened.
    RunOpened {
        /// Its name.
        run: String,
        /// Steps that it already has.
        steps: u64,
    },
}

/// Is told of everything worth a line in a log.
pub type Listener = Arc<dyn Fn(&Notice) + Send + Sync>;

impl std::fmt::Display for Notice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::BenchReady { machine } => write!(f, "the bench judges on {machine}"),
            Self::BenchFailed { what, hint: Some(hint) } => write!(f, "the bench failed: {what} (hint: {hint})"),
            Self::BenchFailed { what, hint: None } => write!(f, "the bench failed: {what}"),
            Self::JudgingFailed { what } => write!(f, "a candidate could not be judged: {what}"),
            Self::Refused { peer, path, status, why } => write!(f, "{peer}: {status} for {path}: {why}"),
            Self::Dropped { peer, why } => write!(f, "{peer}: closed: {why}"),
            Self::RunOpened { run, steps } => write!(f, "run {run} is open ({steps} steps)"),
        }
    }
}

/// What a stranger sent, fit for a log: short, and without what would command a terminal.
pub(crate) fn tame(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(200).collect()
}
