//! The bench's side of a supervisor process: requests, answers, timeouts and restarts.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use hotloop_flow::{BenchError, Remedy};

use crate::cpu::supervisor::protocol::{Answer, CORES, Request};
use crate::role::names::SUPERVISOR;
use crate::sys;

/// Waiting is counted in slices. A slice during which the program was stopped counts no more than
/// any other.
const SLICE: Duration = Duration::from_secs(1);

/// A slot: a supervisor on its own cores. It lives as long as the thread that owns it.
pub(crate) struct Slot {
    roles: PathBuf,
    cores: Vec<usize>,
    openblas_core: Option<String>,
    process: Option<Process>,
}

struct Process {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
}

impl Slot {
    /// A slot on `cores`; its process starts with the first request.
    pub(crate) fn new(roles: &Path, cores: Vec<usize>, openblas_core: Option<String>) -> Self {
        Self {
            roles: roles.to_owned(),
            cores,
            openblas_core,
            process: None,
        }
    }

    /// Sends a request, and waits at most `patience` for the answer. A supervisor that does not
    /// answer is killed together with its candidate, and the next request starts a new one.
    pub(crate) fn ask(
        &mut self,
        request: &Request,
        patience: Duration,
    ) -> Result<Answer, BenchError> {
        let answer = self.try_ask(request, patience);
        if answer.is_err() {
            self.process = None;
        }
        match answer? {
            Answer::Machine(why) => Err(BenchError::machine(why)),
            Answer::Task(why) => Err(BenchError::user(why)),
            Answer::Killed => Err(BenchError::machine("the candidate was killed from outside")
                .hint("if memory has run out, judge fewer candidates at once")
                .remedies(&[Remedy::Jobs])),
            answer => Ok(answer),
        }
    }

    fn try_ask(&mut self, request: &Request, patience: Duration) -> Result<Answer, BenchError> {
        let process = match &mut self.process {
            Some(process) => process,
            none => none.insert(Process::start(
                &self.roles,
                &self.cores,
                self.openblas_core.as_deref(),
            )?),
        };
        let mut text = serde_json::to_string(request)
            .map_err(|error| BenchError::machine(error.to_string()))?;
        text.push('\n');
        process
            .stdin
            .write_all(text.as_bytes())
            .map_err(|error| BenchError::machine(format!("the supervisor is gone: {error}")))?;
        match process.next_line(patience) {
            Ok(line) => serde_json::from_str(&line).map_err(|error| {
                BenchError::machine(format!("the supervisor's answer cannot be read: {error}"))
            }),
            Err(RecvTimeoutError::Timeout) => Err(BenchError::machine(format!(
                "the supervisor did not answer within {} s",
                patience.as_secs()
            ))),
            Err(RecvTimeoutError::Disconnected) => {
                Err(BenchError::machine("the supervisor ended unexpectedly"))
            }
        }
    }
}

impl Process {
    fn start(
        roles: &Path,
        cores: &[usize],
        openblas_core: Option<&str>,
    ) -> Result<Self, BenchError> {
        let list: Vec<String> = cores.iter().map(ToString::to_string).collect();
        let mut command = Command::new(roles);
        command
            .arg(SUPERVISOR)
            .env(CORES, list.join(","))
            .env("OPENBLAS_NUM_THREADS", "1")
            .env("OMP_NUM_THREADS", "1");
        if let Some(core) = openblas_core {
            command.env("OPENBLAS_CORETYPE", core);
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| {
                BenchError::machine(format!("a supervisor could not be started: {error}"))
            })?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(BenchError::machine("a supervisor has no pipes"));
        };
        let (sender, lines) = channel();
        // Created before the thread, so that the supervisor ends if no thread can be started.
        let process = Self {
            child,
            stdin,
            lines,
        };
        sys::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        })?;
        Ok(process)
    }

    /// The next line within `patience`. Time does not count while this program is stopped.
    fn next_line(&self, patience: Duration) -> Result<String, RecvTimeoutError> {
        let mut left = patience;
        loop {
            let slice = left.min(SLICE);
            match self.lines.recv_timeout(slice) {
                Err(RecvTimeoutError::Timeout) if left > slice => left -= slice,
                received => return received,
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Its candidate dies with it.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
