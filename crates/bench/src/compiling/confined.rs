//! The compiler in its sandbox: started, limited, watched, and what came of it.

use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use hotloop_flow::verdict::Phase;
use hotloop_flow::{BenchError, Remedy, Verdict};

use crate::compiling::diagnostics::{NO_PROCESS, NO_SPACE, no_process, shorten};
use crate::compiling::patience::{Patience, Waited};
use crate::confine::{self, Confinement, NO_LIMITS};
use crate::role::names::CONFINE;
use crate::sandbox::files::OpenFiles;
use crate::sandbox::limits::{self, Limits};
use crate::scratch::{Folder, Scratch, no_space};
use crate::sys;

/// The remedy if a confined process cannot set its limits because its own are lower.
const RAISE_ALL: &str = "raise the hard limits that `ulimit -Ha` shows: that on the size of files (ulimit -f), or another";

/// What compiling may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowance {
    /// Seconds by the clock. A compiler without most of its processor time has longer.
    pub(crate) wall_s: f64,
    /// Seconds on a processor, of each of its processes.
    pub(crate) processor_s: u64,
    /// Bytes of address space of each of its processes.
    pub(crate) memory_bytes: u64,
}

impl Allowance {
    /// What a host compiler may take for one candidate.
    pub(crate) const HOST: Self = Self {
        wall_s: 10.0,
        processor_s: 6,
        memory_bytes: 4 << 30,
    };

    pub(crate) fn patience(self) -> Patience {
        Patience {
            wall: self.wall_s,
            processor: 0.9 * self.processor_s as f64,
            put_off: 20.0,
        }
    }

    /// The verdict on a source that takes longer.
    pub(crate) fn timed_out(self) -> Verdict {
        Verdict::TimedOut {
            limit_s: self.wall_s,
            during: Phase::Compile,
        }
    }
}

/// How many processes one compiler may be.
const PROCESSES: u64 = 64;
/// Memory that one of them may hold and still be a victim when the machine's runs out: a plain
/// source takes a tenth of it.
pub(crate) const MODEST_BYTES: u64 = 1 << 30;
/// Bytes of the largest file that compiling may write, and of what preprocessing may give: it is
/// read into memory, and the prelude's headers take 1.7 million of them.
pub(crate) const OUTPUT_BYTES: u64 = 64 << 20;
pub(crate) const PREPROCESSED_BYTES: u64 = 6 << 20;
/// Bytes of it that may be the candidate's own. Every token of them is read several times, and
/// takes a hundred times its bytes.
pub(crate) const OWN_BYTES: usize = 1 << 20;
/// A file system with less room than this may be why a compiler ran out of it. A plain source takes
/// a tenth of it, and a source that takes more than all of it is at fault itself.
const ROOM: u64 = 16 << 20;
/// How the compiler says that a program of its own was ended by the limit on processor time. It is
/// believed of one that used half of the limit.
const USED_UP: &str = "CPU time limit exceeded";

/// The compiler of one bench, in its sandbox.
pub(crate) struct ConfinedCompiler {
    /// The command, by absolute path.
    pub(crate) program: PathBuf,
    /// The files that it must reach, its headers among them.
    pub(crate) files: OpenFiles,
    pub(crate) scratch: Arc<Scratch>,
    /// The executable that plays the hidden roles.
    pub(crate) roles: PathBuf,
    pub(crate) landlock: bool,
    pub(crate) allowance: Allowance,
}

/// One run of the compiler.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    /// Where it runs, and the only place where it may write.
    pub(crate) folder: &'a Folder,
    pub(crate) arguments: &'a [String],
    /// The user it becomes, when hotloop is root.
    pub(crate) user: Option<u32>,
    /// One more file that it may read.
    pub(crate) extra: &'a Path,
    /// Bytes of the largest file that it may write.
    pub(crate) file_bytes: u64,
}

/// What a confined command printed, or the verdict on the source that it failed on.
type Ended = Result<File, Verdict>;

impl ConfinedCompiler {
    /// Runs the compiler in `folder`; once more, if it says that it could not start a process. That
    /// is believed of one that cannot compile nothing at all either.
    pub(crate) fn run(&self, run: Run<'_>) -> Result<Ended, BenchError> {
        let ended = self.attempt(run)?;
        if !says_no_process(&ended) {
            return Ok(ended);
        }
        let empty = self.scratch.folder(run.user)?;
        fs_err::write(empty.path().join("empty.c"), "").map_err(|error| no_space(&error))?;
        let nothing = ["-pipe", "-c", "empty.c", "-o", "empty.o"].map(String::from);
        if let Err(verdict) = self.attempt(Run {
            folder: &empty,
            arguments: &nothing,
            extra: Path::new("/dev/null"),
            file_bytes: OUTPUT_BYTES,
            ..run
        })? {
            return Err(no_process(&verdict.detail()));
        }
        self.attempt(run)
    }

