//! Writes a data set: all of it, or nothing.

use std::io::{self, Write};
use std::path::Path;

use super::build::Built;
use super::card;
use super::chat::Chat;

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
    let at = |name: &str| draft.path().join(name);
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
            .map(|(_, chat)| Ok(Chat::line(chat)));
        lines(&at(name), chats)?;
    }
    let summary = serde_json::to_string_pretty(&built.summary).map_err(io::Error::other)?;
    fs_err::write(at("summary.json"), summary + "\n")?;
    fs_err::write(at("README.md"), card::of(built))?;
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
