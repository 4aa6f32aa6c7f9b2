//! `events.jsonl`: append-only, one event per line.
//!
//! Every event is written at once, so a killed process loses none. At milestones (the end of a
//! step, a checkpoint) the journal is also synced to disk, after the candidates that it names. So a
//! power failure loses at most one step. Opening the journal drops a torn last line. Any other
//! unreadable line is an error.

use std::io::{self, BufRead, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::event::{Event, Line, VERSION};
use crate::regular;

/// Where the journal's bytes go.
pub trait Sink: Send {
    /// Appends all of `bytes`.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Syncs everything written so far to disk.
    fn sync(&mut self) -> io::Result<()>;
}

/// The journal's file. A write that fails leaves nothing behind.
#[derive(Debug)]
pub struct FileSink {
    file: fs_err::File,
    length: u64,
}

impl Sink for FileSink {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.file.write_all(bytes) {
            Ok(()) => {
                self.length += bytes.len() as u64;
                Ok(())
            }
            Err(error) => {
                self.file.set_len(self.length)?;
                self.file.seek(SeekFrom::Start(self.length))?;
                Err(error)
            }
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// A journal that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The journal.
        path: PathBuf,
        /// What failed.
        source: io::Error,
    },
    /// A line before the last is damaged.
    #[error("{path}: line {line} cannot be read: {why}")]
    Damaged {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        why: String,
    },
    /// The same, for a reader that follows the file and has not counted its lines.
    #[error("{path}: the line at byte {byte} cannot be read: {why}")]
    DamagedAt {
        /// The journal.
        path: PathBuf,
        /// Where the line starts.
        byte: u64,
        why: String,
    },
    /// An event holds a number that JSON cannot represent. That is a bug, but it must not cost the
    /// run.
    #[error("{path}: an event could not be read back and was not written: {why}")]
    Unwritable {
        /// The journal.
        path: PathBuf,
        why: String,
    },
    /// An older or a newer hotloop wrote it.
    #[error(
        "{path}: line {line} was written in version {version} of the journal; this hotloop reads \
         version {VERSION}"
    )]
    Version {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The version found.
        version: u32,
    },
}

/// An open journal.
pub struct Journal {
    path: PathBuf,
    sink: Box<dyn Sink>,
}

impl Journal {
    /// Opens a journal for writing, drops a torn last line, and returns the events.
    pub fn open(
        path: &Path,
        wrap: impl FnOnce(Box<dyn Sink>) -> Box<dyn Sink>,
    ) -> Result<(Self, Vec<Line>), JournalError> {
        let failed = |source| JournalError::File {
            path: path.to_owned(),
            source,
        };
        let (lines, length) = read_prefix(path)?;
        let mut file = fs_err::OpenOptions::new()
            .create(true)
            .read(true)
            .write(true)
            .truncate(false)
            .open(path)
            .map_err(failed)?;
        file.set_len(length).map_err(failed)?;
        file.seek(SeekFrom::Start(length)).map_err(failed)?;
        let sink = wrap(Box::new(FileSink { file, length }));
        Ok((
            Self {
                path: path.to_owned(),
                sink,
            },
            lines,
        ))
    }

    /// Records one event.
    pub fn append(&mut self, line: &Line) -> Result<(), JournalError> {
        let mut bytes = serde_json::to_vec(line).expect("events have a JSON form");
        if let Err(error) = serde_json::from_slice::<Line>(&bytes) {
            return Err(JournalError::Unwritable {
                path: self.path.clone(),
                why: error.to_string(),
            });
        }
        bytes.push(b'\n');
        let written = self.sink.append(&bytes);
        let synced = written.and_then(|()| {
            if line.event.is_milestone() {
                self.sink.sync()
            } else {
                Ok(())
            }
        });
        synced.map_err(|source| JournalError::File {
            path: self.path.clone(),
            source,
        })
    }
}

/// Reads a journal without changing it. A torn last line is left out.
pub fn read(path: &Path) -> Result<Vec<Line>, JournalError> {
    Ok(read_prefix(path)?.0)
}

