//! Runs a compiled host half for one call, in its jail.

use std::fmt::Write;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use hotloop_flow::verdict::Phase;
use hotloop_flow::{BenchError, Remedy, Verdict};

use super::traits::DeviceTraits;
use crate::compiling::patience::{Patience, Waited};
use crate::confine::{self, Confinement};
use crate::gpu::call::{Call, Passed};
use crate::role::names::RECORD;
use crate::sandbox::files::OpenFiles;
use crate::sandbox::limits::{self, Limits};
use crate::sys;

/// Seconds that host code may take for one call, by the clock and on a processor.
const WALL_S: f64 = 2.0;
const PROCESSOR_S: u64 = 1;
const PATIENCE: Patience = Patience {
    wall: WALL_S,
    processor: 0.9 * PROCESSOR_S as f64,
    put_off: 20.0,
};
/// Bytes of address space of host code, and of what it may record.
const MEMORY_BYTES: u64 = 2 << 30;
const EVENTS_BYTES: u64 = 64 << 20;

/// Where host halves run.
pub(super) struct Jail {
    /// The executable that plays the hidden roles.
    pub(super) roles: PathBuf,
    pub(super) landlock: bool,
}

/// What came of one call.
pub(super) enum Recorded {
    /// The bytes of its events.
    Events(Vec<u8>),
    Verdict(Verdict),
}

impl Jail {
    /// Runs a program for a call.
    pub(super) fn record(
        &self,
        program: &Path,
        traits: &DeviceTraits,
        call: &Call,
        user: Option<u32>,
    ) -> Result<Recorded, BenchError> {
        let failed = |error: std::io::Error| {
            BenchError::machine(format!("the recorder could not be started: {error}"))
        };
        let events = File::from(sys::memory_file("events", 0).map_err(failed)?);
        let (report, report_end) = sys::pipe().map_err(failed)?;
        let killed_before = sys::killed_for_memory();
        let child = Command::new(&self.roles)
            .arg(RECORD)
            .arg(self.confinement(program, user)?)
            .arg(program)
            .arg(hex(&traits.bytes()))
            .args(call.arguments.iter().map(word))
            .env_clear()
            .stdin(report_end)
            .stdout(events.try_clone().map_err(failed)?)
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let pid = child.id() as sys::Pid;
        let waited = PATIENCE.wait(pid);
        drop(sys::kill_group(pid));
        let (status, usage) = sys::reap_with_usage(pid)
            .map_err(|error| BenchError::machine(format!("the recorder was lost: {error}")))?;
        let waited = waited.map_err(|error| {
            BenchError::machine(format!("the recorder could not be watched: {error}"))
        })?;
        if waited == Waited::Starved {
            return Err(BenchError::machine("host code hardly had a processor")
                .hint("other work keeps the cores busy, or the host takes them away"));
        }
        if let Some(complaint) = confine::complaint(&said(report)) {
            return Err(BenchError::machine(format!(
                "the recorder could not be confined: {complaint}"
            )));
        }
        if waited == Waited::Ended && status.success() {
            return Ok(Recorded::Events(read(events)?));
        }
        let is_long = waited != Waited::Ended
            || usage.processor_s > PROCESSOR_S as f64 - 0.1
            || status.signal() == Some(libc::SIGXCPU);
        if is_long {
            return Ok(Recorded::Verdict(Verdict::TimedOut {
                limit_s: WALL_S,
                during: Phase::Run,
            }));
        }
        let is_killed = status
            .signal()
            .is_some_and(|signal| signal == libc::SIGKILL || sys::is_request_to_end(signal));
        if is_killed || (sys::killed_for_memory() != killed_before && status.signal().is_some()) {
            return Err(BenchError::machine("host code was killed from outside")
                .hint("the machine may be out of memory; judge fewer candidates at once")
                .remedies(&[Remedy::Jobs]));
        }
        // Host code may have refused itself, and its events then say why.
        Ok(Recorded::Verdict(verdict(status)))
    }

    fn confinement(&self, program: &Path, user: Option<u32>) -> Result<String, BenchError> {
        let files = OpenFiles {
            execute: vec![program.to_owned()],
            ..OpenFiles::default()
        };
        let limits = Limits {
            address_space: MEMORY_BYTES,
            file_bytes: EVENTS_BYTES,
            open_files: 16,
            threads: limits::beside_others(1, user),
            cpu_s: PROCESSOR_S,
        };
        let confinement = Confinement {
            user,
            limits,
            files: self.landlock.then_some(files),
        };
        serde_json::to_string(&confinement).map_err(|error| BenchError::machine(error.to_string()))
    }
}

/// What a status means that is no success.
fn verdict(status: ExitStatus) -> Verdict {
    let crashed = |how: String| Verdict::Crashed { how };
    match (status.signal(), status.code()) {
        (Some(libc::SIGXFSZ), _) | (_, Some(1)) => Verdict::Refused {
            why: format!(
                "host code records more than {} MiB of launches, copies and sets",
                EVENTS_BYTES >> 20
            ),
        },
        (Some(libc::SIGSEGV), _) => crashed(
            "SIGSEGV in host code (touched memory it does not own; memory of the GPU cannot be \
             read or written by host code)"
                .to_owned(),
        ),
        (Some(signal), _) => crashed(format!("{} in host code", sys::signal_name(signal))),
        (None, Some(2)) => crashed("an exception left the host function".to_owned()),
        (None, code) => crashed(format!(
            "host code ended the program with status {}",
            code.unwrap_or_default()
        )),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes all");
        text
    })
}

/// An argument as the recorder reads it.
fn word(passed: &Passed) -> String {
    match passed {
        Passed::Buffer(bytes) => format!("b{}", hex(&bytes.to_le_bytes())),
        Passed::Scalar(bytes) => format!("s{}", hex(bytes)),
    }
}

/// What came through a pipe whose other end is closed.
fn said(pipe: OwnedFd) -> String {
    let mut bytes = Vec::new();
    drop(File::from(pipe).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

fn read(mut events: File) -> Result<Vec<u8>, BenchError> {
    let mut bytes = Vec::new();
    events
        .rewind()
        .and_then(|()| events.take(EVENTS_BYTES).read_to_end(&mut bytes))
        .map_err(|error| BenchError::machine(format!("the recorder's events: {error}")))?;
    Ok(bytes)
}
