//! The run directory, and the lock that keeps a second process out of it.
//!
//! ```text
//! run.toml       the resolved configuration
//! events.jsonl   the journal: the truth
//! seed.c         the task's seed
//! candidates/    sources by hash
//! checkpoints/   the policy after so many steps
//! ```

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use hotloop_flow::{Candidate, Language, Task};

use crate::event::Line;
use crate::journal::{Journal, JournalError, Sink};
use crate::regular;

/// How many checkpoints are kept: the last, and the one before in case the last is unreadable.
const CHECKPOINTS_KEPT: usize = 2;
/// Threads that sync files to disk.
const SYNCED_AT_ONCE: usize = 8;
/// How often a lock is tried again, and after how long. [`is_held`] takes it for a moment.
const GLANCES: u32 = 5;
const GLANCE: std::time::Duration = std::time::Duration::from_millis(20);

/// A run directory that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process has it.
    #[error("{0} is in use by another process")]
    Locked(PathBuf),
    /// There is no run in it.
    #[error("{0} holds no run (there is no run.toml)")]
    NoRun(PathBuf),
    /// A candidate is missing, or its content does not match its hash. A power failure may cause
    /// this.
    #[error("{0} is lost: it is missing, or its content is not what its name says")]
    Lost(PathBuf),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] io::Error),
    /// The journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl StoreError {
    /// How the user may fix it.
    pub fn hint(&self) -> &'static str {
        let kind = match self {
            Self::Locked(_) => return "wait for it to end, or stop it",
            Self::NoRun(_) => return "name the directory of a run, or start one",
            Self::Lost(_) => {
                return "restore it from a copy of the run, or delete the first line of \
                    events.jsonl that names it and every later line: the run then samples those \
                    steps again";
            }
            Self::File(error) | Self::Journal(JournalError::File { source: error, .. }) => {
                error.kind()
            }
            Self::Journal(JournalError::Damaged { .. } | JournalError::DamagedAt { .. }) => {
                return "restore the journal from a copy";
            }
            Self::Journal(JournalError::Unwritable { .. }) => {
                return "this is a bug of hotloop; resuming may get past it";
            }
            Self::Journal(JournalError::Version { .. }) => return "use the hotloop that wrote it",
        };
        match kind {
            io::ErrorKind::NotADirectory => "name the directory of a run, not a file",
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "the disk is full: free some space, then resume"
            }
            io::ErrorKind::InvalidInput => "remove what is in its place, or restore the file",
            io::ErrorKind::FileTooLarge => "raise the limit on the size of files (ulimit -f)",
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                "the directory cannot be written"
            }
            _ => "fix the disk, then resume",
        }
    }
}

/// An open and locked run directory.
pub struct Store {
    directory: PathBuf,
    journal: Journal,
    /// Files that are not synced to disk yet.
    unsynced: RefCell<Vec<PathBuf>>,
    /// Held as long as the store lives. The kernel releases it when the process dies.
    _lock: Lock,
}

struct Lock(fs_err::File);

impl Lock {
    fn take(directory: &Path) -> Result<Self, StoreError> {
        let file = fs_err::OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(false)
            .open(lock_path(directory))?;
        for glance in 0.. {
            match file.file().try_lock() {
                Ok(()) => break,
                // A reader may just be asking whether the run has a process.
                Err(std::fs::TryLockError::WouldBlock) if glance < GLANCES => {
                    std::thread::sleep(GLANCE);
                }
                Err(std::fs::TryLockError::WouldBlock) => {
                    return Err(StoreError::Locked(directory.to_owned()));
                }
                Err(std::fs::TryLockError::Error(error)) => return Err(error.into()),
            }
        }
        Ok(Self(file))
    }
}

fn lock_path(directory: &Path) -> PathBuf {
    directory.join(".lock")
}