/// A line of the journal and where it stands in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    pub line: Line,
    /// The line's first byte.
    pub start: u64,
    /// Its bytes, with the newline.
    pub length: u64,
}

/// Reads the complete lines after the first `from` bytes, about `most` bytes of them but at least
/// one line. A process may be writing the file. So whatever cannot be read at its end may become
/// readable later, and is left out.
pub fn read_after(path: &Path, from: u64, most: u64) -> Result<Vec<Placed>, JournalError> {
    let failed = |source| JournalError::File {
        path: path.to_owned(),
        source,
    };
    regular::check(path).map_err(failed)?;
    let mut file = io::BufReader::new(fs_err::File::open(path).map_err(failed)?);
    file.seek(SeekFrom::Start(from)).map_err(failed)?;
    let mut placed = Vec::new();
    let mut start = from;
    let mut text = Vec::new();
    while start - from < most {
        text.clear();
        let length = file.read_until(b'\n', &mut text).map_err(failed)? as u64;
        if !text.ends_with(b"\n") {
            break;
        }
        match parse(&text) {
            Ok(line) => placed.push(Placed {
                line,
                start,
                length,
            }),
            Err(Unreadable::Damaged(why)) => {
                if file.fill_buf().map_err(failed)?.is_empty() {
                    break;
                }
                return Err(JournalError::DamagedAt {
                    path: path.to_owned(),
                    byte: start,
                    why,
                });
            }
            Err(Unreadable::Version(version)) => {
                return Err(JournalError::Version {
                    path: path.to_owned(),
                    line: 1,
                    version,
                });
            }
        }
        start += length;
    }
    Ok(placed)
}

/// Reads one line whose place is known.
pub fn read_at(path: &Path, start: u64) -> Result<Option<Line>, JournalError> {
    Ok(read_after(path, start, 1)?
        .into_iter()
        .next()
        .map(|placed| placed.line))
}

/// The complete lines of a journal, and their size in bytes.
fn read_prefix(path: &Path) -> Result<(Vec<Line>, u64), JournalError> {
    let bytes = match regular::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(source) => {
            return Err(JournalError::File {
                path: path.to_owned(),
                source,
            });
        }
    };
    let mut lines = Vec::new();
    let mut length = 0;
    for (index, text) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let last = length + text.len() == bytes.len();
        match parse(text) {
            Ok(line) if text.ends_with(b"\n") => lines.push(line),
            // Only the newline is missing. The event is complete, but the next one would be
            // appended to its line.
            Ok(_) => break,
            // A file system may keep the length of a torn line and lose its content.
            Err(Unreadable::Damaged(_)) if last => break,
            Err(Unreadable::Damaged(why)) => {
                return Err(JournalError::Damaged {
                    path: path.to_owned(),
                    line: index + 1,
                    why,
                });
            }
            Err(Unreadable::Version(version)) => {
                return Err(JournalError::Version {
                    path: path.to_owned(),
                    line: index + 1,
                    version,
                });
            }
        }
        length += text.len();
    }
    Ok((lines, length as u64))
}

enum Unreadable {
    Damaged(String),
    Version(u32),
}

fn parse(text: &[u8]) -> Result<Line, Unreadable> {
    #[derive(serde::Deserialize)]
    struct Versioned {
        v: u32,
    }
    let damaged = |error: serde_json::Error| Unreadable::Damaged(error.to_string());
    // The version comes first, because this program may not be able to read the rest of another
    // version's line.
    let versioned: Versioned = serde_json::from_slice(text).map_err(damaged)?;
    if versioned.v != VERSION {
        return Err(Unreadable::Version(versioned.v));
    }
    serde_json::from_slice(text).map_err(damaged)
}

