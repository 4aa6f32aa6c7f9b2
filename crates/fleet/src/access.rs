//! How to reach a fleet's server: its address, the token, and the authority of its certificate.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use async_nats::{ConnectErrorKind, ConnectOptions, Event};
use hotloop_flow::{BenchError, Remedy};
use serde::{Deserialize, Serialize};

use crate::Log;
use crate::reminder::Reminder;

/// The time between two pings. A cut connection is noticed after two of them.
const PING: Duration = Duration::from_secs(2);
/// The longest pause between two attempts to reconnect.
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// The hint if there is no server.
const LOOK: &str = "see whether the fleet runs, or start it";

/// How to reach a fleet's server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// `tls://HOST:PORT`, or `nats://HOST:PORT` without encryption.
    pub url: String,
    /// A secret. Anyone who knows it may run code on the workers.
    #[serde(default)]
    pub token: String,
    /// The file with the authority's certificate, relative to the access file.
    #[serde(default)]
    pub ca: Option<PathBuf>,
}

impl Access {
    /// Reads an access file.
    pub fn read(path: &Path) -> Result<Self, BenchError> {
        let hint = "an access file holds url, token and ca; a fleet that starts writes one";
        let text = fs_err::read_to_string(path)
            .map_err(|error| BenchError::user(error.to_string()).hint(hint))
            .map_err(|error| error.remedies(&[Remedy::FleetUp]))?;
        let mut access: Self = toml::from_str(&text).map_err(|error| {
            BenchError::user(format!("{}: {}", path.display(), error.message()))
                .hint(hint)
                .remedies(&[Remedy::FleetUp])
        })?;
        let folder = path.parent().unwrap_or(Path::new("."));
        access.ca = access.ca.map(|ca| folder.join(ca));
        Ok(access)
    }

    /// The access file's text.
    pub(crate) fn text(&self) -> String {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let ca = self
            .ca
            .as_ref()
            .map(|ca| format!("ca = {}\n", quoted(&ca.display().to_string())));
        format!(
            "url = {}\ntoken = {}\n{}",
            quoted(&self.url),
            quoted(&self.token),
            ca.unwrap_or_default()
        )
    }

    /// Connects, and stays connected from then on. Waits at most `patience` for a server that is
    /// not up yet. A server that refuses is not retried.
    pub(crate) async fn connect(
        &self,
        name: &str,
        patience: Duration,
        log: &Log,
    ) -> Result<async_nats::Client, BenchError> {
        let begin = Instant::now();
        let mut reminder = Reminder::new();
        loop {
            let error = match self.options(name, log).connect(self.url.as_str()).await {
                Ok(client) => return Ok(client),
                Err(error) => error,
            };
            let why = chain(&error);
            let machine = |what: String, hint: &str| BenchError::machine(what).hint(hint);
            let unproven = |what: String| {
                let hint = "is the certificate expired or another authority's? A fleet that ends \
                    and starts again makes new ones";
                machine(what, hint).remedies(&[Remedy::FleetDown, Remedy::FleetUp])
            };
            match error.kind() {
                ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
                    let what = format!("{}: the server refuses the token", self.url);
                    let hint = "use the access file that this fleet wrote when it started, or its \
                        token with the address";
                    return Err(machine(what, hint).remedies(&[Remedy::FleetToken]));
                }
                ConnectErrorKind::Tls => {
                    return Err(unproven(format!(
                        "{}: no encrypted connection: {why}",
                        self.url
                    )));
                }
                ConnectErrorKind::ServerParse => {
                    return Err(
                        BenchError::user(format!("{}: no address of a server", self.url))
                            .hint("write tls://HOST:PORT"),
                    );
                }
                _ if is_certificate(&why) => {
                    return Err(unproven(format!(
                        "{}: the server's certificate is not accepted: {why}",
                        self.url
                    )));
                }
                _ if begin.elapsed() >= patience => {
                    let what = format!("{}: no server answers: {why}", self.url);
                    return Err(
                        machine(what, LOOK).remedies(&[Remedy::FleetStatus, Remedy::FleetUp])
                    );
                }
                _ => {
                    if reminder.is_due() {
                        log(
                            &format!("waiting: {}: no server answers: {why}; {LOOK}", self.url),
                            &[Remedy::FleetStatus, Remedy::FleetUp],
                        );
                    }
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
            }
        }
    }

    fn options(&self, name: &str, log: &Log) -> ConnectOptions {
        let log = Log::clone(log);
        let mut options = ConnectOptions::new()
            .name(name)
            .ping_interval(PING)
            .connection_timeout(Duration::from_secs(5))
            .request_timeout(Some(Duration::from_secs(5)))
            .reconnect_delay_callback(|tries| {
                Duration::from_millis(50 * 2_u64.saturating_pow(tries.min(8) as u32)).min(PAUSE_MAX)
            })
            .ignore_discovered_servers()
            .event_callback(move |event| {
                let log = Log::clone(&log);
                async move {
                    match event {
                        Event::Disconnected => {
                            log("the connection to the server is lost; trying again", &[]);
                        }
                        Event::ServerError(error) => log(&format!("the server says: {error}"), &[]),
                        _ => {}
                    }
                }
            });
        if !self.token.is_empty() {
            options = options.token(self.token.clone());
        }
        if let Some(ca) = &self.ca {
            options = options.add_root_certificates(ca.clone());
        }
        options.require_tls(self.url.starts_with("tls://"))
    }
}

/// An error with its causes.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text
}

fn is_certificate(why: &str) -> bool {
    [
        "certificate",
        "UnknownIssuer",
        "Expired",
        "NotValidForName",
        "BadSignature",
    ]
    .iter()
    .any(|word| why.contains(word))
}
