//! How a service is set up, and which set-ups are refused.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hotloop_flow::{Remedy, Reward, Task};

/// The shortest token that is taken: shorter ones can be guessed.
const TOKEN_BYTES: usize = 16;

/// How a service is set up.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where it listens; port 0 takes a free one.
    pub bind: SocketAddr,
    /// Who may ask; empty for everybody on this machine.
    pub tokens: Vec<String>,
    /// More names that the service answers to where it has no token. It always answers to
    /// `localhost`, to loopback addresses and to the address that it listens on.
    pub hosts: Vec<String>,
    /// Certificate chain and key, both PEM files.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// The tasks that may be asked for, by name. Nothing else is ever looked up.
    pub tasks: BTreeMap<String, Arc<Task>>,
    /// The task of requests that name none.
    pub task: Option<String>,
    /// The reward of requests that name none.
    pub reward: Reward,
    /// Where runs lie: those that are told of, and those that foreign trainers make.
    pub runs: PathBuf,
    /// Overrides for runs that foreign trainers make, as `key=value`.
    pub set: Vec<String>,
    /// The problems that modules for torch may be for; without them no module is judged.
    pub problems: Option<Problems>,
    /// What must not be exceeded.
    pub limits: Limits,
}

/// Problems for torch. Their Python runs as this user and outside of every sandbox, because it says
/// what is right.
#[derive(Debug, Clone, Default)]
pub struct Problems {
    /// The texts of the known ones.
    pub texts: Vec<String>,
    /// Whether the Python that a client sends as a problem runs as well.
    pub any: bool,
}

/// What must not be exceeded.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Longest wait for verdicts before 503. Below the shortest time-out of the clients served:
    /// slime's 120 s.
    pub wait: Duration,
    /// How long a verdict is kept for those who ask for it again.
    pub keep: Duration,
    /// How long a job goes on when nobody waits for it.
    pub abandon: Duration,
    /// Verdicts kept at most.
    pub kept: usize,
    /// Jobs that wait at most.
    pub jobs: usize,
    /// Bytes of source that wait at most.
    pub job_bytes: usize,
    /// Bytes of one request's body at most.
    pub body: usize,
    /// Bytes of all bodies that are being read or judged at most, with what is made of them.
    pub bodies: usize,
    /// How long a client may take to send a request's head, and again its body.
    pub patience: Duration,
    /// Candidates in one request at most.
    pub candidates: usize,
    /// Requests a second from one address; twice as many at once.
    pub rate: f64,
    /// Connections at most.
    pub connections: usize,
    /// Connections from one address at most.
    pub connections_each: usize,
    /// How long a new connection may stay without a request.
    pub silence: Duration,
    /// Tries after a machine's failure, before it is told.
    pub retries: u32,
    /// Runs of foreign trainers that are open at once.
    pub runs: usize,
    /// How long nobody has asked for a run that is closed to make room for another.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            wait: Duration::from_secs(100),
            keep: Duration::from_mins(10),
            abandon: Duration::from_mins(5),
            kept: 20_000,
            jobs: 4096,
            job_bytes: 256 << 20,
            body: 32 << 20,
            bodies: 512 << 20,
            patience: Duration::from_secs(30),
            candidates: 1024,
            rate: 500.0,
            connections: 1024,
            connections_each: 512,
            silence: Duration::from_secs(5),
            retries: 2,
            runs: 64,
            idle: Duration::from_mins(10),
        }
    }
}

/// Why a service cannot start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Refusal {
    /// What is wrong.
    pub what: String,
    /// What may fix it.
    pub hint: String,
    /// What the hint speaks of, for a program to name.
    pub remedy: Option<Remedy>,
}

impl Refusal {
    pub(crate) fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            hint: hint.into(),
            remedy: None,
        }
    }

    pub(crate) fn remedy(mut self, remedy: Remedy) -> Self {
        self.remedy = Some(remedy);
        self
    }
}