impl Line {
    /// An event that happens now.
    pub fn new(event: Event, at_s: f64) -> Self {
        Self {
            v: VERSION,
            at_s,
            event,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(step: u64) -> Line {
        Line::new(Event::CheckpointSaved { step }, 1.5)
    }

    fn opened(path: &Path) -> (Journal, Vec<Line>) {
        Journal::open(path, |sink| sink).unwrap()
    }

    #[test]
    fn events_are_read_back_as_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let (mut journal, before) = opened(&path);
        assert!(before.is_empty());
        for step in 0..3 {
            journal.append(&line(step)).unwrap();
        }
        assert_eq!(read(&path).unwrap(), [line(0), line(1), line(2)]);
    }

    #[test]
    fn a_torn_last_line_is_dropped_wherever_it_was_torn() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let (mut journal, _) = opened(&path);
        journal.append(&line(7)).unwrap();
        let whole = fs_err::read(&path).unwrap();
        for cut in 0..whole.len() {
            fs_err::write(&path, [&whole[..], &whole[..cut]].concat()).unwrap();
            let (mut journal, lines) = opened(&path);
            assert_eq!(lines, [line(7)], "cut at {cut}");
            journal.append(&line(8)).unwrap();
            assert_eq!(read(&path).unwrap(), [line(7), line(8)]);
        }
        fs_err::write(&path, [&whole[..], &[0; 40], b"\n"].concat()).unwrap();
        assert_eq!(opened(&path).1, [line(7)], "zeros for a line");
    }

    #[test]
    fn a_reader_that_follows_sees_each_complete_line_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let (mut journal, _) = opened(&path);
        let mut from = 0;
        let mut seen = Vec::new();
        for step in 0..5 {
            journal.append(&line(step)).unwrap();
            let whole = fs_err::read(&path).unwrap();
            // Another process is in the middle of writing a line.
            fs_err::write(&path, [&whole[..], b"{\"v\":2,\"at"].concat()).unwrap();
            for placed in read_after(&path, from, 1).unwrap() {
                assert_eq!(placed.start, from);
                assert_eq!(
                    read_at(&path, placed.start).unwrap(),
                    Some(placed.line.clone())
                );
                from += placed.length;
                seen.push(placed.line);
            }
            fs_err::write(&path, whole).unwrap();
            journal = opened(&path).0;
        }
        assert_eq!(seen, (0..5).map(line).collect::<Vec<_>>());
        fs_err::write(&path, "zeros\n").unwrap();
        assert_eq!(
            read_after(&path, 0, 100).unwrap(),
            [],
            "it may be rewritten"
        );
        fs_err::write(&path, "zeros\nmore\n").unwrap();
        let error = read_after(&path, 0, 100).unwrap_err().to_string();
        assert!(
            error.contains("the line at byte 0 cannot be read"),
            "{error}"
        );
    }

    #[test]
    fn a_pipe_is_no_journal_and_keeps_nobody_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        for error in [read(&path).err(), read_after(&path, 0, 1).err()] {
            let error = error.unwrap().to_string();
            assert!(error.contains("is no regular file"), "{error}");
        }
        let mut followed = crate::Followed::new(folder.path());
        followed.catch_up().unwrap();
        assert_eq!(followed.state().finished(), 0);
        let run = folder.path().join("run.toml");
        std::fs::rename(&path, &run).unwrap();
        let error = crate::store::config(folder.path()).unwrap_err();
        assert!(error.to_string().contains("run.toml is no regular file"));
    }

    #[test]
    fn an_event_that_cannot_be_read_back_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let (mut journal, _) = opened(&path);
        let error = journal
            .append(&Line::new(Event::CheckpointSaved { step: 1 }, f64::NAN))
            .unwrap_err();
        assert!(error.to_string().contains("was not written"), "{error}");
        journal.append(&line(2)).unwrap();
        assert_eq!(read(&path).unwrap(), [line(2)]);
    }

    #[test]
    fn damage_before_the_last_line_and_other_versions_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let good = serde_json::to_string(&line(1)).unwrap();
        fs_err::write(&path, format!("{good}\nnonsense\n{good}\n")).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("line 2 cannot be read"), "{error}");
        for other in [VERSION - 1, VERSION + 1] {
            let line = format!("{{\"v\":{other},\"event\":\"something_else\"}}\n");
            fs_err::write(&path, line).unwrap();
            let error = read(&path).unwrap_err().to_string();
            let want = format!(
                "line 1 was written in version {other} of the journal; this hotloop reads version \
                 {VERSION}"
            );
            assert!(error.ends_with(&want), "{error}");
        }
    }
}
