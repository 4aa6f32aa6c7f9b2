//! The user's own torch: runs problems, never answers, for what is right and how long torch takes.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hotloop_flow::BenchError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::compiling::installed::say;
use crate::scratch::{Folder, Scratch};
use crate::sys;

const PROGRAM: &str = include_str!("worker/worker.py");
/// What the program imports, from the folder that it works in.
const IMPORTED: [(&str, &str); 2] = [
    ("judged.py", include_str!("worker/judged.py")),
    ("draws.py", include_str!("worker/draws.py")),
];
/// Time to import torch and to open a GPU.
const OPENING: Duration = Duration::from_mins(3);
/// Bytes of what a worker complained about that are shown.
const COMPLAINT: usize = 500;
const NO_TORCH: &str = "no Python with torch was found";
const GET_TORCH: &str =
    "`pip install torch`, and run hotloop in that environment, or name the Python that has it";

/// An interpreter that has torch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TorchPython {
    /// What starts it.
    pub path: PathBuf,
    /// The version of torch. What follows a `+` names the CUDA that it was built for.
    pub torch: String,
}

impl TorchPython {
    /// The one that the user names; without a name, the first in `PATH` that has torch.
    pub fn find(named: Option<&Path>) -> Result<Self, BenchError> {
        if let Some(path) = named {
            return Self::of(path).ok_or_else(|| {
                BenchError::user(format!("{}: no Python with torch", path.display()))
                    .hint(GET_TORCH)
            });
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut commands = std::env::split_paths(&path).map(|folder| folder.join("python3"));
        commands
            .find_map(|command| Self::of(&command))
            .ok_or_else(|| BenchError::machine(NO_TORCH).hint(GET_TORCH))
    }

    /// Asks for the version without importing torch, which takes seconds.
    fn of(command: &Path) -> Option<Self> {
        const ASK: &str = "import importlib.metadata as m; print(m.version('torch'))";
        let said = say(command, &["-c", ASK])?;
        let torch = said.trim().to_owned();
        (!torch.is_empty()).then(|| Self {
            path: command.to_owned(),
            torch,
        })
    }
}

/// Where a worker runs problems.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerFacts {
    pub torch: String,
    /// `cuda` or `cpu`.
    pub device: String,
    /// The GPU's name.
    pub hardware: String,
    /// Threads of torch on a CPU.
    pub threads: Option<u32>,
    /// Whether floats are multiplied as TF32, which keeps 10 of their 23 bits.
    pub tf32: bool,
}

/// What was measured of a problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Baselines {
    /// Plain torch.
    pub eager: Measured<Times>,
    /// `torch.compile`, if it was asked for.
    pub compiled: Option<Measured<Times>>,
    /// How far eager results are from those in doubles.
    pub reference: Measured<Precision>,
}

/// A part of a measurement, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Measured<T> {
    Got(T),
    Failed { why: String },
}

impl<T> Measured<T> {
    /// What was measured.
    pub fn got(&self) -> Option<&T> {
        match self {
            Self::Got(got) => Some(got),
            Self::Failed { .. } => None,
        }
    }
}

/// How long one side takes. On a GPU no run finds its data in the cache.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Times {
    pub median_s: f64,
    pub min_s: f64,
    pub cv: f64,
    pub runs: u32,
}

/// How exact torch is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Precision {
    /// The worst difference in parts of the largest right number; `None` if it is no number.
    pub error: Option<f64>,
}

/// How to measure a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// Whether to measure `torch.compile`, too, which takes its time to compile.
    pub compiled: bool,
    /// Draws inputs and parameters.
    pub seed: u64,
    /// What a problem may take in all.
    pub limit: Duration,
}

/// A process with torch. It ends when this is dropped.
pub struct Worker {
    python: TorchPython,
    device: String,
    facts: WorkerFacts,
    process: Option<Process>,
    scratch: Scratch,
}

impl Worker {
    /// Starts one on `cuda`, `cpu`, or, by `auto`, on a GPU if torch sees one.
    pub fn start(python: TorchPython, device: &str) -> Result<Self, BenchError> {
        let scratch = Scratch::new()?;
        let (process, facts) = open(&python, device, &scratch)?;
        Ok(Self {
            python,
            device: device.to_owned(),
            facts,
            process: Some(process),
            scratch,
        })
    }

    pub fn facts(&self) -> &WorkerFacts {
        &self.facts
    }

    /// Measures a problem. The inner error says why it cannot be measured: its code raises, or
    /// takes too long, or ends the worker.
    pub fn measure(
        &mut self,
        source: &str,
        asked: Asked,
    ) -> Result<Result<Baselines, String>, BenchError> {
        let process = match &mut self.process {
            Some(process) => process,
            none => none.insert(open(&self.python, &self.device, &self.scratch)?.0),
        };
        let (compiled, seed) = (asked.compiled, asked.seed);
        let request = json!({"measure": {"source": source, "compiled": compiled, "seed": seed}});
        let heard = process.ask(&request, asked.limit);
        if heard.is_err() {
            self.process = None;
        }
        Ok(heard.and_then(|reply| match reply {
            Measured::Got(baselines) => Ok(baselines),
            Measured::Failed { why } => Err(why),
        }))
    }

