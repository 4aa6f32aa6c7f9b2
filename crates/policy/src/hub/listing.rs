//! What a repository holds.

use serde::Deserialize;

use super::error::HubError;

/// A file of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its path in the repository.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// The name of its content in the cache, which is the hub's hash.
    pub id: String,
    /// The SHA-256 of its content, which the hub has for large files.
    pub sha256: Option<String>,
}

/// The content of a repository at one commit.
#[derive(Debug)]
pub struct Listing {
    pub commit: String,
    pub files: Vec<Entry>,
}

/// The hub's answer about a repository.
#[derive(Deserialize)]
pub(super) struct Listed {
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
    pub(super) fn into_listing(self, name: &str) -> Result<Listing, HubError> {
        // These become file names here, so they must not contain path separators.
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
