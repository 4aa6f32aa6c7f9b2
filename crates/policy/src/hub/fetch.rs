//! Downloads one file from the hub, however often the connection breaks.
//!
//! The bytes so far are in `NAME.incomplete` until the file is complete and checked. A later call
//! continues there. Attempts that make progress do not count, so a bad connection only takes
//! longer.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use fs_err::{File, OpenOptions};
use sha2::{Digest, Sha256};

use super::client::{Hub, check_status, encoded, no_line};
use super::error::HubError;
use super::listing::Entry;
use super::place::Place;

/// Bytes read at once.
const CHUNK: usize = 1 << 17;

/// A file to download, with its repository and commit.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    pub name: &'a str,
    pub commit: &'a str,
    pub entry: &'a Entry,
}

/// Called during the download with the number of bytes received. Returning false stops it.
pub type Watch<'a> = dyn FnMut(u64) -> bool + 'a;

impl Hub {
    /// Downloads one file to its place, unless it exists with the right size.
    pub fn fetch(&self, wanted: Wanted, place: &Place, watch: &mut Watch) -> Result<(), HubError> {
        let whole = place.contents(wanted.entry);
        if fs_err::metadata(&whole)
            .is_ok_and(|facts| facts.is_file() && facts.len() == wanted.entry.size)
        {
            return Ok(());
        }
        fs_err::create_dir_all(whole.parent().unwrap_or(Path::new("."))).map_err(HubError::Disk)?;
        let partial = incomplete(&whole);
        let open = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&partial);
        let file = &mut open.map_err(HubError::Disk)?;
        if file.file().try_lock().is_err() {
            return Err(HubError::Broken(format!(
                "{} is being written by another program",
                partial.display()
            )));
        }
        self.fill(wanted, file, watch)?;
        check(wanted.entry, file, watch).inspect_err(|error| {
            // Wrong content will not become right, so the next call starts from the beginning.
            if matches!(error, HubError::Broken(_)) {
                drop(file.set_len(0));
            }
        })?;
        file.sync_all()
            .and_then(|()| fs_err::rename(&partial, &whole))
            .map_err(HubError::Disk)
    }

    /// Sends requests until all bytes have arrived.
    fn fill(&self, wanted: Wanted, file: &mut File, watch: &mut Watch) -> Result<(), HubError> {
        let (mut fruitless, mut best) = (0, 0);
        loop {
            let before = file.metadata().map_err(HubError::Disk)?.len();
            let why = match self.ask(wanted, file, before, watch) {
                Ok(()) => return Ok(()),
                Err(HubError::Broken(why) | HubError::Unreachable(why)) => why,
                Err(error) => return Err(error),
            };
            // Progress means more bytes than ever before. A server without ranges that disconnects
            // at random points makes none.
            best = best.max(before);
            if file.metadata().map_err(HubError::Disk)?.len() > best {
                fruitless = 0;
                continue;
            }
            fruitless += 1;
            if fruitless >= self.tries {
                return Err(HubError::Broken(format!(
                    "{}: tried in vain {}, the last: {why}",
                    wanted.entry.name,
                    hotloop_flow::count(fruitless as usize, "time")
                )));
            }
            std::thread::sleep(self.pause * 2_u32.pow(fruitless - 1));
            if !watch(before) {
                return Err(HubError::Stopped);
            }
        }
    }

    /// Sends one request for the bytes after `have`.
    fn ask(
        &self,
        wanted: Wanted,
        file: &mut File,
        mut have: u64,
        watch: &mut Watch,
    ) -> Result<(), HubError> {
        let Wanted {
            name,
            commit,
            entry,
        } = wanted;
        if have > entry.size {
            file.set_len(0).map_err(HubError::Disk)?;
            have = 0;
        }
        if have == entry.size {
            return Ok(());
        }
        let mut request = self.get(&format!(
            "{name}/resolve/{commit}/{}",
            encoded(&entry.name, true)
        ));
        if have > 0 {
            request = request.header("Range", format!("bytes={have}-"));
        }
        let response = request.call().map_err(|error| no_line(&error))?;
        check_status(response.status().as_u16(), &entry.name)?;
        let range = response
            .headers()
            .get("content-range")
            .and_then(|value| value.to_str().ok());
        let from = if response.status().as_u16() == 206 {
            range.and_then(first).unwrap_or(u64::MAX)
        } else {
            0
        };
        if from > have {
            return Err(HubError::Broken(format!(
                "{}: bytes from {have} on were requested, but {range:?} came",
                entry.name
            )));
        }
        // A server without ranges starts at the beginning, so the file does, too.
        file.set_len(from)
            .and_then(|()| file.seek(SeekFrom::Start(from)).map(drop))
            .map_err(HubError::Disk)?;
        copy(
            &mut response.into_body().into_reader(),
            file,
            entry,
            from,
            watch,
        )
    }
}

/// The partial file next to the complete one.
fn incomplete(whole: &Path) -> PathBuf {
    let mut name = whole.as_os_str().to_owned();
    name.push(".incomplete");
    name.into()
}

/// The first byte of `bytes 5-9/10`.
fn first(range: &str) -> Option<u64> {
    range
        .strip_prefix("bytes ")?
        .split_once('-')?
        .0
        .parse()
        .ok()
}

fn copy(
    from: &mut dyn Read,
    to: &mut File,
    entry: &Entry,
    begin: u64,
    watch: &mut Watch,
) -> Result<(), HubError> {
    let mut buffer = vec![0; CHUNK];
    let mut have = begin;
    loop {
        let count = match from.read(&mut buffer) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(HubError::Broken(error.to_string())),
        };
        if count == 0 && have < entry.size {
            return Err(HubError::Broken(format!(
                "the connection ended at {have} of {} bytes",
                entry.size
            )));
        }
        to.write_all(&buffer[..count]).map_err(HubError::Disk)?;
        have += count as u64;
        if have > entry.size {
            to.set_len(0).map_err(HubError::Disk)?;
            let (name, size) = (&entry.name, entry.size);
            return Err(HubError::Broken(format!(
                "{name}: more than the announced {size} bytes arrived"
            )));
        }
        if !watch(have) {
            return Err(HubError::Stopped);
        }
        if count == 0 {
            return Ok(());
        }
    }
}

/// Compares the content with the hash that the hub has for large files.
fn check(entry: &Entry, file: &mut File, watch: &mut Watch) -> Result<(), HubError> {
    let Some(wanted) = &entry.sha256 else {
        return Ok(());
    };
    file.seek(SeekFrom::Start(0)).map_err(HubError::Disk)?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; CHUNK]);
    loop {
        match file.read(&mut buffer).map_err(HubError::Disk)? {
            0 => break,
            count => hash.update(&buffer[..count]),
        }
        if !watch(entry.size) {
            return Err(HubError::Stopped);
        }
    }
    let found = spelled(hash);
    if found.eq_ignore_ascii_case(wanted) {
        return Ok(());
    }
    Err(HubError::Broken(format!(
        "{}: its SHA-256 is {found}, and the hub says {wanted}",
        entry.name
    )))
}

/// The SHA-256 in the hub's notation.
pub(super) fn spelled(hash: Sha256) -> String {
    hash.finalize()
        .iter()
        .fold(String::new(), |mut text, byte| {
            text.extend(
                [byte >> 4, byte & 15]
                    .map(|half| char::from_digit(half.into(), 16).unwrap_or_default()),
            );
            text
        })
}
