//! Results in a file, one a line, so that a command can continue where it was cut off.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::failure::Failure;

/// The results in a file, and the file open behind them. A last line that a kill cut off is no
/// result; it is measured again.
pub(in crate::cmd) fn open<T: DeserializeOwned>(path: &Path) -> Result<(Vec<T>, File), Failure> {
    let (known, bytes) = read(path)?;
    Ok((known, append(path, bytes)?))
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<(Vec<T>, u64), Failure> {
    let text = match fs_err::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok((Vec::new(), 0)),
        Err(error) => return Err(Failure::user(error.to_string())),
    };
    let (mut records, mut bytes) = (Vec::new(), 0);
    let whole = |line: &&str| line.ends_with('\n');
    for (at, line) in text.split_inclusive('\n').take_while(whole).enumerate() {
        let record = serde_json::from_str(line).map_err(|error| {
            let (file, line) = (path.display(), at + 1);
            Failure::user(format!(
                "{file}, line {line}: no result of this command: {error}"
            ))
            .hint("name another file by --out")
        })?;
        records.push(record);
        bytes += line.len() as u64;
    }
    Ok((records, bytes))
}

/// Opens a file behind its first `bytes`, which are whole lines.
fn append(path: &Path, bytes: u64) -> Result<File, Failure> {
    let opened = fs_err::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .and_then(|file| file.set_len(bytes).map(|()| file));
    let file = opened.map_err(|error| Failure::user(error.to_string()))?;
    Ok(file.into_parts().0)
}

/// One line, written at once: a kill leaves whole lines.
pub(in crate::cmd) fn write(
    file: &mut File,
    path: &Path,
    record: &impl Serialize,
) -> Result<(), Failure> {
    let line = serde_json::to_string(record).expect("plain data") + "\n";
    file.write_all(line.as_bytes())
        .map_err(|error| Failure::machine(format!("{}: {error}", path.display())))
}
