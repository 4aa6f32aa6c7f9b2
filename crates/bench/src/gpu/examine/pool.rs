//! The runners: one that works, and spares that are ready before it dies.
#![expect(unsafe_code, reason = "leaves descriptors to a child process")]

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::gpu::examine::runner::{FromRunner, INPUTS_FD, RunnerSpec, ToRunner, WORK_FD};
use crate::gpu::examine::wire;
use crate::role::names::GPU_RUNNER;
use crate::sys;

/// Time for a runner to open the GPU, while others do the same.
const OPENING: Duration = Duration::from_secs(30);
/// Time for a runner's own work: to load code, to forget it.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// Why a runner gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Lost {
    /// It did not answer in time.
    Silent,
    /// It has ended, in words.
    Gone(String),
}

/// One runner. It is killed when it is dropped, and reaped: then nothing of it uses the GPU any
/// more.
pub(super) struct Runner {
    child: Child,
    stream: UnixStream,
}

impl Runner {
    fn start(spec: &RunnerSpec, inputs: &OwnedFd, work: &OwnedFd) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("a runner could not be started: {error}");
        let (stream, end) = UnixStream::pair().map_err(failed)?;
        let spec = serde_json::to_string(spec).map_err(|error| error.to_string())?;
        let given = [(inputs.as_raw_fd(), INPUTS_FD), (work.as_raw_fd(), WORK_FD)];
        let mut command = Command::new(std::env::current_exe().map_err(failed)?);
        command
            .arg(GPU_RUNNER)
            .arg(spec)
            // Code of a module that is loaded for one run must not be loaded in the middle of it.
            .env("CUDA_MODULE_LOADING", "EAGER")
            .stdin(OwnedFd::from(end))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let prepare = move || {
            // Lifted first, so that no target is overwritten before it is copied.
            let mut lifted = [0; 2];
            for (high, (source, _)) in lifted.iter_mut().zip(given) {
                // SAFETY: plain system call on an open descriptor.
                *high = unsafe { libc::fcntl(source, libc::F_DUPFD_CLOEXEC, 32) };
                if *high < 0 {
                    return Err(std::io::Error::last_os_error());
                }
            }
            for (high, (_, target)) in lifted.iter().zip(given) {
                sys::inherit_as(*high, target)?;
            }
            Ok(())
        };
        // SAFETY: only async-signal-safe calls in there.
        let child = unsafe { command.pre_exec(prepare) }
            .spawn()
            .map_err(failed)?;
        Ok(Self { child, stream })
    }

    /// Asks, and waits at most `patience` for the answer.
    pub(super) fn ask(
        &mut self,
        request: &ToRunner,
        code: &[&[u8]],
        patience: Duration,
    ) -> Result<FromRunner, Lost> {
        let asked = wire::send(&mut self.stream, request, code);
        if let Err(error) = asked {
            return Err(self.lost(&error));
        }
        self.hear(patience)
    }

    fn hear(&mut self, patience: Duration) -> Result<FromRunner, Lost> {
        let patience = patience.max(Duration::from_millis(1));
        let heard = self
            .stream
            .set_read_timeout(Some(patience))
            .and_then(|()| wire::receive::<FromRunner>(&mut self.stream));
        match heard {
            Ok((answer, _)) => Ok(answer),
            Err(error) => Err(self.lost(&error)),
        }
    }

    fn lost(&mut self, error: &std::io::Error) -> Lost {
        if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) {
            return Lost::Silent;
        }
        // Its stream has ended, so its end is near.
        drop(self.child.kill());
        Lost::Gone(match self.child.wait() {
            Ok(status) => match (status.signal(), status.code()) {
                (Some(signal), _) => sys::signal_name(signal).to_owned(),
                (None, code) => format!("status {}", code.unwrap_or(0)),
            },
            Err(error) => error.to_string(),
        })
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The runners of one examiner.
pub(super) struct Pool {
    spec: RunnerSpec,
    inputs: OwnedFd,
    work: OwnedFd,
    spares: usize,
    /// Started, in the order in which they were; each says when it is ready.
    waiting: VecDeque<Runner>,
}

impl Pool {
    /// Starts the first runner and `spares` more, and waits for none.
    pub(super) fn start(
        spec: RunnerSpec,
        inputs: OwnedFd,
        work: OwnedFd,
        spares: usize,
    ) -> Result<Self, String> {
        let mut pool = Self {
            spec,
            inputs,
            work,
            spares,
            waiting: VecDeque::new(),
        };
        pool.refill(spares + 1)?;
        Ok(pool)
    }

    fn refill(&mut self, count: usize) -> Result<(), String> {
        while self.waiting.len() < count {
            let runner = Runner::start(&self.spec, &self.inputs, &self.work)?;
            self.waiting.push_back(runner);
        }
        Ok(())
    }

    /// Ends all that wait.
    pub(super) fn end(&mut self) {
        self.waiting.clear();
    }

    /// A runner that is ready, and another spare in its place.
    pub(super) fn take(&mut self) -> Result<Runner, String> {
        let since = Instant::now();
        let mut why = "no runner became ready".to_owned();
        while since.elapsed() < OPENING {
            self.refill(1)?;
            let Some(mut runner) = self.waiting.pop_front() else {
                continue;
            };
            match runner.hear(OPENING.saturating_sub(since.elapsed())) {
                Ok(FromRunner::Ready) => {
                    self.refill(self.spares)?;
                    return Ok(runner);
                }
                Ok(FromRunner::Unready(reason)) => return Err(reason),
                Ok(other) => why = format!("a runner began with {other:?}"),
                Err(Lost::Silent) => break,
                Err(Lost::Gone(how)) => {
                    why = format!("a runner ended by {how} before it was ready");
                }
            }
        }
        Err(why)
    }
}
