//! What a service reports to the program that runs it. The service itself prints nothing.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

/// Something worth a line in a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "notice", rename_all = "kebab-case")]
pub enum Notice {
    /// The port is taken. This is always the first notice, so that a program that starts a service
    /// finds the address in its first line.
    Listening {
        /// As a client names it, with its scheme.
        address: String,
    },
    /// The bench judges.
    BenchReady { machine: String },
    /// The bench could not start or failed, and is restarted.
    BenchFailed {
        /// What failed.
        what: String,
        /// How to fix it.
        hint: Option<String>,
    },
    /// The machine failed to judge a candidate, even after a retry.
    JudgingFailed {
        /// What failed.
        what: String,
    },
    /// A request was refused before anything was done for it.
    Refused {
        /// Who asked.
        peer: SocketAddr,
        /// The requested path, without control characters.
        path: String,
        /// The answer's status.
        status: u16,
        why: String,
    },
    /// A connection was closed early.
    Dropped {
        /// Whose.
        peer: SocketAddr,
        why: String,
    },
    /// The number of omitted lines about refused requests and closed connections.
    LeftOut {
        /// How many.
        count: u64,
    },
    /// A run of a foreign trainer was opened.
    RunOpened {
        /// Its name.
        run: String,
        /// Steps that it already has.
        steps: u64,
    },
    /// An unused run made room for another. It is opened again when a request needs it.
    RunClosed {
        /// Its name.
        run: String,
    },
}

/// Called with every notice.
pub type Listener = Arc<dyn Fn(&Notice) + Send + Sync>;

impl std::fmt::Display for Notice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Listening { address } => write!(f, "the service listens on {address}"),
            Self::BenchReady { machine } => write!(f, "the bench judges on {machine}"),
            Self::BenchFailed {
                what,
                hint: Some(hint),
            } => write!(f, "the bench failed: {what} (hint: {hint})"),
            Self::BenchFailed { what, hint: None } => write!(f, "the bench failed: {what}"),
            Self::JudgingFailed { what } => write!(f, "a candidate could not be judged: {what}"),
            Self::Refused {
                peer,
                path,
                status,
                why,
            } => write!(f, "{peer}: {status} for {path}: {why}"),
            Self::Dropped { peer, why } => write!(f, "{peer}: closed: {why}"),
            Self::LeftOut { count } => write!(f, "{count} more were refused or closed"),
            Self::RunOpened { run, steps } => write!(
                f,
                "run {run} is open ({})",
                hotloop_flow::count(*steps as usize, "step")
            ),
            Self::RunClosed { run } => {
                write!(
                    f,
                    "run {run} is closed: nobody asked for it, and another needs its place"
                )
            }
        }
    }
}

/// Maximum number of lines about strangers per second, so that they cannot fill a disk.
const STRANGERS: u64 = 20;

/// The same listener, with a limit on lines about strangers.
pub(crate) fn patient(listener: Listener) -> Listener {
    let window = Mutex::new((Instant::now(), 0u64));
    Arc::new(move |notice: &Notice| {
        if !matches!(notice, Notice::Refused { .. } | Notice::Dropped { .. }) {
            return listener(notice);
        }
        let (heard, left_out) = {
            let mut window = window.lock().unwrap_or_else(PoisonError::into_inner);
            let mut left_out = 0;
            if window.0.elapsed() >= Duration::from_secs(1) {
                left_out = window.1.saturating_sub(STRANGERS);
                *window = (Instant::now(), 0);
            }
            window.1 += 1;
            (window.1 <= STRANGERS, left_out)
        };
        if left_out > 0 {
            listener(&Notice::LeftOut { count: left_out });
        }
        if heard {
            listener(notice);
        }
    })
}

/// A stranger's text for a log: short, and without control characters.
pub(crate) fn tame(text: &str) -> String {
    text.chars()
        .filter(|letter| !letter.is_control())
        .take(200)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_cannot_fill_the_log() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let own = Arc::clone(&heard);
        let listener = patient(Arc::new(move |notice: &Notice| {
            own.lock().unwrap().push(notice.clone());
        }));
        let peer = SocketAddr::from(([127, 0, 0, 1], 1));
        for _ in 0..1000 {
            listener(&Notice::Dropped {
                peer,
                why: "x".to_owned(),
            });
        }
        listener(&Notice::RunOpened {
            run: "r".to_owned(),
            steps: 0,
        });
        let heard = heard.lock().unwrap();
        // On a busy machine this may take a second or two.
        assert!(heard.len() < 500, "{}", heard.len());
        assert!(
            matches!(heard.last(), Some(Notice::RunOpened { .. })),
            "what is our own is always told"
        );
    }

    #[test]
    fn what_a_stranger_sent_cannot_command_a_terminal() {
        assert_eq!(tame("/a\u{1b}[2J\nb"), "/a[2Jb");
        assert_eq!(tame(&"x".repeat(5000)).len(), 200);
    }
}
