//! Reads regular files only. Opening a pipe would wait for its writer, perhaps for ever.

use std::io;
use std::path::Path;

/// Refuses everything but a regular file.
pub(crate) fn check(path: &Path) -> io::Result<()> {
    if fs_err::metadata(path)?.is_file() {
        return Ok(());
    }
    let what = format!("{} is no regular file", path.display());
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

/// The file's bytes.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    check(path)?;
    fs_err::read(path)
}

/// The file's text.
pub(crate) fn text(path: &Path) -> io::Result<String> {
    check(path)?;
    fs_err::read_to_string(path)
}
