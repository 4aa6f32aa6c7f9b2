//! A folder of sources that somebody else wrote: which files it has, and their text.
//!
//! Nothing in such a folder is trusted. Symbolic links are not followed, hidden folders (the
//! history of a version control system) are skipped, and files that are too long are left out.
//! Bytes that are not UTF-8 are read as Latin-1, and lines end in `\n`.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The longest source that is read. No kernel file is nearly as long; generated tables are.
const SOURCE_BYTES: u64 = 1 << 20;
/// The most files in a tree. More is somebody's home folder, not a suite.
const FILES: usize = 200_000;
/// The deepest folder.
const DEPTH: usize = 32;

/// Something that is not used, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its path in its tree, or the name of what was to become of it.
    pub file: String,
    pub why: String,
}

impl LeftOut {
    pub(super) fn new(file: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            why: why.into(),
        }
    }
}

/// A tree cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    #[error("{0}: it is not a folder")]
    NotAFolder(PathBuf),
    #[error("{0}: it holds more than {FILES} files")]
    TooLarge(PathBuf),
    #[error("{folder}: it has no {wanted}")]
    Layout { folder: PathBuf, wanted: String },
    /// A line of a list of pairs.
    #[error("{file}, line {line}: {what}")]
    List {
        file: PathBuf,
        line: usize,
        what: String,
    },
    #[error("{0}")]
    Unreadable(#[from] io::Error),
}

/// A file's text, and what was changed in reading it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    pub text: String,
    pub notes: Vec<String>,
}

/// A folder and the files below it.
#[derive(Debug)]
pub struct Tree {
    root: PathBuf,
    files: BTreeSet<String>,
    left_out: Vec<LeftOut>,
}

impl Tree {
    /// Lists a folder.
    pub fn open(root: &Path) -> Result<Self, TreeError> {
        if !root.is_dir() {
            return Err(TreeError::NotAFolder(root.to_owned()));
        }
        let mut tree = Self {
            root: root.to_owned(),
            files: BTreeSet::new(),
            left_out: Vec::new(),
        };
        tree.list("", 0)?;
        Ok(tree)
    }

    fn list(&mut self, folder: &str, depth: usize) -> Result<(), TreeError> {
        if depth > DEPTH {
            self.left_out.push(LeftOut::new(
                folder,
                format!("it is more than {DEPTH} folders deep"),
            ));
            return Ok(());
        }
        let mut entries: Vec<_> =
            fs_err::read_dir(self.root.join(folder))?.collect::<Result<_, _>>()?;
        entries.sort_by_key(fs_err::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                let name = name.to_string_lossy();
                self.left_out
                    .push(LeftOut::new(joined(folder, &name), "its name is not UTF-8"));
                continue;
            };
            let path = joined(folder, name);
            let kind = entry.file_type()?;
            if kind.is_symlink() {
                if is_source(&path) || !path.contains('.') {
                    self.left_out.push(LeftOut::new(
                        path,
                        "it is a symbolic link, which is not followed",
                    ));
                }
            } else if kind.is_dir() {
                // `.git`, `.hg` and the like hold copies of sources.
                if !name.starts_with('.') {
                    self.list(&path, depth + 1)?;
                }
            } else if kind.is_file() {
                if self.files.len() == FILES {
                    return Err(TreeError::TooLarge(self.root.clone()));
                }
                self.files.insert(path);
            }
        }
        Ok(())
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// All files, by their path with slashes.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str)
    }

    pub fn has(&self, file: &str) -> bool {
        self.files.contains(file)
    }

    /// What listing left out.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// The text of a file. `Err` says why it cannot be used.
    pub fn text(&self, file: &str) -> Result<Text, String> {
        let mut bytes = Vec::new();
        let opened = fs_err::File::open(self.root.join(file)).map_err(|error| error.to_string())?;
        opened
            .take(SOURCE_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| error.to_string())?;
        if bytes.len() as u64 > SOURCE_BYTES {
            return Err(format!("it is longer than {SOURCE_BYTES} bytes"));
        }
        if bytes.contains(&0) {
            return Err("it contains a NUL byte, so it is no text".to_owned());
        }
        Ok(decoded(bytes))
    }

    /// The path that `include` in `from` names, if it is in the tree: beside `from` or in a folder
    /// above it, as the flags of a build would find it.
    pub fn included(&self, from: &str, include: &str) -> Option<String> {
        let mut folder = parent(from);
        loop {
            for place in ["", "include", "inc", "common"] {
                let found = resolved(&joined(&joined(folder, place), include));
                if let Some(found) = found.filter(|found| self.has(found)) {
                    return Some(found);
                }
            }
            if folder.is_empty() {
                return None;
            }
            folder = parent(folder);
        }
    }
}