/// Whether a process has the run open, this one or another. `None` where the file system does not
/// tell.
pub fn is_held(directory: &Path) -> Option<bool> {
    let path = lock_path(directory);
    let file = match regular::check(&path).and_then(|()| fs_err::File::open(&path)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Some(false),
        Err(_) => return None,
    };
    match file.file().try_lock_shared() {
        Ok(()) => {
            drop(file.file().unlock());
            Some(false)
        }
        Err(std::fs::TryLockError::WouldBlock) => Some(true),
        Err(std::fs::TryLockError::Error(_)) => None,
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // An explicit unlock, because closing is not enough. A child that another thread is just
        // starting also has the file open.
        drop(self.0.file().unlock());
    }
}

impl Store {
    /// Opens a run directory, creates it if necessary, and returns the events so far.
    pub fn open(directory: &Path) -> Result<(Self, Vec<Line>), StoreError> {
        Self::open_with(directory, |sink| sink)
    }

    /// The same, but the journal's bytes go through `wrap`.
    pub fn open_with(
        directory: &Path,
        wrap: impl FnOnce(Box<dyn Sink>) -> Box<dyn Sink>,
    ) -> Result<(Self, Vec<Line>), StoreError> {
        fs_err::create_dir_all(directory.join("candidates"))?;
        fs_err::create_dir_all(directory.join("checkpoints"))?;
        // The directory's own name must survive a power failure, too. Not everybody may read the
        // folder above it.
        let above = std::path::absolute(directory)?;
        drop(
            above
                .parent()
                .map(|above| fs_err::File::open(above)?.sync_data()),
        );
        let lock = Lock::take(directory)?;
        let (journal, lines) = Journal::open(&journal_path(directory), wrap)?;
        let unsynced = RefCell::default();
        Ok((
            Self {
                directory: directory.to_owned(),
                journal,
                unsynced,
                _lock: lock,
            },
            lines,
        ))
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Records one event. If that syncs the journal to disk, the files that it names are synced
    /// first.
    pub(crate) fn append(&mut self, line: &Line) -> Result<(), StoreError> {
        if line.event.is_milestone() {
            self.sync()?;
        }
        Ok(self.journal.append(line)?)
    }

    /// Syncs the files that were stored since the last call. Several at once share the file
    /// system's commits.
    fn sync(&self) -> io::Result<()> {
        // They stay unsynced if this fails.
        let unsynced = self.unsynced.borrow().clone();
        let sync = |paths: &[PathBuf]| {
            paths
                .iter()
                .try_for_each(|path| fs_err::File::open(path)?.sync_data())
        };
        std::thread::scope(|scope| {
            let share = unsynced.len().div_ceil(SYNCED_AT_ONCE).max(1);
            let shares: Vec<_> = unsynced
                .chunks(share)
                .map(|paths| scope.spawn(move || sync(paths)))
                .collect();
            shares
                .into_iter()
                .try_for_each(|share| share.join().expect("syncing does not panic"))
        })?;
        // The folders hold the names of the files, so they are synced, too.
        let folders: BTreeSet<&Path> = unsynced.iter().filter_map(|path| path.parent()).collect();
        folders
            .into_iter()
            .try_for_each(|folder| fs_err::File::open(folder)?.sync_data())?;
        self.unsynced.borrow_mut().clear();
        Ok(())
    }

    fn write(&self, path: PathBuf, bytes: &[u8]) -> io::Result<()> {
        write_whole(&path, bytes)?;
        self.unsynced.borrow_mut().push(path);
        Ok(())
    }

    /// Stores the resolved configuration, and the seed for comparisons in reports.
    pub(crate) fn keep_config(&self, text: &str, task: &Task) -> Result<(), StoreError> {
        let file = self.directory.join(task.spec.language.file("seed"));
        self.write(file, task.seed.as_bytes())?;
        Ok(self.write(self.directory.join("run.toml"), text.as_bytes())?)
    }

    /// Stores a candidate's source, and overwrites remains that a power failure left.
    pub(crate) fn keep(&self, candidate: &Candidate) -> Result<(), StoreError> {
        let path = path_in(&self.directory, candidate.hash(), candidate.language());
        let source = candidate.source().as_bytes();
        if fs_err::read(&path).is_ok_and(|kept| kept == source) {
            return Ok(());
        }
        Ok(self.write(path, source)?)
    }

    /// A candidate by its hash.
    pub(crate) fn candidate(&self, hash: &str) -> Result<Candidate, StoreError> {
        kept(&self.directory, hash)
    }

    /// Where the policy after `step` steps is kept.
    pub fn checkpoint(&self, step: u64) -> PathBuf {
        checkpoint_path(&self.directory, step)
    }

    /// Removes all checkpoints but the last few. The run ignores a failure to do so.
    pub(crate) fn prune_checkpoints(&self) {
        let Ok(entries) = fs_err::read_dir(self.directory.join("checkpoints")) else {
            return;
        };
        let mut paths: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect();
        paths.sort();
        for path in paths.iter().rev().skip(CHECKPOINTS_KEPT) {
            drop(fs_err::remove_dir_all(path));
        }
    }
}

/// The journal of a run directory.
pub fn journal_path(directory: &Path) -> PathBuf {
    directory.join("events.jsonl")
}

/// Where the policy after `step` steps is kept.
pub fn checkpoint_path(directory: &Path, step: u64) -> PathBuf {
    directory
        .join("checkpoints")
        .join(format!("step-{step:08}"))
}

/// A candidate's source. A source that changed since it was stored must not be judged, because the
/// verdict would reflect the machine's failure.
pub fn source(directory: &Path, hash: &str) -> Result<String, StoreError> {
    kept(directory, hash).map(|candidate| candidate.source().to_owned())
}

pub(crate) fn kept(directory: &Path, hash: &str) -> Result<Candidate, StoreError> {
    let (language, path) = existing(|language| path_in(directory, hash, language));
    let bytes = match regular::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(StoreError::Lost(path));
        }
        read => read?,
    };
    String::from_utf8(bytes)
        .ok()
        .map(|source| Candidate::restore(language, source))
        .filter(|candidate| candidate.hash() == hash)
        .ok_or(StoreError::Lost(path))
}