    /// Asks for something else. The inner error is what the problem's code says. A worker that
    /// ended has lost what it was given, so that is an error.
    pub(crate) fn ask<T: DeserializeOwned>(
        &mut self,
        request: &serde_json::Value,
        limit: Duration,
    ) -> Result<Result<T, String>, BenchError> {
        self.ask_with(request, &[], limit)
    }

    /// Asks, and sends descriptors.
    pub(crate) fn ask_with<T: DeserializeOwned>(
        &mut self,
        request: &serde_json::Value,
        descriptors: &[BorrowedFd<'_>],
        limit: Duration,
    ) -> Result<Result<T, String>, BenchError> {
        let lost = |why: String| BenchError::machine(format!("the process with torch: {why}"));
        let process = self.process.as_mut();
        let process = process.ok_or_else(|| lost("it has ended".to_owned()))?;
        match process.ask_with(request, descriptors, limit) {
            Ok(Measured::Got(got)) => Ok(Ok(got)),
            Ok(Measured::Failed { why }) => Ok(Err(why)),
            Err(why) => {
                self.process = None;
                Err(lost(why))
            }
        }
    }
}

fn open(
    python: &TorchPython,
    device: &str,
    scratch: &Scratch,
) -> Result<(Process, WorkerFacts), BenchError> {
    let failed = |why: String| {
        let what = format!("{}: torch does not start: {why}", python.path.display());
        BenchError::machine(what).hint(GET_TORCH)
    };
    let mut process = Process::start(python, scratch).map_err(|error| failed(error.to_string()))?;
    match process.ask(&json!({"open": device}), OPENING) {
        Ok(Measured::Got(facts)) => Ok((process, facts)),
        Ok(Measured::Failed { why }) | Err(why) => Err(failed(why)),
    }
}

struct Process {
    child: Child,
    line: BufReader<UnixStream>,
    /// Where it works and complains.
    folder: Folder,
}

impl Process {
    fn start(python: &TorchPython, scratch: &Scratch) -> Result<Self, std::io::Error> {
        let folder = scratch
            .folder(None)
            .map_err(|error| std::io::Error::other(error.what))?;
        for (name, text) in IMPORTED {
            fs_err::write(folder.path().join(name), text)?;
        }
        let complaints = fs_err::File::create(folder.path().join(COMPLAINTS))?;
        let (line, end) = UnixStream::pair()?;
        let child = Command::new(&python.path)
            .args(["-u", "-c", PROGRAM])
            .current_dir(folder.path())
            // Baselines compute with floats as floats.
            .env("NVIDIA_TF32_OVERRIDE", "0")
            // Answers run on memory that is mapped page by page, because processes share it. Torch
            // gets memory of that kind, too, should a GPU read one more slowly than the other.
            .env("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")
            .stdin(OwnedFd::from(end))
            .stdout(Stdio::null())
            .stderr(complaints.into_parts().0)
            .spawn()?;
        Ok(Self {
            child,
            line: BufReader::new(line),
            folder,
        })
    }

    /// What it replies; or why it does not.
    fn ask<T: DeserializeOwned>(
        &mut self,
        request: &serde_json::Value,
        limit: Duration,
    ) -> Result<Measured<T>, String> {
        self.ask_with(request, &[], limit)
    }

    fn ask_with<T: DeserializeOwned>(
        &mut self,
        request: &serde_json::Value,
        descriptors: &[BorrowedFd<'_>],
        limit: Duration,
    ) -> Result<Measured<T>, String> {
        let stream = self.line.get_mut();
        let text = format!("{request}\n");
        // Descriptors travel with the first byte.
        let (first, rest) = text.as_bytes().split_at(1);
        let sent = stream
            .set_read_timeout(Some(limit))
            .and_then(|()| sys::send(stream.as_fd(), first, descriptors))
            .and_then(|()| stream.write_all(rest));
        let mut reply = String::new();
        match sent.and_then(|()| self.line.read_line(&mut reply)) {
            Ok(0) => Err(self.last_words()),
            Ok(_) => serde_json::from_str(&reply).map_err(|error| format!("its reply: {error}")),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                Err(format!("it took longer than {} s", limit.as_secs()))
            }
            Err(_) => Err(self.last_words()),
        }
    }

    /// What a process says that ended.
    fn last_words(&mut self) -> String {
        let ended = self.child.wait().map(|status| status.to_string());
        let ended = ended.unwrap_or_else(|error| error.to_string());
        let said = fs_err::read(self.folder.path().join(COMPLAINTS)).unwrap_or_default();
        let said = String::from_utf8_lossy(&said[said.len().saturating_sub(COMPLAINT)..]);
        let last = said.trim().lines().last().unwrap_or_default().to_owned();
        format!("the process ended by {ended}: {last}")
    }
}

const COMPLAINTS: &str = "complaints";

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
