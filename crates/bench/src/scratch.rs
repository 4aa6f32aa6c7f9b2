//! A folder for files that live as long as the bench: sources, objects, diagnostics.

use std::fs::{File, TryLockError};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use hotloop_flow::BenchError;

use crate::sys;

const PREFIX: &str = "hotloop-scratch-";
/// The file that is locked as long as the bench lives.
const LOCK: &str = "lock";

/// Gives two benches that start at once in one process different names.
static NAMES: AtomicU64 = AtomicU64::new(0);

/// The bench's folder in the system's temporary folder, which is removed with the bench. The next
/// bench removes folders that a killed bench left. A lock shows whether a bench is alive.
pub(crate) struct Scratch {
    path: PathBuf,
    _lock: File,
    next: AtomicU64,
}

impl Scratch {
    /// A fresh folder.
    pub(crate) fn new() -> Result<Self, BenchError> {
        Self::within(&std::env::temp_dir()).map_err(|error| {
            let room = "free some space, or point TMPDIR at a folder that can be written";
            BenchError::machine(format!("no working folder: {error}"))
                .hint(sys::remedy(&error, room))
        })
    }

    fn within(base: &Path) -> std::io::Result<Self> {
        sweep(base);
        loop {
            let (now, number) = (
                (sys::now() * 1e9) as u64,
                NAMES.fetch_add(1, Ordering::Relaxed),
            );
            let path = base.join(format!("{PREFIX}{}-{now:x}-{number}", std::process::id()));
            fs_err::create_dir(&path)?;
            // Other users may traverse the folder but not list it, because a candidate's user must
            // reach its own object.
            fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o711))?;
            if let Some(lock) = claim(&path)? {
                return Ok(Self {
                    path: fs_err::canonicalize(path)?,
                    _lock: lock,
                    next: AtomicU64::new(0),
                });
            }
        }
    }

    /// A new folder inside, owned by `user` if given.
    pub(crate) fn folder(&self, user: Option<u32>) -> Result<Folder, BenchError> {
        let path = self
            .path
            .join(format!("{}", self.next.fetch_add(1, Ordering::Relaxed)));
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
    BenchError::machine(format!("cannot write in the working folder: {error}")).hint(sys::remedy(
        error,
        "free some space, or point TMPDIR at a folder with room",
    ))
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

/// The lock of a new folder; `None` if another bench's sweep took it for a dead one.
fn claim(folder: &Path) -> std::io::Result<Option<File>> {
    let lock = File::create(folder.join(LOCK))?;
    // Without support for locks there is no sweep.
    let is_swept =
        matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) || !folder.join(LOCK).exists();
    Ok((!is_swept).then_some(lock))
}

/// Removes folders of benches that are no longer alive.
fn sweep(base: &Path) {
    let Ok(entries) = std::fs::read_dir(base) else {
        return;
    };
    for entry in entries.filter_map(Result::ok) {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let Ok(lock) = File::open(entry.path().join(LOCK)) else {
            continue;
        };
        // The lock is held until the folder is gone, because another bench may just be creating it.
        if lock.try_lock().is_ok() {
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
        drop(File::create(dead.join(LOCK)).unwrap());
        let lock = File::create(alive.join(LOCK)).unwrap();
        lock.try_lock().unwrap();
        sweep(base.path());
        assert!(!dead.exists() && alive.exists());
    }

    #[test]
    fn a_folder_that_another_bench_sweeps_is_not_claimed() {
        let base = tempfile::tempdir().unwrap();
        let sweeper = claim(base.path()).unwrap().expect("nobody else is here");
        assert!(claim(base.path()).unwrap().is_none());
        drop(sweeper);
        assert!(claim(base.path()).unwrap().is_some());
    }

    #[test]
    fn whoever_sweeps_a_folder_holds_its_lock_until_the_folder_is_gone() {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().join(format!("{PREFIX}1-dead"));
        let seen_while_swept = || {
            std::fs::create_dir(&folder).unwrap();
            let lock = File::create(folder.join(LOCK)).unwrap();
            for number in 0..3000 {
                File::create(folder.join(number.to_string())).unwrap();
            }
            std::thread::scope(|scope| {
                scope.spawn(|| sweep(base.path()));
                while std::fs::read_dir(&folder).is_ok_and(|entries| entries.count() == 3001) {}
                let is_free = lock.try_lock().is_ok();
                folder.exists().then_some(!is_free)
            })
        };
        // Sometimes everything is gone before the test can look.
        let held = (0..20).find_map(|_| seen_while_swept());
        assert_eq!(held, Some(true));
    }
}
