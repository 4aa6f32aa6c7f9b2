//! Compilation results, cached by content: objects, rejections, precompiled headers.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use hotloop_flow::BenchError;

use crate::sys;

/// Maximum bytes of the cache before its oldest entries are removed.
const CAPACITY: u64 = 1 << 30;
/// The prefix of candidates' names. Candidates are removed first, because a task's files are small,
/// made once, and in use as long as any bench lives.
pub(crate) const CANDIDATE: &str = "candidate-";

/// Numbers files that are being added. Two threads may add the same content, for example when a
/// candidate is judged for two stages at once.
static PUTS: AtomicU64 = AtomicU64::new(0);

/// An end for the name of a file that is not whole yet, which no other thread and no other process
/// has.
pub(crate) fn own_end() -> String {
    format!(
        "{}.{}",
        std::process::id(),
        PUTS.fetch_add(1, Ordering::Relaxed)
    )
}

/// A folder of files named by the hash of their inputs. Files appear atomically.
///
/// When hotloop is root, compilers and candidates run as other users and must have access, so
/// root's cache is not in root's home.
#[derive(Debug, Clone)]
pub(crate) struct Cache {
    path: PathBuf,
    capacity: u64,
    /// Bytes added since the last pruning.
    put: Arc<AtomicU64>,
}

impl Cache {
    /// Opens the cache of this user, or the folder given by `HOTLOOP_CACHE`.
    pub(crate) fn open() -> Result<Self, BenchError> {
        let folder = |name: &str| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let of_root = sys::is_root().then(|| PathBuf::from("/var/cache/hotloop"));
        let path = folder("HOTLOOP_CACHE")
            .or(of_root)
            .or_else(|| folder("XDG_CACHE_HOME").map(|base| base.join("hotloop")))
            .or_else(|| folder("HOME").map(|base| base.join(".cache/hotloop")))
            .unwrap_or_else(|| std::env::temp_dir().join("hotloop-cache"));
        let mut cache = Self {
            path,
            capacity: CAPACITY,
            put: Arc::default(),
        };
        fs_err::create_dir_all(&cache.path).map_err(|error| failed(&error))?;
        cache.path = fs_err::canonicalize(&cache.path).map_err(|error| failed(&error))?;
        cache.check_reachable()?;
        cache.prune();
        Ok(cache)
    }

    /// A cache in a test's own folder.
    #[cfg(test)]
    pub(crate) fn at(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            capacity: CAPACITY,
            put: Arc::default(),
        }
    }

    fn check_reachable(&self) -> Result<(), BenchError> {
        if !sys::is_root() {
            return Ok(());
        }
        match sys::closed_to_others(&self.path) {
            Some(folder) => Err(BenchError::machine(format!(
                "the cache {} is not reachable for the unprivileged users that root judges as: {} is closed",
                self.path.display(),
                folder.display()
            ))
            .hint("set HOTLOOP_CACHE to a folder that others may enter")),
            None => Ok(()),
        }
    }

    /// Where the entry `name` is, or would be.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The entry, if it is there.
    pub(crate) fn get(&self, name: &str) -> Option<PathBuf> {
        let path = self.path(name);
        // Marks the entry as recently used. If that fails, another user owns and prunes the cache.
        let used = std::fs::File::open(&path).ok()?;
        drop(used.set_modified(SystemTime::now()));
        Some(path)
    }

    /// Adds a finished file atomically. An existing one stays.
    pub(crate) fn put(&self, name: &str, file: &Path) -> Result<PathBuf, BenchError> {
        use std::os::unix::fs::PermissionsExt;
        let target = self.path(name);
        let partial = self.path.join(format!(".{name}.{}", own_end()));
        let write = || {
            fs_err::copy(file, &partial)?;
            fs_err::set_permissions(&partial, std::fs::Permissions::from_mode(0o644))?;
            match std::fs::hard_link(&partial, &target) {
                Ok(()) => fs_err::remove_file(&partial),
                // Another bench was faster with the same content, and its compiler may be using
                // this very file.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                    fs_err::remove_file(&partial)
                }
                // Not every file system supports links.
                Err(_) => fs_err::rename(&partial, &target),
            }
        };
        write().map_err(|error| {
            drop(std::fs::remove_file(&partial));
            failed(&error)
        })?;
        // A run may last for weeks and must not fill the disk.
        let length = target.metadata().map_or(0, |data| data.len()).max(4096);
        if self.put.fetch_add(length, Ordering::Relaxed) + length > self.capacity / 4 {
            self.put.store(0, Ordering::Relaxed);
            self.prune();
        }
        Ok(target)
    }

    /// Writes the entry `name`, whole or not at all, in place of an older one.
    pub(crate) fn replace(&self, name: &str, bytes: &[u8]) -> std::io::Result<()> {
        let partial = self.path.join(format!(".{name}.{}", own_end()));
        fs_err::write(&partial, bytes)
            .and_then(|()| fs_err::rename(&partial, self.path(name)))
            .inspect_err(|_| drop(std::fs::remove_file(&partial)))
    }

    /// Removes the oldest entries when there are too many, candidates first. Best effort.
    fn prune(&self) {
        let Ok(entries) = std::fs::read_dir(&self.path) else {
            return;
        };
        let mut files: Vec<(bool, SystemTime, u64, PathBuf)> = entries
            .filter_map(Result::ok)
            .filter_map(|entry| {
                let data = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
                let is_needed = !entry.file_name().to_string_lossy().starts_with(CANDIDATE);
                Some((is_needed, data.modified().ok()?, data.len(), entry.path()))
            })
            .collect();
        files.sort();
        let mut total: u64 = files.iter().map(|(_, _, length, _)| length).sum();
        for (_, _, length, path) in files {
            if total <= self.capacity {
                break;
            }
            if std::fs::remove_file(path).is_ok() {
                total -= length;
            }
        }
    }
}

fn failed(error: &std::io::Error) -> BenchError {
    BenchError::machine(format!("the cache cannot be used: {error}")).hint(crate::sys::remedy(
        error,
        "free some space, or set HOTLOOP_CACHE to a folder that can be written",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_bench_has_put_in_stays_the_same_file() {
        use std::os::unix::fs::MetadataExt;
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let cache = Cache::at(folder.path());
        let file = elsewhere.path().join("made");
        std::fs::write(&file, "object").unwrap();
        let number = || {
            cache
                .put("shim.o", &file)
                .unwrap()
                .metadata()
                .unwrap()
                .ino()
        };
        let (first, second) = (number(), number());
        assert_eq!(first, second, "Landlock knows files, not names");
        assert_eq!(
            std::fs::read_dir(folder.path()).unwrap().count(),
            1,
            "nothing unfinished is left"
        );
    }

    #[test]
    fn it_stays_small_while_it_is_used_and_keeps_what_tasks_need() {
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let cache = Cache {
            capacity: 1 << 20,
            ..Cache::at(folder.path())
        };
        let file = elsewhere.path().join("made");
        std::fs::write(&file, vec![1; 100 << 10]).unwrap();
        let needed = cache.put("reference.so", &file).unwrap();
        let mut put = Vec::new();
        for number in 0..40 {
            put.push(
                cache
                    .put(&format!("{CANDIDATE}{number}.so"), &file)
                    .unwrap(),
            );
            assert!(
                cache.get("candidate-0.so").is_some(),
                "what is used again stays"
            );
        }
        let left = put.iter().filter(|path| path.exists()).count();
        assert!((5..=13).contains(&left), "{left} candidates are left");
        assert!(needed.exists() && put.last().unwrap().exists());
    }
}