    /// Runs the compiler in `folder` with nothing else to write and little to read.
    ///
    /// What it prints goes to files without names: a source could ask whether they exist, and show
    /// the preprocessor other code than the compiler. And none of it is evidence of the machine's
    /// failure, for a source can have anything printed: `#error No space left on device`.
    fn attempt(&self, run: Run<'_>) -> Result<Ended, BenchError> {
        let folder = run.folder.path();
        let confinement = self.confinement(run)?;
        let failed = |error: std::io::Error| {
            BenchError::machine(format!("the compiler could not be started: {error}"))
        };
        let stdout = File::from(sys::memory_file("printed", 0).map_err(failed)?);
        let stderr = File::from(sys::memory_file("diagnostics", 0).map_err(failed)?);
        let (report, report_end) = sys::pipe().map_err(failed)?;
        let killed_before = sys::killed_for_memory();
        let child = Command::new(&self.roles)
            .arg(CONFINE)
            .arg(confinement)
            .arg(&self.program)
            .args(run.arguments)
            .current_dir(folder)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("TMPDIR", folder)
            .env("LC_ALL", "C")
            .stdin(report_end)
            .stdout(stdout.try_clone().map_err(failed)?)
            .stderr(stderr.try_clone().map_err(failed)?)
            .spawn()
            .map_err(failed)?;
        let pid = child.id() as sys::Pid;
        let waited = self.allowance.patience().wait(pid);
        // The whole group, whatever the driver left; not reaped yet, so the group is still its own.
        drop(sys::kill_group(pid));
        let (status, usage) = sys::reap_with_usage(pid)
            .map_err(|error| BenchError::machine(format!("the compiler was lost: {error}")))?;
        let waited = waited.map_err(|error| {
            BenchError::machine(format!("the compiler could not be watched: {error}"))
        })?;
        let ended = waited == Waited::Ended;
        if waited == Waited::Starved {
            return Err(BenchError::machine("the compiler hardly had a processor")
                .hint("other work keeps the cores busy, or the host takes them away"));
        }
        if ended && status.success() {
            return Ok(Ok(stdout));
        }
        if !ended
            || usage.processor_s > self.allowance.processor_s as f64 - 0.1
            || status.signal() == Some(libc::SIGXCPU)
        {
            return Ok(Err(self.allowance.timed_out()));
        }
        let report = read_all(report);
        let said = read_start(stderr, 64 << 10); // enough for any message; the rest of a flood is dropped
        if said.contains(USED_UP) && usage.processor_s > 0.5 * self.allowance.processor_s as f64 {
            return Ok(Err(self.allowance.timed_out()));
        }
        let killed = sys::killed_for_memory() != killed_before
            || status
                .signal()
                .is_some_and(|signal| signal == libc::SIGKILL || sys::is_request_to_end(signal));
        if killed && usage.peak_bytes > MODEST_BYTES {
            return Ok(Err(not_compiled("the compiler ran out of memory".into())));
        }
        failure_of_machine(confine::complaint(&report), &said, folder, killed)
            .map_or(Ok(Err(not_compiled(shorten(&said)))), Err)
    }

    /// What the compiler may do in `run`, as the role reads it.
    fn confinement(&self, run: Run<'_>) -> Result<String, BenchError> {
        let mut files = self.files.clone();
        files.write.push(run.folder.path().to_owned());
        files.read.push(run.extra.to_owned());
        let threads = limits::beside_others(PROCESSES, run.user);
        let limits = Limits {
            address_space: self.allowance.memory_bytes,
            file_bytes: run.file_bytes,
            open_files: 128,
            threads,
            cpu_s: self.allowance.processor_s,
        };
        let confinement = Confinement {
            user: run.user,
            limits,
            files: self.landlock.then_some(files),
        };
        serde_json::to_string(&confinement).map_err(|error| BenchError::machine(error.to_string()))
    }
}

fn not_compiled(diagnostics: String) -> Verdict {
    Verdict::NotCompiled { diagnostics }
}

fn says_no_process(ended: &Ended) -> bool {
    matches!(ended, Err(Verdict::NotCompiled { diagnostics }) if diagnostics.contains(NO_PROCESS))
}

/// Why the machine is to blame for a compiler that failed, if it is: the process that was to become
/// the compiler complained, or the machine lacked something.
fn failure_of_machine(
    complaint: Option<&str>,
    said: &str,
    folder: &Path,
    killed: bool,
) -> Option<BenchError> {
    if let Some(complaint) = complaint {
        if complaint.contains(NO_PROCESS) {
            return Some(no_process(complaint));
        }
        let error = BenchError::machine(format!("the compiler could not be confined: {complaint}"));
        return Some(if complaint.contains(NO_LIMITS) {
            error.hint(RAISE_ALL)
        } else {
            error
        });
    }
    if said.contains(NO_SPACE) && sys::free_bytes(folder) < ROOM {
        return Some(no_space(&std::io::Error::from_raw_os_error(libc::ENOSPC)));
    }
    killed.then(|| {
        BenchError::machine("the compiler was killed from outside")
            .hint("the machine may be out of memory; judge fewer candidates at once")
            .remedies(&[Remedy::Jobs])
    })
}

/// The text from a pipe whose other end is closed. Unreadable bytes count as missing.
fn read_all(pipe: OwnedFd) -> String {
    let mut bytes = Vec::new();
    drop(File::from(pipe).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What a command printed into a file, up to `most` bytes.
pub(crate) fn read_start(mut file: File, most: u64) -> String {
    let mut bytes = Vec::new();
    // A memory file can always be read; if not, nothing was said.
    drop(
        file.rewind()
            .and_then(|()| file.take(most).read_to_end(&mut bytes)),
    );
    String::from_utf8_lossy(&bytes).into_owned()
}
