//! Writes a data set, all of it or nothing, and reads it again.

use std::io::{self, Write};
use std::path::Path;

use serde::de::DeserializeOwned;

use super::build::Built;
use super::card;

/// Writes the folder, which must not exist. It appears under its name when it is whole.
pub fn write(built: &Built, folder: &Path) -> io::Result<()> {
    let parent = folder
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    fs_err::create_dir_all(parent)?;
    let draft = tempfile::Builder::new()
        .prefix(".pairs-")
        .tempdir_in(parent)?;
    fill(built, draft.path())?;
    if folder.exists() {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            format!("{}: it already exists", folder.display()),
        ));
    }
    fs_err::rename(draft.path(), folder)?;
    let _moved = draft.keep();
    Ok(())
}

/// Writes the folder again, with what became known since. Each file is replaced when it is whole.
pub(super) fn rewrite(built: &Built, folder: &Path) -> io::Result<()> {
    let draft = tempfile::Builder::new()
        .prefix(".again-")
        .tempdir_in(folder)?;
    fill(built, draft.path())?;
    for name in FILES {
        fs_err::rename(draft.path().join(name), folder.join(name))?;
    }
    Ok(())
}

/// Reads a folder that [`write()`] made.
pub fn read(folder: &Path) -> io::Result<Built> {
    let summary = folder.join("summary.json");
    Ok(Built {
        records: read_lines(&folder.join("records.jsonl"))?,
        left_out: read_lines(&folder.join("left-out.jsonl"))?,
        summary: serde_json::from_str(&fs_err::read_to_string(&summary)?)
            .map_err(|error| strange(&summary, &error))?,
    })
}

fn read_lines<T: DeserializeOwned>(path: &Path) -> io::Result<Vec<T>> {
    let text = fs_err::read_to_string(path)?;
    let line = |line| serde_json::from_str(line).map_err(|error| strange(path, &error));
    text.lines().map(line).collect()
}

fn strange(path: &Path, error: &serde_json::Error) -> io::Error {
    let what = format!("{}: {error}", path.display());
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// All files of a data set.
const FILES: [&str; 6] = [
    "records.jsonl",
    "left-out.jsonl",
    "train.jsonl",
    "held-out.jsonl",
    "summary.json",
    "README.md",
];

fn fill(built: &Built, folder: &Path) -> io::Result<()> {
    let at = |name: &str| folder.join(name);
    lines(
        &at("records.jsonl"),
        built.records.iter().map(serde_json::to_string),
    )?;
    lines(
        &at("left-out.jsonl"),
        built.left_out.iter().map(serde_json::to_string),
    )?;
    for (name, held_out) in [("train.jsonl", false), ("held-out.jsonl", true)] {
        let chats = built
            .chats()
            .filter(|(record, _)| record.held_out == held_out)
            .map(|(_, chat)| Ok(chat.line()));
        lines(&at(name), chats)?;
    }
    let summary = serde_json::to_string_pretty(&built.summary).map_err(io::Error::other)?;
    fs_err::write(at("summary.json"), summary + "\n")?;
    fs_err::write(at("README.md"), card::of(built))
}

fn lines(
    path: &Path,
    lines: impl Iterator<Item = Result<String, serde_json::Error>>,
) -> io::Result<()> {
    let mut file = io::BufWriter::new(fs_err::File::create_new(path)?);
    for line in lines {
        writeln!(file, "{}", line.map_err(io::Error::other)?)?;
    }
    file.flush()
}
