//! Writes a directory atomically.
//!
//! Files are written next to their destination, synced, and renamed into place. A replaced
//! directory is called `NAME.old` between two renames. `settle` restores it after a crash in
//! between.

use std::path::{Path, PathBuf};

/// A path that could not be written, and why.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub struct SaveError {
    /// Where to.
    pub path: PathBuf,
    /// Why not.
    pub source: std::io::Error,
}

/// `NAME.suffix` next to `path`.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(suffix);
    path.with_file_name(name)
}

/// Fills a new directory with `fill` and moves it to `path`, where it replaces an old one.
pub(super) fn directory(
    path: &Path,
    fill: impl FnOnce(&Path) -> std::io::Result<()>,
) -> Result<(), SaveError> {
    replace(path, fill).map_err(|source| SaveError {
        path: path.to_owned(),
        source,
    })
}

fn replace(path: &Path, fill: impl FnOnce(&Path) -> std::io::Result<()>) -> std::io::Result<()> {
    settle(path)?;
    let (fresh, old) = (beside(path, "new"), beside(path, "old"));
    if fresh.exists() {
        fs_err::remove_dir_all(&fresh)?;
    }
    fs_err::create_dir_all(&fresh)?;
    fill(&fresh)?;
    for entry in fs_err::read_dir(&fresh)? {
        fs_err::File::open(entry?.path())?.sync_all()?;
    }
    fs_err::File::open(&fresh)?.sync_all()?;
    if path.exists() {
        fs_err::rename(path, &old)?;
    }
    fs_err::rename(&fresh, path)?;
    // The rename must be on disk before the old directory is removed.
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    fs_err::File::open(parent.unwrap_or(Path::new(".")))?.sync_all()?;
    if old.exists() {
        fs_err::remove_dir_all(&old)?;
    }
    Ok(())
}

/// Finishes an interrupted replacement: restores the old directory, or removes it if it is no
/// longer needed.
pub(super) fn settle(path: &Path) -> std::io::Result<()> {
    let old = beside(path, "old");
    if !old.exists() {
        return Ok(());
    }
    if path.exists() {
        fs_err::remove_dir_all(&old)
    } else {
        fs_err::rename(&old, path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(path: &Path) -> String {
        fs_err::read_to_string(path.join("a")).unwrap()
    }

    #[test]
    fn a_failed_write_leaves_the_old_directory() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("checkpoint");
        directory(&path, |to| fs_err::write(to.join("a"), "one")).unwrap();
        let failed = directory(&path, |to| {
            fs_err::write(to.join("a"), "two")?;
            Err(std::io::Error::other("disk full"))
        });
        assert!(failed.unwrap_err().to_string().contains("disk full"));
        assert_eq!(content(&path), "one");
        directory(&path, |to| fs_err::write(to.join("a"), "three")).unwrap();
        assert_eq!(content(&path), "three");
        assert_eq!(
            fs_err::read_dir(root.path()).unwrap().count(),
            1,
            "nothing is left beside it"
        );
    }

    #[test]
    fn a_crash_between_the_renames_loses_nothing() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("checkpoint");
        directory(&path, |to| fs_err::write(to.join("a"), "one")).unwrap();
        fs_err::rename(&path, beside(&path, "old")).unwrap();
        settle(&path).unwrap();
        assert_eq!(content(&path), "one");
    }
}