/// The first language's path that exists; C's if none does.
fn existing(path: impl Fn(Language) -> PathBuf) -> (Language, PathBuf) {
    let mut paths = Language::ALL
        .map(|language| (language, path(language)))
        .into_iter();
    let first = (Language::C, path(Language::C));
    paths.find(|(_, path)| path.exists()).unwrap_or(first)
}

/// The seed that a run started with.
pub fn seed(directory: &Path) -> io::Result<String> {
    let (_, path) = existing(|language| directory.join(language.file("seed")));
    regular::text(&path)
}

/// The resolved configuration of a run directory.
pub fn config(directory: &Path) -> Result<String, StoreError> {
    let path = directory.join("run.toml");
    if !path.exists() {
        return Err(StoreError::NoRun(directory.to_owned()));
    }
    Ok(regular::text(&path)?)
}

/// The file of a candidate that was kept.
pub fn candidate_path(directory: &Path, hash: &str) -> PathBuf {
    existing(|language| path_in(directory, hash, language)).1
}

fn path_in(directory: &Path, hash: &str, language: Language) -> PathBuf {
    directory.join("candidates").join(language.file(hash))
}

/// Writes a file atomically.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    let part = PathBuf::from(name);
    fs_err::write(&part, bytes)?;
    fs_err::rename(&part, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_released_lock_is_free_although_a_child_still_has_it_open() {
        let folder = tempfile::tempdir().unwrap();
        let lock = Lock::take(folder.path()).unwrap();
        // Every child process holds this descriptor until it calls `exec`.
        let inherited = lock.0.file().try_clone().unwrap();
        assert!(matches!(
            Lock::take(folder.path()),
            Err(StoreError::Locked(_))
        ));
        assert_eq!(is_held(folder.path()), Some(true));
        drop(lock);
        assert_eq!(is_held(folder.path()), Some(false));
        assert!(Lock::take(folder.path()).is_ok());
        drop(inherited);
    }
}