/// Refuses a token that can be guessed, or that no header can carry.
pub fn check_token(token: &str) -> Result<(), Refusal> {
    if token.len() < TOKEN_BYTES {
        let long = hotloop_flow::count(token.len(), "character");
        return Err(Refusal::new(
            format!("a token has {long}; it needs at least {TOKEN_BYTES}"),
            "`openssl rand -hex 24` makes a good one",
        ));
    }
    if token.chars().any(|c| !c.is_ascii_graphic()) {
        return Err(Refusal::new(
            "a token holds white space or what is not ASCII",
            "use letters and digits; `openssl rand -hex 24` makes a good one",
        ));
    }
    Ok(())
}

impl Settings {
    /// A service on this machine's loopback for these tasks.
    pub fn new(tasks: impl IntoIterator<Item = Task>, runs: PathBuf) -> Self {
        Self {
            bind: SocketAddr::from(([127, 0, 0, 1], 0)),
            tokens: Vec::new(),
            hosts: Vec::new(),
            tls: None,
            tasks: tasks
                .into_iter()
                .map(|task| (task.spec.name.clone(), Arc::new(task)))
                .collect(),
            task: None,
            reward: Reward::LadderLog {
                low: 0.0,
                high: 8.0,
            },
            runs,
            set: Vec::new(),
            problems: None,
            limits: Limits::default(),
        }
    }

    /// Refuses what would let strangers run code here.
    pub fn check(&self) -> Result<(), Refusal> {
        if !self.bind.ip().is_loopback() && self.tokens.is_empty() {
            return Err(Refusal::new(
                format!(
                    "{} can be reached from other machines, and no token is set",
                    self.bind
                ),
                "name a file with tokens, or bind to 127.0.0.1",
            )
            .remedy(Remedy::TokenFile));
        }
        let runs_any = self.problems.as_ref().is_some_and(|problems| problems.any);
        if runs_any && self.tokens.is_empty() {
            return Err(Refusal::new(
                "the Python of clients would run outside of every sandbox, and no token is set",
                "name a file with tokens, or name the problems",
            )
            .remedy(Remedy::TokenFile));
        }
        self.tokens
            .iter()
            .try_for_each(|token| check_token(token))?;
        if let Some(task) = self
            .task
            .as_ref()
            .filter(|task| !self.tasks.contains_key(*task))
        {
            return Err(Refusal::new(
                format!("there is no task `{task}`"),
                "name one of the tasks that are served",
            )
            .remedy(Remedy::TaskList));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bind: &str, token: &str) -> Result<(), String> {
        let mut settings = Settings::new([], PathBuf::from("runs"));
        settings.bind = bind.parse().unwrap();
        settings.tokens = [token]
            .into_iter()
            .filter(|token| !token.is_empty())
            .map(str::to_owned)
            .collect();
        settings.check().map_err(|refusal| refusal.what)
    }

    #[test]
    fn a_public_bind_needs_a_token() {
        assert!(check("0.0.0.0:80", "").unwrap_err().contains("no token"));
        assert!(check("[::]:80", "").unwrap_err().contains("no token"));
        assert!(
            check("192.168.1.7:80", "")
                .unwrap_err()
                .contains("no token")
        );
        assert_eq!(check("127.0.0.1:80", ""), Ok(()));
        assert_eq!(check("[::1]:80", ""), Ok(()));
        assert_eq!(check("0.0.0.0:80", "0123456789abcdef0123"), Ok(()));
    }

    #[test]
    fn python_of_clients_needs_a_token_even_on_loopback() {
        let mut settings = Settings::new([], PathBuf::from("runs"));
        settings.problems = Some(Problems::default());
        assert_eq!(settings.check(), Ok(()));
        settings.problems = Some(Problems {
            any: true,
            ..Problems::default()
        });
        let why = settings.check().unwrap_err().what;
        assert!(why.contains("outside of every sandbox"), "{why}");
        settings.tokens = vec!["0123456789abcdef".to_owned()];
        assert_eq!(settings.check(), Ok(()));
    }

    #[test]
    fn a_token_that_can_be_guessed_is_refused() {
        assert!(
            check("127.0.0.1:80", "secret")
                .unwrap_err()
                .contains("at least 16")
        );
        assert!(
            check("127.0.0.1:80", "0123456789 abcdef")
                .unwrap_err()
                .contains("white space")
        );
    }
}
