//! One jailed interpreter: started, limited, listened to, and what came of it.

use std::fs::File;
use std::io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use hotloop_flow::verdict::Phase;
use hotloop_flow::{BenchError, Remedy, Verdict};
use serde::Serialize;

use super::message::{self, Message};
use super::python::Python;
use super::stand_in::StandIn;
use crate::compiling::patience::{Patience, Vigil, Waited};
use crate::confine::{self, Confinement};
use crate::role::names::INTERPRET;
use crate::sandbox::limits::{self, Limits};
use crate::sys;

/// Seconds that an answer's Python may take, by the clock without the bench's own work, and on a
/// processor.
const WALL_S: f64 = 10.0;
const PROCESSOR_S: u64 = 5;
const PATIENCE: Patience = Patience {
    wall: WALL_S,
    processor: 0.9 * PROCESSOR_S as f64,
    put_off: 20.0,
};
/// Bytes of address space.
const MEMORY_BYTES: u64 = 1 << 30;
/// Bytes of one frame, either way, and frames of one session.
const FRAME: usize = 8 << 20;
const FRAMES: usize = 5_000;
/// How long one that closed its line may take to end.
const LEAVING: Duration = Duration::from_millis(100);

/// Where interpreters start.
pub(super) struct Place<'a> {
    pub(super) python: &'a Python,
    pub(super) stand_in: &'a StandIn,
    /// The executable that plays the hidden roles.
    pub(super) roles: &'a Path,
    pub(super) landlock: bool,
}

/// A running interpreter.
pub(super) struct Session {
    pid: sys::Pid,
    line: UnixStream,
    report: Option<OwnedFd>,
    killed_before: Option<u64>,
    /// Seconds that it was waited for.
    waited_s: f64,
    vigil: Vigil,
    frames: usize,
    /// What ended it while it was spoken to.
    ended: Option<Verdict>,
    is_reaped: bool,
}

/// How far bytes came over the line.
enum Carried {
    All,
    /// The other end is gone.
    Left,
    Waited(Waited),
}

/// What was heard.
pub(super) enum Heard {
    Message(Message),
    /// It ended, or was ended, without a last word.
    Verdict(Verdict),
}

impl Session {
    /// Starts an interpreter in its jail and tells it what to do.
    pub(super) fn start(
        place: &Place<'_>,
        task: &impl Serialize,
        user: Option<u32>,
    ) -> Result<Self, BenchError> {
        let failed = |error: std::io::Error| {
            BenchError::machine(format!("the interpreter could not be started: {error}"))
        };
        let (line, other) = UnixStream::pair().map_err(failed)?;
        let (report, report_end) = sys::pipe().map_err(failed)?;
        let killed_before = sys::killed_for_memory();
        let child = Command::new(place.roles)
            .arg(INTERPRET)
            .arg(confinement(place, user)?)
            .arg(&place.python.path)
            .args(["-s", "-S", "-B"])
            .arg(place.stand_in.program())
            .current_dir("/")
            .env_clear()
            .stdin(report_end)
            .stdout(OwnedFd::from(other))
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let mut session = Self {
            pid: child.id() as sys::Pid,
            line,
            report: Some(report),
            killed_before,
            waited_s: 0.0,
            vigil: Vigil::of(PATIENCE),
            frames: 0,
            ended: None,
            is_reaped: false,
        };
        match session.next()? {
            Heard::Message(Message::Ready(true)) => {}
            // Nobody else's code has run yet, so this is the machine's failure.
            Heard::Message(_) => return Err(unfit("it says something else")),
            Heard::Verdict(verdict) => return Err(unfit(&verdict.detail())),
        }
        session.answer(task)?;
        Ok(session)
    }

    /// What it says next.
    pub(super) fn next(&mut self) -> Result<Heard, BenchError> {
        if let Some(verdict) = self.ended.take() {
            return Ok(Heard::Verdict(verdict));
        }
        self.frames += 1;
        if self.frames > FRAMES {
            let why = format!("more than {FRAMES} calls of the bench");
            return Ok(Heard::Verdict(Verdict::Refused { why }));
        }
        let mut length = [0; 4];
        if let Some(verdict) = self.fill(&mut length)? {
            return Ok(Heard::Verdict(verdict));
        }
        let length = u32::from_le_bytes(length) as usize;
        let refused = |why: String| Ok(Heard::Verdict(Verdict::Refused { why }));
        if length > FRAME {
            return refused(format!("a message of {length} bytes"));
        }
        let mut bytes = vec![0; length];
        if let Some(verdict) = self.fill(&mut bytes)? {
            return Ok(Heard::Verdict(verdict));
        }
        match message::read(&bytes) {
            Ok(message) => Ok(Heard::Message(message)),
            Err(why) => refused(why),
        }
    }

    /// Answers what it asked. If nobody listens any more, the next message says so.
    pub(super) fn answer(&mut self, answer: &impl Serialize) -> Result<(), BenchError> {
        let bytes = serde_json::to_vec(answer)
            .map_err(|error| BenchError::machine(format!("an answer: {error}")))?;
        let mut frame = (bytes.len() as u32).to_le_bytes().to_vec();
        frame.extend(bytes);
        let carried = self.carry(frame.len(), |line, from| line.write(&frame[from..]))?;
        if let Carried::Waited(waited) = carried {
            self.ended = Some(self.end(Some(waited))?);
        }
        Ok(())
    }

