//! The Python interpreter of this machine, and what it must be able to read.

use std::path::{Path, PathBuf};

use hotloop_flow::BenchError;
use serde::{Deserialize, Serialize};

use crate::cache::Cache;
use crate::compiling::installed::{say, shared_libraries};
use crate::kept::{self, Learned};
use crate::sandbox::files::OpenFiles;
use crate::sys;

/// The oldest version that runs the stand-in.
const OLDEST: (u32, u32) = (3, 9);

/// Prints what must be known of an interpreter, a line each.
const ASK: &str = "import sys, sysconfig, os\n\
    print(os.path.realpath(sys.executable))\n\
    print(sys.version_info[0], sys.version_info[1])\n\
    print(sysconfig.get_path('stdlib'))\n\
    print(sysconfig.get_path('platstdlib'))\n";

/// An interpreter that can be used.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Python {
    pub(super) path: PathBuf,
    /// The files that it must reach.
    pub(super) files: OpenFiles,
}

impl Python {
    /// The first that serves, in `PATH`; from the cache where nothing has changed.
    pub(super) fn known(cache: &Cache) -> Result<Self, BenchError> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut name = blake3::Hasher::new();
        name.update(path.as_encoded_bytes());
        name.update(env!("CARGO_PKG_VERSION").as_bytes());
        name.update(&[u8::from(sys::is_root())]);
        let name = format!("python-{}", &name.finalize().to_hex()[..16]);
        kept::fact(cache, &name, || {
            let commands: Vec<PathBuf> = std::env::split_paths(&path)
                .map(|folder| folder.join("python3"))
                .filter(|command| command.is_file())
                .collect();
            let found = commands.iter().find_map(|command| Self::of(command));
            let found = found.ok_or_else(|| {
                BenchError::machine(format!(
                    "no Python from {}.{} on was found that answers can run in",
                    OLDEST.0, OLDEST.1
                ))
                .hint(
                    "apt-get install -y python3; when hotloop is root, every user must be able to \
                     read it",
                )
            })?;
            let from = found.files.execute.iter().chain(&commands).cloned();
            Ok(Learned {
                from: from.collect(),
                fact: found,
            })
        })
    }

    /// What a command starts, if it serves.
    fn of(command: &Path) -> Option<Self> {
        let said = say(command, &["-I", "-S", "-c", ASK])?;
        let mut lines = said.lines();
        let path = PathBuf::from(lines.next()?);
        let (major, minor) = lines.next()?.split_once(' ')?;
        let version: (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
        let mut read: Vec<PathBuf> = lines.map(PathBuf::from).collect();
        read.dedup();
        // A confined interpreter is a user with no rights of its own.
        let is_open = |one: &PathBuf| !sys::is_root() || sys::closed_to_others(one).is_none();
        if version < OLDEST || read.is_empty() || !is_open(&path) || !read.iter().all(is_open) {
            return None;
        }
        read.extend(["/etc/ld.so.cache", "/dev/null"].map(PathBuf::from));
        let mut execute = vec![path.clone()];
        execute.extend(shared_libraries(&path));
        Some(Self {
            path,
            files: OpenFiles {
                read,
                execute,
                write: Vec::new(),
            },
        })
    }
}
