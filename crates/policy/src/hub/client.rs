//! Requests to the hub, and the content of a repository.

use std::time::Duration;

use ureq::config::RedirectAuthHeaders;

use super::error::HubError;
use super::listing::{Listed, Listing};

/// The hub's default address, which `HF_ENDPOINT` overrides.
const ENDPOINT: &str = "https://huggingface.co";
/// How long the connection may be silent before it counts as broken.
const SILENCE: Duration = Duration::from_mins(1);

/// A client of the hub.
pub struct Hub {
    endpoint: String,
    token: Option<String>,
    agent: ureq::Agent,
    /// Attempts in a row without progress before it gives up.
    pub(super) tries: u32,
    /// The first pause between attempts. Each further one is twice as long.
    pub(super) pause: Duration,
}

impl Hub {
    /// A client configured by `HF_ENDPOINT` and `HF_TOKEN`.
    pub fn from_environment() -> Self {
        let read = |name: &str| {
            std::env::var(name)
                .ok()
                .filter(|value| !value.trim().is_empty())
        };
        let endpoint = read("HF_ENDPOINT").unwrap_or_else(|| ENDPOINT.to_owned());
        Self::new(&endpoint, read("HF_TOKEN"), 5, Duration::from_secs(1))
    }

    pub(super) fn new(endpoint: &str, token: Option<String>, tries: u32, pause: Duration) -> Self {
        let settings = ureq::Agent::config_builder()
            .user_agent(concat!("hotloop/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(Duration::from_secs(20)))
            .timeout_recv_response(Some(SILENCE))
            .timeout_per_read(Some(SILENCE))
            // Other hosts send the files and must not see the token.
            .redirect_auth_headers(RedirectAuthHeaders::SameHost)
            .http_status_as_error(false);
        let endpoint = endpoint.trim_end_matches('/').to_owned();
        Self {
            endpoint,
            token,
            agent: settings.build().into(),
            tries,
            pause,
        }
    }

    /// The hub's address.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Whether requests carry a token.
    pub fn has_token(&self) -> bool {
        self.token.is_some()
    }

    pub(super) fn get(&self, path: &str) -> ureq::RequestBuilder<ureq::typestate::WithoutBody> {
        let request = self.agent.get(format!("{}/{path}", self.endpoint));
        match &self.token {
            Some(token) => request.header("Authorization", format!("Bearer {token}")),
            None => request,
        }
    }

    /// The content of a model's repository at a branch, tag or commit.
    pub fn list(&self, name: &str, revision: &str) -> Result<Listing, HubError> {
        let path = format!(
            "api/models/{name}/revision/{}?blobs=true",
            encoded(revision, false)
        );
        let mut tried = 1;
        loop {
            match self.list_once(&path, name) {
                Err(HubError::Broken(why)) if tried >= self.tries => {
                    return Err(HubError::Broken(why));
                }
                Err(HubError::Broken(_)) => std::thread::sleep(self.pause * 2_u32.pow(tried - 1)),
                done => return done,
            }
            tried += 1;
        }
    }

    fn list_once(&self, path: &str, name: &str) -> Result<Listing, HubError> {
        let mut response = self.get(path).call().map_err(|error| no_line(&error))?;
        let text = response
            .body_mut()
            .read_to_string()
            .map_err(|error| HubError::Broken(error.to_string()))?;
        check_status(response.status().as_u16(), name)?;
        let listed: Listed = serde_json::from_str(&text).map_err(|error| {
            HubError::Broken(format!("its answer about {name} cannot be read: {error}"))
        })?;
        listed.into_listing(name)
    }
}

/// Turns a status into a result for `what`.
pub(super) fn check_status(status: u16, what: &str) -> Result<(), HubError> {
    match status {
        200..=299 => Ok(()),
        401 | 403 => Err(HubError::Forbidden(format!(
            "the hub does not give {what} (status {status})"
        ))),
        404 | 410 => Err(HubError::Missing(format!(
            "the hub has no {what} (status {status})"
        ))),
        408 | 425 | 429 | 500..=599 => Err(HubError::Broken(format!("{what}: status {status}"))),
        _ => Err(HubError::Missing(format!("{what}: status {status}"))),
    }
}

/// The error for a request without any answer.
pub(super) fn no_line(error: &ureq::Error) -> HubError {
    use ureq::Error::{BadUri, ConnectionFailed, HostNotFound, Io};
    let nowhere = matches!(error, Io(io) if leads_nowhere(io));
    match error {
        HostNotFound | ConnectionFailed | BadUri(_) => HubError::Unreachable(error.to_string()),
        _ if nowhere => HubError::Unreachable(error.to_string()),
        _ => HubError::Broken(error.to_string()),
    }
}

/// Whether there is no server. The standard library has no error kind for an unknown host name.
fn leads_nowhere(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{ConnectionRefused, HostUnreachable, NetworkUnreachable};
    matches!(
        error.kind(),
        ConnectionRefused | HostUnreachable | NetworkUnreachable
    ) || error
        .to_string()
        .starts_with("failed to lookup address information")
}

/// A text encoded for an address. `path` keeps its slashes.
pub(super) fn encoded(text: &str, path: bool) -> String {
    let plain = |byte: u8| {
        byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || (path && byte == b'/')
    };
    let spell = |byte| {
        if plain(byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    text.bytes().map(spell).collect()
}