    /// Reads that many bytes; a verdict if they do not come.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<Option<Verdict>, BenchError> {
        let carried = self.carry(bytes.len(), |line, from| line.read(&mut bytes[from..]))?;
        match carried {
            Carried::All => Ok(None),
            Carried::Left => self.end(None).map(Some),
            Carried::Waited(waited) => self.end(Some(waited)).map(Some),
        }
    }

    /// Moves bytes over the line. The limits hold however few of them come, or are taken, at once.
    fn carry(
        &mut self,
        count: usize,
        mut part: impl FnMut(&mut UnixStream, usize) -> std::io::Result<usize>,
    ) -> Result<Carried, BenchError> {
        let (begin, before_s) = (sys::now(), self.waited_s);
        let mut carried = 0;
        while carried < count {
            self.waited_s = before_s + sys::now() - begin;
            if let Some(waited) = self.vigil.look(self.waited_s, self.pid) {
                return Ok(Carried::Waited(waited));
            }
            let rest = Some(self.vigil.rest(self.waited_s));
            self.line
                .set_read_timeout(rest)
                .and_then(|()| self.line.set_write_timeout(rest))
                .map_err(|error| BenchError::machine(format!("the interpreter's line: {error}")))?;
            match part(&mut self.line, carried) {
                Ok(0) => return Ok(Carried::Left),
                Ok(count) => carried += count,
                Err(error) if matches!(error.kind(), Interrupted | WouldBlock | TimedOut) => {}
                // The other end went away in the middle of a word.
                Err(_) => return Ok(Carried::Left),
            }
        }
        self.waited_s = before_s + sys::now() - begin;
        Ok(Carried::All)
    }

    /// Ends it, and says what that means. `waited` says that it did not end by itself.
    fn end(&mut self, waited: Option<Waited>) -> Result<Verdict, BenchError> {
        let timed_out = || Verdict::TimedOut {
            limit_s: WALL_S,
            during: Phase::Run,
        };
        // It may have closed the line and gone on.
        let ended_by_itself =
            waited.is_none() && sys::wait_end(self.pid, LEAVING).is_ok_and(|ended| ended);
        drop(sys::kill_group(self.pid));
        self.is_reaped = true;
        let (status, usage) = sys::reap_with_usage(self.pid)
            .map_err(|error| BenchError::machine(format!("the interpreter was lost: {error}")))?;
        if waited == Some(Waited::Starved) {
            return Err(
                BenchError::machine("the interpreter hardly had a processor")
                    .hint("other work keeps the cores busy, or the host takes them away"),
            );
        }
        if let Some(complaint) = self.complaint() {
            return Err(BenchError::machine(format!(
                "the interpreter could not be confined: {complaint}"
            )));
        }
        let is_long = waited.is_some()
            || usage.processor_s > PROCESSOR_S as f64 - 0.1
            || status.signal() == Some(libc::SIGXCPU);
        if is_long {
            return Ok(timed_out());
        }
        // The jail leaves it no way to send itself a signal other than that of an abort.
        let is_killed = ended_by_itself
            && status
                .signal()
                .is_some_and(|signal| signal == libc::SIGKILL || sys::is_request_to_end(signal));
        let is_killed_for_memory =
            sys::killed_for_memory() != self.killed_before && status.signal().is_some();
        if is_killed || is_killed_for_memory {
            return Err(
                BenchError::machine("the interpreter was killed from outside")
                    .hint("the machine may be out of memory; plan fewer answers at once")
                    .remedies(&[Remedy::Jobs]),
            );
        }
        Ok(Verdict::Crashed {
            how: match (status.signal(), status.code()) {
                // Our own kill: it closed the line and stayed.
                (Some(libc::SIGKILL), _) => "it closed its line to the bench".to_owned(),
                (Some(signal), _) => format!("{} in the interpreter", sys::signal_name(signal)),
                (None, code) => format!(
                    "it ended the interpreter with status {}",
                    code.unwrap_or_default()
                ),
            },
        })
    }

    /// Why the jail could not be made, if it could not.
    fn complaint(&mut self) -> Option<String> {
        let mut bytes = Vec::new();
        let report = self.report.take().map(File::from)?;
        drop(report.take(4096).read_to_end(&mut bytes));
        confine::complaint(&String::from_utf8_lossy(&bytes)).map(str::to_owned)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !self.is_reaped {
            drop(sys::kill_group(self.pid));
            sys::reap(self.pid);
        }
    }
}

fn unfit(why: &str) -> BenchError {
    BenchError::machine(format!(
        "the interpreter does not run the stand-in for torch: {why}"
    ))
    .hint("see whether another python3 in PATH works, or planning without Landlock")
    .remedies(&[Remedy::Landlock])
}

/// What the interpreter may do, as the role reads it.
fn confinement(place: &Place<'_>, user: Option<u32>) -> Result<String, BenchError> {
    let mut files = place.python.files.clone();
    files.read.push(place.stand_in.folder.clone());
    let confinement = Confinement {
        user,
        limits: Limits {
            address_space: MEMORY_BYTES,
            file_bytes: 0,
            open_files: 64,
            threads: limits::beside_others(1, user),
            cpu_s: PROCESSOR_S,
        },
        files: place.landlock.then_some(files),
    };
    serde_json::to_string(&confinement).map_err(|error| BenchError::machine(error.to_string()))
}
