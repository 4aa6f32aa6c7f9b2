//! The bench's side of the examiner's process.

use std::io::ErrorKind;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hotloop_flow::BenchError;

use crate::gpu::examine::module::{ModuleAnswer, ModuleWork, TorchSite};
use crate::gpu::examine::request::{GpuFacts, Opening, Reply, Request};
use crate::gpu::examine::wire;
use crate::gpu::examine::work::{Answer, Work};
use crate::gpu::image::Image;
use crate::role::names::GPU_EXAMINER;

/// Time to open a GPU, which may be asleep.
const OPENING: Duration = Duration::from_mins(1);
/// Time to judge, beside what the candidate may take.
const JUDGING: Duration = Duration::from_mins(2);
const CALLS: f64 = 40.0;
/// Time to judge a module: torch may have to compile its baseline, and computes what is right for
/// each run.
const JUDGING_MODULE: Duration = Duration::from_mins(40);

/// Time to end by itself.
const LEAVING: Duration = Duration::from_millis(500);

/// How the examiner works.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// The executable that plays the hidden roles.
    pub(crate) roles: PathBuf,
    /// The kernels of [`crate::gpu::trusted::SOURCE`], compiled for the GPU.
    pub(crate) trusted: Image,
    /// Whether runners close their system calls.
    pub(crate) seccomp: bool,
    /// Runners that wait for another's death; each holds about half a gigabyte of the GPU.
    pub(crate) spares: u32,
    /// The torch that says what is right for modules; other work needs none.
    pub(crate) torch: Option<TorchSite>,
}

/// The examiner of one GPU. It ends when this is dropped.
pub(crate) struct Examiner {
    options: Options,
    process: Option<Process>,
    facts: GpuFacts,
}

struct Process {
    child: Child,
    stream: UnixStream,
}

impl Examiner {
    /// Starts the process, which opens the first GPU.
    pub(crate) fn start(options: Options) -> Result<Self, BenchError> {
        let (process, facts) = open(&options)?;
        Ok(Self {
            options,
            process: Some(process),
            facts,
        })
    }

    /// The GPU that judges.
    pub(crate) fn facts(&self) -> &GpuFacts {
        &self.facts
    }

    /// Judges a candidate. An error is never the candidate's: what may have been a passing failure
    /// is tried once more, by a new process.
    pub(crate) fn judge(&mut self, work: &Work) -> Result<Answer, BenchError> {
        self.twice(|examiner| examiner.try_judge(work))
    }

    /// Judges a module, under the same rules.
    pub(crate) fn judge_module(&mut self, work: &ModuleWork) -> Result<ModuleAnswer, BenchError> {
        self.twice(|examiner| examiner.try_judge_module(work))
    }

    fn twice<T>(
        &mut self,
        judge: impl Fn(&mut Self) -> Result<T, BenchError>,
    ) -> Result<T, BenchError> {
        match judge(self) {
            Err(error) if error.kind == hotloop_flow::error::ErrorKind::Machine => {
                self.process = None;
                judge(self)
            }
            judged => judged,
        }
    }

    fn try_judge(&mut self, work: &Work) -> Result<Answer, BenchError> {
        let patience = JUDGING + Duration::from_secs_f64(CALLS * work.limit_s);
        let mut work = work.clone();
        let reference = std::mem::take(&mut work.reference.image.cubin);
        let candidate = std::mem::take(&mut work.candidate.cubin);
        let request = Request::Judge(Box::new(work));
        match self.ask(&request, &[&reference, &candidate], patience)? {
            Reply::Judged(answer) => Ok(answer),
            other => Err(unexpected(other)),
        }
    }

    fn try_judge_module(&mut self, work: &ModuleWork) -> Result<ModuleAnswer, BenchError> {
        let patience = JUDGING_MODULE + Duration::from_secs_f64(CALLS * work.limit_s);
        let mut work = work.clone();
        let images = work.images.iter_mut();
        let code: Vec<Vec<u8>> = images
            .map(|image| std::mem::take(&mut image.cubin))
            .collect();
        let code: Vec<&[u8]> = code.iter().map(Vec::as_slice).collect();
        let request = Request::JudgeModule(Box::new(work));
        match self.ask(&request, &code, patience)? {
            Reply::JudgedModule(answer) => Ok(*answer),
            other => Err(unexpected(other)),
        }
    }

    fn ask(
        &mut self,
        request: &Request,
        attached: &[&[u8]],
        patience: Duration,
    ) -> Result<Reply, BenchError> {
        let process = match &mut self.process {
            Some(process) => process,
            none => none.insert(open(&self.options)?.0),
        };
        let replied = process.ask(request, attached, patience);
        if replied.is_err() {
            self.process = None;
        }
        replied
    }
}

/// A reply that is none to what was asked.
fn unexpected(reply: Reply) -> BenchError {
    match reply {
        Reply::Task(why) => BenchError::user(why),
        Reply::Machine(why) => machine(why),
        Reply::Opened(_) | Reply::Judged(_) | Reply::JudgedModule(_) => {
            BenchError::machine("the examiner answers something else")
        }
    }
}

fn open(options: &Options) -> Result<(Process, GpuFacts), BenchError> {
    let mut process = Process::start(options)?;
    let opening = Opening {
        seccomp: options.seccomp,
        spares: options.spares,
        torch: options.torch.clone(),
    };
    match process.ask(&Request::Open(opening), &[&options.trusted.cubin], OPENING)? {
        Reply::Opened(facts) => Ok((process, facts)),
        Reply::Task(why) => Err(machine(why)),
        other => Err(unexpected(other)),
    }
}

fn machine(why: String) -> BenchError {
    BenchError::machine(why).hint("`nvidia-smi` shows whether the GPU works and who uses it")
}

impl Process {
    fn start(options: &Options) -> Result<Self, BenchError> {
        let failed = |error: std::io::Error| {
            BenchError::machine(format!("the examiner could not be started: {error}"))
        };
        let (stream, end) = UnixStream::pair().map_err(failed)?;
        let child = Command::new(&options.roles)
            .arg(GPU_EXAMINER)
            // Baselines compute with floats as floats.
            .env("NVIDIA_TF32_OVERRIDE", "0")
            .stdin(OwnedFd::from(end))
            .stdout(Stdio::null())
            .spawn()
            .map_err(failed)?;
        Ok(Self { child, stream })
    }

    fn ask(
        &mut self,
        request: &Request,
        attached: &[&[u8]],
        patience: Duration,
    ) -> Result<Reply, BenchError> {
        let asked = wire::send(&mut self.stream, request, attached)
            .and_then(|()| self.stream.set_read_timeout(Some(patience)))
            .and_then(|()| wire::receive::<Reply>(&mut self.stream));
        match asked {
            Ok((reply, _)) => Ok(reply),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                Err(BenchError::machine(format!(
                    "the examiner did not answer within {} s",
                    patience.as_secs()
                )))
            }
            Err(_) => Err(BenchError::machine("the examiner ended unexpectedly")),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Its process with torch has files, which it removes if it may end by itself.
        drop(self.stream.shutdown(Shutdown::Both));
        let since = Instant::now();
        while since.elapsed() < LEAVING && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(5));
        }
        // Its runners die with it.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
