//! The bench's side of the warm compiler: starts it, has it fork, watches the forks.

use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use hotloop_flow::{BenchError, Remedy};

use crate::compiling::confined::{Allowance, MODEST_BYTES};
use crate::compiling::patience::Waited;
use crate::confine::complaint;
use crate::gpu::compile::nvrtc::Outcome;
use crate::gpu::compile::protocol::{
    Answer, Compiler, End, LONGEST, Request, Start, Work, read_outcome,
};
use crate::role::names::WARM_COMPILER;
use crate::sys::{self, Pid};

/// What a candidate's compilation may take: far more than an honest one does.
pub(super) const ALLOWANCE: Allowance = Allowance {
    wall_s: 12.0,
    processor_s: 10,
    memory_bytes: 8 << 30,
};

/// What the bench's own texts may take, its precompiled headers among them.
const TRUSTED: Allowance = Allowance {
    wall_s: 120.0,
    processor_s: 100,
    ..ALLOWANCE
};

/// How a fork ended.
pub(super) enum Forked {
    Done(Outcome),
    /// The compiler broke; how.
    Broken(String),
    TimedOut,
}

/// A process that has NVRTC loaded. It ends when this is dropped.
pub(super) struct WarmCompiler {
    process: Mutex<Child>,
    /// One question and its answer at a time.
    socket: Mutex<OwnedFd>,
    compiler: Compiler,
}

impl WarmCompiler {
    /// Starts one and waits until it is warm. `Err` says in words what failed.
    pub(super) fn start(roles: &Path, start: &Start) -> Result<Self, String> {
        let words = |error: std::io::Error| error.to_string();
        let (socket, theirs) = sys::socket_pair().map_err(words)?;
        let start = serde_json::to_string(start).map_err(|error| error.to_string())?;
        let process = Command::new(roles)
            .arg(WARM_COMPILER)
            .arg(start)
            .stdin(theirs)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(words)?;
        let mut warm = Self {
            process: Mutex::new(process),
            socket: Mutex::new(socket),
            compiler: Compiler {
                version: (0, 0),
                architectures: Vec::new(),
            },
        };
        let answer = hear(&warm.socket.lock().unwrap_or_else(PoisonError::into_inner));
        match answer.map_err(words)? {
            Answer::Ready(compiler) => {
                warm.compiler = compiler;
                Ok(warm)
            }
            Answer::Failed(why) => Err(why),
            Answer::Forked(_) | Answer::Reaped(_) => Err("it answered out of turn".into()),
        }
    }

    pub(super) fn compiler(&self) -> &Compiler {
        &self.compiler
    }

    /// Whether the process still runs.
    pub(super) fn is_alive(&self) -> bool {
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        matches!(process.try_wait(), Ok(None))
    }

    /// Ends the process, as a lack of memory would.
    #[cfg(test)]
    pub(super) fn end(&self) {
        let mut process = self.process.lock().unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
    }

    /// Does `work` in a fork.
    pub(super) fn compile(&self, work: &Work) -> Result<Forked, BenchError> {
        let failed = |error: std::io::Error| {
            BenchError::machine(format!("the CUDA compiler could not be started: {error}"))
        };
        let mut asked = File::from(sys::memory_file("work", 0).map_err(failed)?);
        serde_json::to_writer(std::io::BufWriter::new(&mut asked), work)
            .map_err(|error| failed(error.into()))?;
        let made = File::from(sys::memory_file("made", 0).map_err(failed)?);
        let (report, report_end) = sys::pipe().map_err(failed)?;
        let killed_before = sys::killed_for_memory();
        let pid = self.fork(&[asked.as_fd(), made.as_fd(), report_end.as_fd()])?;
        drop(report_end);
        let allowance = if work.confinement.is_some() {
            ALLOWANCE
        } else {
            TRUSTED
        };
        let waited = allowance.patience().wait(pid);
        // Not reaped yet, so the group is still its own.
        drop(sys::kill_group(pid));
        let end = self.reap(pid)?;
        let waited = waited.map_err(|error| {
            BenchError::machine(format!("the CUDA compiler could not be watched: {error}"))
        })?;
        let mut said = String::new();
        drop(File::from(report).take(4096).read_to_string(&mut said));
        let killed = sys::killed_for_memory() != killed_before;
        judge(allowance, waited, end, &said, killed, made)
    }

