//! A folder for what only lives as long as the bench: sources, objects, diagnostics.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use flow::BenchError;

use crate::sys;

const PREFIX: &str = "hotloop-scratch-";

/// The bench's own folder under the system's temporary folder; removed with it. What a killed
/// bench left behind, the next one removes: a lock tells the dead from the living.
pub(crate) struct Scratch {
    path: PathBuf,
    _lock: File,
    next: AtomicU64,
}

impl Scratch {
    /// A fresh folder.
    pub(crate) fn new() -> Result<Self, BenchError> {
        let base = std::env::temp_dir();
        sweep(&base);
        let unique = format!("{PREFIX}{}-{:x}", std::process::id(), (sys::now() * 1e9) as u64);
        let path = base.join(unique);
        let failed = |error: std::io::Error| {
            BenchError::new(format!("no working folder: {error}"))
                .hint("free some space, or point TMPDIR at a folder that can be written")
        };
        fs_err::create_dir(&path).map_err(failed)?;
        // Other users pass through but see no names: a candidate's user must reach its own object.
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o711)).map_err(failed)?;
        let lock = File::create(path.join("lock")).map_err(failed)?;
        sys::try_lock(lock.as_raw_fd());
        let path = fs_err::canonicalize(path).map_err(failed)?;
        Ok(Self { path, _lock: lock, next: AtomicU64::new(0) })
    }

    /// A new folder inside, owned by `user` if given.
    pub(crate) fn folder(&self, user: Option<u32>) -> Result<Folder, BenchError> {
        let path = self.path.join(format!("{}", self.next.fetch_add(1, Ordering::Relaxed)));
        let make = || {
            fs_err::create_dir(&path)?;
            fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
            user.map_or(Ok(()), |user| sys::change_owner(&path, user))
        };
        make().map_err(|error| no_space(&error))?;
        Ok(Folder { path })
    }
}

/// A failure to write in the scratch folder, with its remedy.
pub(crate) fn no_space(error: &std::io::Error) -> BenchError {
    BenchError::new(format!("cannot write in the working folder: {error}"))
        .hint("free some space, or point TMPDIR at a folder with room")
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.path));
    }
}

/// A folder that is removed when dropped.
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.path));
    }
}

/// Removes what benches left behind that no longer live.
fn sweep(base: &Path) {
    let Ok(entries) = std::fs::read_dir(base) else { return };
    for entry in entries.filter_map(Result::ok) {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let is_dead = File::open(entry.path().join("lock")).is_ok_and(|lock| sys::try_lock(lock.as_raw_fd()));
        if is_dead {
            drop(std::fs::remove_dir_all(entry.path()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_bench_left_is_removed_and_the_living_stay() {
        let base = tempfile::tempdir().unwrap();
        let dead = base.path().join(format!("{PREFIX}1-dead"));
        let alive = base.path().join(format!("{PREFIX}2-alive"));
        for path in [&dead, &alive] {
            std::fs::create_dir(path).unwrap();
        }
        drop(File::create(dead.join("lock")).unwrap());
        let lock = File::create(alive.join("lock")).unwrap();
        assert!(sys::try_lock(lock.as_raw_fd()));
        sweep(base.path());
        assert!(!dead.exists() && alive.exists());
    }
}
