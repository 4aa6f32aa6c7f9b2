//! The C++ compiler of host halves.

use std::collections::BTreeSet;
use std::path::PathBuf;

use hotloop_flow::BenchError;
use serde::{Deserialize, Serialize};

use super::linking::Linking;
use crate::cache::Cache;
use crate::compiling::installed::{
    include_folders, parent, program, say, script_members, search_path, shared_libraries,
};
use crate::kept::{self, Learned};
use crate::sandbox::files::OpenFiles;

/// A C++ compiler that can be used.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct HostToolchain {
    pub(super) path: PathBuf,
    /// Everything that its programs depend on besides their sources.
    pub(super) identity: String,
    /// The files that it must reach.
    pub(super) files: OpenFiles,
    pub(super) linking: Linking,
}

impl HostToolchain {
    /// The compiler of this machine, from the cache where nothing has changed.
    pub(super) fn known(cache: &Cache) -> Result<Self, BenchError> {
        let path = search_path("g++").ok_or_else(|| {
            BenchError::machine("the C++ compiler `g++` was not found")
                .hint("host code of CUDA candidates needs it: apt-get install -y g++")
        })?;
        let mut name = blake3::Hasher::new();
        name.update(path.as_os_str().as_encoded_bytes());
        name.update(env!("CARGO_PKG_VERSION").as_bytes());
        let name = format!("host-toolchain-{}", &name.finalize().to_hex()[..16]);
        kept::fact(cache, &name, || {
            let found = Self::find(path)?;
            let files = found.files.read.iter().chain(&found.files.execute);
            let from = files.chain([&found.path]).cloned().collect();
            Ok(Learned { fact: found, from })
        })
    }

    fn find(path: PathBuf) -> Result<Self, BenchError> {
        let version = say(&path, &["--version"])
            .ok_or_else(|| BenchError::machine(format!("{} does not run", path.display())))?;
        let mut execute: BTreeSet<PathBuf> = BTreeSet::new();
        let mut read: BTreeSet<PathBuf> = include_folders(&path, "c++").into_iter().collect();
        let mut identity = blake3::Hasher::new();
        identity.update(version.as_bytes());
        let parts = ["as", "ld", "cc1plus"];
        let parts = parts.iter().filter_map(|name| program(&path, name));
        for part in parts.chain([path.clone()]) {
            execute.extend(part.canonicalize());
            execute.extend(shared_libraries(&part));
            if part.ends_with("cc1plus") {
                execute.insert(parent(&part));
            }
            execute.insert(part);
        }
        let linking = Linking::find(&path).map_err(|name| {
            BenchError::machine(format!("{name} was not found"))
                .hint("apt-get install -y g++ libc6-dev")
        })?;
        for found in linking.files() {
            if let Ok(data) = found.metadata() {
                identity.update(&data.len().to_le_bytes());
            }
            read.extend(script_members(found));
            read.extend(found.canonicalize());
            read.insert(found.clone());
        }
        read.extend(["/etc/ld.so.cache", "/dev/urandom", "/usr/lib/gcc"].map(PathBuf::from));
        Ok(Self {
            path,
            identity: identity.finalize().to_hex()[..16].to_owned(),
            files: OpenFiles {
                read: read.into_iter().collect(),
                execute: execute.into_iter().collect(),
                write: vec![PathBuf::from("/dev/null")],
            },
            linking,
        })
    }
}