    fn fork(&self, descriptors: &[BorrowedFd<'_>]) -> Result<Pid, BenchError> {
        match self.ask(&Request::Fork, descriptors)? {
            Answer::Forked(pid) => Ok(pid),
            answer => Err(no_fork(&answer)),
        }
    }

    fn reap(&self, pid: Pid) -> Result<End, BenchError> {
        match self.ask(&Request::Reap(pid), &[])? {
            Answer::Reaped(end) => Ok(end),
            answer => Err(no_fork(&answer)),
        }
    }

    fn ask(&self, request: &Request, descriptors: &[BorrowedFd<'_>]) -> Result<Answer, BenchError> {
        let lost = |error: std::io::Error| {
            BenchError::machine(format!("the CUDA compiler was lost: {error}"))
                .hint("something ended it; the next candidate gets a new one")
        };
        let bytes = serde_json::to_vec(request).map_err(|error| lost(error.into()))?;
        let socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        sys::send(socket.as_fd(), &bytes, descriptors).map_err(lost)?;
        hear(&socket).map_err(lost)
    }
}

impl Drop for WarmCompiler {
    fn drop(&mut self) {
        let process = self
            .process
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        // It ends by itself when the socket closes; nothing waits for that here.
        drop(process.kill());
        drop(process.wait());
    }
}

fn hear(socket: &OwnedFd) -> std::io::Result<Answer> {
    match sys::receive(socket.as_fd(), LONGEST)? {
        Some((bytes, _)) => Ok(serde_json::from_slice(&bytes)?),
        None => Err(std::io::Error::other("it ended")),
    }
}

fn no_fork(answer: &Answer) -> BenchError {
    let why = match answer {
        Answer::Failed(why) => why.as_str(),
        _ => "it answered out of turn",
    };
    BenchError::machine(format!("the CUDA compiler cannot fork: {why}"))
        .hint("raise the limit on processes (ulimit -u), free memory, or judge fewer candidates at once")
        .remedies(&[Remedy::Jobs])
}

/// What became of a fork. Before it is confined the machine is to blame, afterwards the source.
fn judge(
    allowance: Allowance,
    waited: Waited,
    end: End,
    report: &str,
    killed: bool,
    mut made: File,
) -> Result<Forked, BenchError> {
    if waited == Waited::Starved {
        return Err(
            BenchError::machine("the CUDA compiler hardly had a processor")
                .hint("other work keeps the cores busy, or the host takes them away"),
        );
    }
    let ended = waited == Waited::Ended;
    let used_up = end.processor_s > allowance.processor_s as f64 - 0.1;
    if !ended || used_up || end.signal == Some(libc::SIGXCPU) {
        return Ok(Forked::TimedOut);
    }
    if let Some(complaint) = complaint(report) {
        return Err(BenchError::machine(format!(
            "the CUDA compiler could not be confined: {complaint}"
        )));
    }
    if end.status == Some(0) {
        let outcome = made.rewind().ok().and_then(|()| read_outcome(&mut made));
        return Ok(outcome.map_or_else(
            || Forked::Broken("it left nothing whole".into()),
            Forked::Done,
        ));
    }
    let from_outside = killed || end.signal == Some(libc::SIGKILL);
    if from_outside && end.peak_bytes <= MODEST_BYTES {
        return Err(
            BenchError::machine("the CUDA compiler was killed from outside")
                .hint("the machine may be out of memory; judge fewer candidates at once")
                .remedies(&[Remedy::Jobs]),
        );
    }
    let how = match (from_outside, end.signal) {
        (true, _) => "it ran out of memory".into(),
        (false, Some(signal)) => sys::signal_name(signal).to_owned(),
        (false, None) => format!("it ended with status {}", end.status.unwrap_or(-1)),
    };
    Ok(Forked::Broken(how))
}
