//! The Hugging Face hub: what a model's repository holds, and bringing its files here.
//!
//! `select` says which files a model needs, `fetch` brings one file over however often the line breaks, and
//! `place` knows where files lie on this machine. Nothing here prints.

mod fetch;
mod place;
mod select;
#[cfg(test)]
mod tests;

pub(crate) use fetch::Wanted;
pub(crate) use place::{Place, snapshots};
pub(crate) use select::{Unfit, select};

use std::time::Duration;

use serde::Deserialize;
use sha2::Digest;
use ureq::config::RedirectAuthHeaders;

/// Where the hub is unless `HF_ENDPOINT` says otherwise.
const ENDPOINT: &str = "https://huggingface.co";
/// How long the line may be silent before it counts as broken.
const SILENCE: Duration = Duration::from_mins(1);

/// Why something did not come from the hub.
#[derive(Debug)]
pub(crate) enum HubError {
    /// There is no way to it: no network, no such host.
    Unreachable(String),
    /// It wants to know who asks, or does not let them.
    Forbidden(String),
    /// It does not have that.
    Missing(String),
    /// What came is not what was promised, or nothing came any more.
    Broken(String),
    /// This machine could not store it.
    Disk(std::io::Error),
    /// The user asked to stop.
    Stopped,
}

/// A file of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its path there.
    pub(crate) name: String,
    /// Its bytes.
    pub(crate) size: u64,
    /// The name of its contents in the cache: the hash that the hub keeps of it.
    pub(crate) id: String,
    /// The SHA-256 of its contents, which the hub knows of large files.
    pub(crate) sha256: Option<String>,
}

/// What a repository holds at one commit.
#[derive(Debug)]
pub(crate) struct Listing {
    /// The commit.
    pub(crate) commit: String,
    /// Its files.
    pub(crate) files: Vec<Entry>,
}

/// A way to the hub.
pub(crate) struct Hub {
    endpoint: String,
    token: Option<String>,
    agent: ureq::Agent,
    /// Tries in a row that bring nothing before it gives up.
    tries: u32,
    /// The first pause between tries; each further one is twice as long.
    pause: Duration,
}

impl Hub {
    /// As `HF_ENDPOINT` and `HF_TOKEN` say.
    pub(crate) fn from_environment() -> Self {
        let read = |name: &str| {
            std::env::var(name)
                .ok()
                .filter(|value| !value.trim().is_empty())
        };
        let endpoint = read("HF_ENDPOINT").unwrap_or_else(|| ENDPOINT.to_owned());
        Self::new(&endpoint, read("HF_TOKEN"), 5, Duration::from_secs(1))
    }

    fn new(endpoint: &str, token: Option<String>, tries: u32, pause: Duration) -> Self {
        let settings = ureq::Agent::config_builder()
            .user_agent(concat!("hotloop/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(Duration::from_secs(20)))
            .timeout_recv_response(Some(SILENCE))
            .timeout_per_read(Some(SILENCE))
            // Files are sent from other hosts, which the token is none of the business of.
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

    /// Where it is.
    pub(crate) fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Whether it will be told who asks.
    pub(crate) fn has_token(&self) -> bool {
        self.token.is_some()
    }

    fn get(&self, path: &str) -> ureq::RequestBuilder<ureq::typestate::WithoutBody> {
        let request = self.agent.get(format!("{}/{path}", self.endpoint));
        match &self.token {
            Some(token) => request.header("Authorization", format!("Bearer {token}")),
            None => request,
        }
    }

    /// What a model's repository holds at a branch, tag or commit.
    pub(crate) fn list(&self, name: &str, revision: &str) -> Result<Listing, HubError> {
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
            HubError::Broken(format!("what it says of {name} is not understood: {error}"))
        })?;
        listed.into_listing(name)
    }
}

/// The hub's words.
#[derive(Deserialize)]
struct Listed {
    sha: String,
    siblings: Vec<Sibling>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sibling {
    rfilename: String,
    #[serde(default)]
    size: Option<u64>,
    #[serde(default)]
    blob_id: Option<String>,
    #[serde(default)]
    lfs: Option<Large>,
}

#[derive(Deserialize)]
struct Large {
    sha256: String,
    size: u64,
}

impl Listed {
    fn into_listing(self, name: &str) -> Result<Listing, HubError> {
        // These become names of files here, so they must not lead elsewhere.
        let is_hash =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_inside = |path: &str| {
            path.split('/')
                .all(|part| !part.is_empty() && !part.starts_with('.'))
        };
        if !is_hash(&self.sha) {
            return Err(HubError::Broken(format!(
                "{name} has the odd commit `{}`",
                self.sha
            )));
        }
        let files = self
            .siblings
            .into_iter()
            .filter(|file| is_inside(&file.rfilename))
            .filter_map(|file| {
                let sha256 = file.lfs.as_ref().map(|large| large.sha256.clone());
                let size = file.lfs.map(|large| large.size).or(file.size)?;
                let id = sha256.clone().or(file.blob_id).filter(|id| is_hash(id))?;
                Some(Entry {
                    name: file.rfilename,
                    size,
                    id,
                    sha256,
                })
            });
        Ok(Listing {
            commit: self.sha,
            files: files.collect(),
        })
    }
}

/// What a status says of `what`.
fn check_status(status: u16, what: &str) -> Result<(), HubError> {
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

/// A request that got no answer at all.
fn no_line(error: &ureq::Error) -> HubError {
    use ureq::Error::{BadUri, ConnectionFailed, HostNotFound, Io};
    let nowhere = matches!(error, Io(io) if leads_nowhere(io));
    match error {
        HostNotFound | ConnectionFailed | BadUri(_) => HubError::Unreachable(error.to_string()),
        _ if nowhere => HubError::Unreachable(error.to_string()),
        _ => HubError::Broken(error.to_string()),
    }
}

/// Whether there is no one at the other end. A name that nobody knows has no kind of its own in the standard library.
fn leads_nowhere(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{ConnectionRefused, HostUnreachable, NetworkUnreachable};
    matches!(
        error.kind(),
        ConnectionRefused | HostUnreachable | NetworkUnreachable
    ) || error
        .to_string()
        .starts_with("failed to lookup address information")
}

/// The SHA-256 in the hub's spelling.
fn spelled(hash: sha2::Sha256) -> String {
    hash.finalize()
        .iter()
        .fold(String::new(), |mut text, byte| {
            text.extend(
                [byte >> 4, byte & 15]
                    .map(|half| char::from_digit(half.into(), 16).unwrap_or_default()),
            );
            text
        })
}

/// A text as part of an address; `path` keeps its slashes.
fn encoded(text: &str, path: bool) -> String {
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
