//! Where files from the hub are on this machine: in the cache that all Hugging Face tools share, or
//! in a folder.
//!
//! ```text
//! models--owner--name/blobs/HASH              contents
//! models--owner--name/snapshots/COMMIT/FILE   links to them, made when all contents are there
//! models--owner--name/refs/main               the commit that a branch was at
//! ```

use std::io;
use std::path::{Path, PathBuf};

use super::listing::{Entry, Listing};

/// Where a model's files go.
#[derive(Debug)]
pub enum Place {
    /// The model's folder in the shared cache.
    Cache(PathBuf),
    /// The user's folder, with plain files.
    Folder(PathBuf),
}

/// The folder of a model in the shared cache; `None` if the home folder is unknown.
fn cached(name: &str) -> Option<PathBuf> {
    let folder = |variable: &str| {
        std::env::var_os(variable)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let cache = folder("HF_HUB_CACHE")
        .or_else(|| Some(folder("HF_HOME")?.join("hub")))
        .or_else(|| Some(folder("XDG_CACHE_HOME")?.join("huggingface/hub")))
        .or_else(|| Some(folder("HOME")?.join(".cache/huggingface/hub")))?;
    Some(cache.join(format!("models--{}", name.replace('/', "--"))))
}

/// The folder with a model's snapshots in the shared cache.
pub fn snapshots(name: &str) -> Option<PathBuf> {
    cached(name).map(|folder| folder.join("snapshots"))
}

impl Place {
    /// The user's folder, or else the shared cache.
    pub fn new(name: &str, to: Option<&Path>) -> Option<Self> {
        to.map(|to| Self::Folder(to.to_owned()))
            .or_else(|| cached(name).map(Self::Cache))
    }

    /// The final path of a file's content.
    pub(super) fn contents(&self, entry: &Entry) -> PathBuf {
        match self {
            Self::Cache(folder) => folder.join("blobs").join(&entry.id),
            Self::Folder(folder) => folder.join(&entry.name),
        }
    }

    /// The folder that a loader opens.
    pub fn folder(&self, commit: &str) -> PathBuf {
        match self {
            Self::Cache(folder) => folder.join("snapshots").join(commit),
            Self::Folder(folder) => folder.clone(),
        }
    }

    /// Makes the files visible once all content has arrived. `config.json` comes last, because a
    /// folder with that file counts as a complete model.
    pub fn publish(&self, listing: &Listing, revision: &str, files: &[Entry]) -> io::Result<()> {
        let Self::Cache(folder) = self else {
            return Ok(());
        };
        let (last, first): (Vec<&Entry>, Vec<&Entry>) =
            files.iter().partition(|entry| entry.name == "config.json");
        for entry in first.into_iter().chain(last) {
            let link = self.folder(&listing.commit).join(&entry.name);
            fs_err::create_dir_all(link.parent().unwrap_or(folder))?;
            let up = "../".repeat(2 + entry.name.matches('/').count());
            match fs_err::os::unix::fs::symlink(format!("{up}blobs/{}", entry.id), &link) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                done => done?,
            }
        }
        let at = folder.join("refs").join(revision);
        fs_err::create_dir_all(at.parent().unwrap_or(folder))?;
        fs_err::write(at, &listing.commit)
    }
}