/// The end of a file's name, without its dot.
pub(super) fn extension(path: &str) -> &str {
    name(path).rsplit_once('.').map_or("", |(_, end)| end)
}

/// Whether the name is that of a source or header in C, C++ or CUDA.
pub(super) fn is_source(path: &str) -> bool {
    ["cu", "cuh", "c", "cc", "cpp", "h", "hpp", "hh"].contains(&extension(path))
}

/// Whether the name is that of a CUDA source.
pub(super) fn is_cuda(path: &str) -> bool {
    ["cu", "cuh"].contains(&extension(path))
}

/// The folder of a path; empty at the root.
pub(super) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The last part of a path.
pub(super) fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

pub(super) fn joined(folder: &str, name: &str) -> String {
    match (folder, name) {
        ("", name) => name.to_owned(),
        (folder, "") => folder.to_owned(),
        (folder, name) => format!("{folder}/{name}"),
    }
}

/// The path without `.` and `..`; `None` if it leaves the tree.
fn resolved(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn decoded(bytes: Vec<u8>) -> Text {
    let mut notes = Vec::new();
    let mut text = String::from_utf8(bytes).unwrap_or_else(|error| {
        notes.push("it is not UTF-8 and was read as Latin-1".to_owned());
        error.into_bytes().into_iter().map(char::from).collect()
    });
    if text.contains('\r') {
        notes.push("its lines ended in carriage returns".to_owned());
        text = text.replace("\r\n", "\n").replace('\r', "\n");
    }
    if let Some(rest) = text.strip_prefix('\u{feff}') {
        text = rest.to_owned();
    }
    Text { text, notes }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &[u8])]) -> (tempfile::TempDir, Tree) {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, bytes) in files {
            let path = folder.path().join(name);
            fs_err::create_dir_all(path.parent().expect("it has one")).expect("it is ours");
            fs_err::write(path, bytes).expect("it is ours");
        }
        let tree = Tree::open(folder.path()).expect("it is a folder");
        (folder, tree)
    }

    #[test]
    fn odd_bytes_and_line_ends_are_read_and_noted() {
        let (_folder, tree) = tree(&[("a.cu", b"int a; // \xe9\r\nint b;\r")]);
        let text = tree.text("a.cu").expect("it is short");
        assert_eq!(text.text, "int a; // \u{e9}\nint b;\n");
        assert_eq!(text.notes.len(), 2, "{:?}", text.notes);
    }

    #[test]
    fn long_files_and_binaries_are_refused_with_a_reason() {
        let long = vec![b' '; SOURCE_BYTES as usize + 1];
        let (_folder, tree) = tree(&[("long.cu", &long), ("binary.cu", b"a\0b")]);
        assert!(tree.text("long.cu").expect_err("long").contains("longer"));
        assert!(tree.text("binary.cu").expect_err("binary").contains("NUL"));
    }

    #[test]
    fn links_are_not_followed_and_hidden_folders_are_skipped() {
        let (folder, _) = tree(&[("a/x.cu", b""), (".hg/store/x.cu", b"")]);
        std::os::unix::fs::symlink(folder.path(), folder.path().join("a/loop")).expect("ours");
        let tree = Tree::open(folder.path()).expect("it ends");
        assert_eq!(tree.files().collect::<Vec<_>>(), ["a/x.cu"]);
        assert_eq!(tree.left_out()[0].file, "a/loop");
    }

    #[test]
    fn includes_are_found_beside_and_above_and_never_outside() {
        let (_folder, tree) = tree(&[("a/b/x.cu", b""), ("a/b/y.h", b""), ("a/common/z.h", b"")]);
        let found = |include| tree.included("a/b/x.cu", include);
        assert_eq!(found("y.h").as_deref(), Some("a/b/y.h"));
        assert_eq!(found("./../b/y.h").as_deref(), Some("a/b/y.h"));
        assert_eq!(found("z.h").as_deref(), Some("a/common/z.h"));
        assert_eq!(found("../../../../etc/passwd"), None);
    }

    #[test]
    fn a_file_is_no_tree() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        assert!(matches!(
            Tree::open(file.path()),
            Err(TreeError::NotAFolder(_))
        ));
    }
}
