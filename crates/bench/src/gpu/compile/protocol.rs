//! What the bench and its warm compiler say to each other.
//!
//! The bench asks by messages for a fork and for its end. A fork reads its work from one memory
//! file and writes what it made into another: a candidate has nothing else to write to, and what it
//! writes is data.

use std::io::{self, Read, Write};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::gpu::compile::nvrtc::Outcome;
use crate::sandbox::files::OpenFiles;
use crate::sandbox::limits::Limits;
use crate::sys::Pid;

/// Bytes of the longest message.
pub(super) const LONGEST: usize = 64 << 10;

/// The bench asks.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Request {
    /// For a fork. The message carries the work, the file for what is made, and a pipe for the
    /// report.
    Fork,
    /// What a fork that has ended came to.
    Reap(Pid),
}

/// The warm compiler answers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    Ready(Compiler),
    Forked(Pid),
    Reaped(End),
    Failed(String),
}

/// What the compiler says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Compiler {
    pub(super) version: (u32, u32),
    pub(super) architectures: Vec<u32>,
}

/// How a fork ended.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct End {
    pub(super) signal: Option<i32>,
    pub(super) status: Option<i32>,
    pub(super) processor_s: f64,
    pub(super) peak_bytes: u64,
}

/// What a fork does.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Work {
    pub(super) source: String,
    pub(super) options: Vec<String>,
    pub(super) names: Vec<String>,
    /// Where it runs, and the only place where it may write: precompiled headers need a temporary
    /// file.
    pub(super) folder: PathBuf,
    /// None for the bench's own text.
    pub(super) confinement: Option<Confined>,
}

/// What a fork may do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Confined {
    /// The user to become, when started by root.
    pub(super) user: Option<u32>,
    pub(super) limits: Limits,
    /// The files that stay open, where Landlock holds.
    pub(super) files: Option<OpenFiles>,
}

/// How the warm compiler is started.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Start {
    pub(super) library: PathBuf,
    /// The options of a first compilation, which loads what is loaded late.
    pub(super) options: Vec<String>,
}

/// The most that is made, and the most of a log.
const MADE_BYTES: u64 = 96 << 20;
const LOG_BYTES: usize = 64 << 10;

/// Writes what a fork made.
pub(super) fn write_outcome(outcome: &Outcome, to: &mut impl Write) -> io::Result<()> {
    let symbols = serde_json::to_vec(&outcome.symbols)?;
    let log = &outcome.log[..outcome.log.len().min(LOG_BYTES)];
    to.write_all(&[u8::from(outcome.is_compiled)])?;
    for part in [log, &outcome.ptx, &outcome.cubin, &symbols] {
        to.write_all(&(part.len() as u64).to_le_bytes())?;
        to.write_all(part)?;
    }
    Ok(())
}

/// Reads what a fork made; nothing if it is not whole.
pub(super) fn read_outcome(from: impl Read) -> Option<Outcome> {
    let mut from = from.take(MADE_BYTES);
    let mut first = [0];
    from.read_exact(&mut first).ok()?;
    let mut part = || -> Option<Vec<u8>> {
        let mut length = [0; 8];
        from.read_exact(&mut length).ok()?;
        let length = u64::from_le_bytes(length);
        let mut bytes = Vec::new();
        from.by_ref().take(length).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 == length).then_some(bytes)
    };
    let (log, ptx, cubin) = (part()?, part()?, part()?);
    let symbols = serde_json::from_slice(&part()?).ok()?;
    Some(Outcome {
        is_compiled: first == [1],
        log,
        ptx,
        cubin,
        symbols,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_is_read_whole_or_not_at_all() {
        let outcome = Outcome {
            is_compiled: true,
            log: b"log".to_vec(),
            ptx: b".version".to_vec(),
            cubin: vec![0x7f, 0],
            symbols: vec!["_Z1kv".into()],
        };
        let mut bytes = Vec::new();
        write_outcome(&outcome, &mut bytes).unwrap();
        let read = read_outcome(bytes.as_slice()).unwrap();
        assert_eq!((read.log, read.cubin), (outcome.log, outcome.cubin));
        assert_eq!((read.ptx, read.symbols), (outcome.ptx, outcome.symbols));
        assert!(read.is_compiled);
        for length in 0..bytes.len() {
            assert!(read_outcome(&bytes[..length]).is_none(), "{length}");
        }
        let mut forged = vec![1];
        forged.extend(u64::MAX.to_le_bytes());
        assert!(
            read_outcome(forged.as_slice()).is_none(),
            "lengths are not believed"
        );
    }
}
