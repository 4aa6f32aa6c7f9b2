//! The warm compiler: a process that has loaded NVRTC, and forks for every candidate.
//!
//! Loading takes longer than compiling. The process has one thread and runs no candidate's text
//! itself; what a candidate breaks in its fork is gone with the fork.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Seek, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;

use crate::confine::{CONFINED, NO_LIMITS};
use crate::gpu::compile::headers::HEADERS;
use crate::gpu::compile::nvrtc::{Nvrtc, Unit};
use crate::gpu::compile::protocol::{
    Answer, Compiler, Confined, End, LONGEST, Request, Start, Work, write_outcome,
};
use crate::gpu::compile::text::{SOURCE, WARM_UP};
use crate::sandbox::limits::Limits;
use crate::sandbox::{calls, files};
use crate::sys::{self, Pid};

/// Bytes of stack for a fork: what recurses deeper than this is no program.
const STACK_BYTES: u64 = 64 << 20;

/// The role: `START`, with a socket to the bench as standard input. Ends with the bench.
pub(crate) fn run(mut arguments: impl Iterator<Item = OsString>) -> i32 {
    let Some(socket) = take_socket() else {
        return 1;
    };
    let start = arguments
        .next()
        .and_then(|start| serde_json::from_str(&start.to_string_lossy()).ok());
    let Some(start) = start else {
        return 1;
    };
    let ready = warm_up(&start);
    let (nvrtc, answer) = match ready {
        Ok((nvrtc, compiler)) => (Some(nvrtc), Answer::Ready(compiler)),
        Err(why) => (None, Answer::Failed(why)),
    };
    if tell(&socket, &answer).is_err() {
        return 1;
    }
    let Some(nvrtc) = nvrtc else {
        return 1;
    };
    let own = std::process::id() as Pid;
    while let Ok(Some((bytes, descriptors))) = sys::receive(socket.as_fd(), LONGEST) {
        let answer = match serde_json::from_slice(&bytes) {
            Ok(Request::Fork) => match sys::fork() {
                Ok(None) => {
                    drop(socket);
                    sys::end_at_once(play_fork(&nvrtc, own, descriptors));
                }
                Ok(Some(pid)) => Answer::Forked(pid),
                Err(error) => Answer::Failed(error.to_string()),
            },
            Ok(Request::Reap(pid)) => reap(pid),
            Err(error) => Answer::Failed(error.to_string()),
        };
        if tell(&socket, &answer).is_err() {
            break;
        }
    }
    0
}

/// The socket at standard input, which becomes empty.
fn take_socket() -> Option<OwnedFd> {
    let socket = std::io::stdin().as_fd().try_clone_to_owned().ok()?;
    let nothing = File::open("/dev/null").ok()?;
    sys::inherit_as(nothing.as_raw_fd(), 0).ok()?;
    Some(socket)
}

fn tell(socket: &OwnedFd, answer: &Answer) -> std::io::Result<()> {
    sys::send(socket.as_fd(), &serde_json::to_vec(answer)?, &[])
}

/// Loads the compiler and has it compile something, which loads the rest of it.
fn warm_up(start: &Start) -> Result<(Nvrtc, Compiler), String> {
    let nvrtc = Nvrtc::load(&start.library)?;
    let (names, headers) = (["warm<1>".to_owned()], HEADERS);
    let outcome = nvrtc.compile(&Unit {
        source: WARM_UP,
        called: SOURCE,
        options: &start.options,
        headers,
        names: &names,
    })?;
    if !outcome.is_compiled {
        return Err(String::from_utf8_lossy(&outcome.log).into_owned());
    }
    let compiler = Compiler {
        version: nvrtc.version(),
        architectures: nvrtc.architectures(),
    };
    Ok((nvrtc, compiler))
}

fn reap(pid: Pid) -> Answer {
    match sys::reap_with_usage(pid) {
        Ok((status, usage)) => Answer::Reaped(End {
            signal: status.signal(),
            status: status.code(),
            processor_s: usage.processor_s,
            peak_bytes: usage.peak_bytes,
        }),
        Err(error) => Answer::Failed(error.to_string()),
    }
}

/// A fork: confines itself, compiles, and writes what it made.
fn play_fork(nvrtc: &Nvrtc, parent: Pid, descriptors: Vec<OwnedFd>) -> i32 {
    // The time limit kills the whole group, and this process ends with the one that it is a fork
    // of.
    sys::lead_own_group();
    if sys::die_with_parent().is_err() || sys::parent() != parent {
        return 1;
    }
    let Ok([work, made, report]) = <[OwnedFd; 3]>::try_from(descriptors) else {
        return 1;
    };
    let (mut made, mut report) = (File::from(made), File::from(report));
    let prepared = read_work(work.into()).and_then(|work| {
        sys::work_in(&work.folder).map_err(|error| format!("its folder: {error}"))?;
        if let Some(confined) = &work.confinement {
            confine(confined)?;
        }
        Ok(work)
    });
    let work = match prepared {
        Ok(work) => work,
        Err(why) => {
            // Where nothing can be written, the report lacks its first word, and that says enough.
            drop(report.write_all(why.as_bytes()));
            return 1;
        }
    };
    if report.write_all(CONFINED.as_bytes()).is_err() {
        return 1;
    }
    drop(report);
    let outcome = nvrtc.compile(&Unit {
        source: &work.source,
        called: SOURCE,
        options: &work.options,
        headers: HEADERS,
        names: &work.names,
    });
    let outcome = outcome.unwrap_or_else(|why| crate::gpu::compile::nvrtc::Outcome {
        log: why.into_bytes(),
        ..Default::default()
    });
    i32::from(write_outcome(&outcome, &mut made).is_err())
}

fn read_work(mut work: File) -> Result<Work, String> {
    let fail = |error: std::io::Error| format!("its work: {error}");
    work.rewind().map_err(fail)?;
    serde_json::from_reader(std::io::BufReader::new(work)).map_err(|error| fail(error.into()))
}

/// Bytes of address space that this process has already. NVRTC reserves a sixteenth of the
/// machine's memory when it is loaded, and touches little of it.
fn address_space() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:"));
    let kilobytes: u64 = size
        .and_then(|size| size.trim().strip_suffix(" kB")?.parse().ok())
        .unwrap_or(0);
    kilobytes << 10
}

fn confine(confined: &Confined) -> Result<(), String> {
    // When memory runs out, the compiler goes first and not its judge. Where that cannot be said,
    // it is not.
    drop(std::fs::write("/proc/self/oom_score_adj", "1000"));
    let fail = |what: &'static str| move |error: std::io::Error| format!("{what}: {error}");
    let pid = std::process::id() as Pid;
    if let Some(user) = confined.user {
        sys::become_user(user).map_err(fail("dropping root"))?;
        // Another user's death signal is forgotten.
        sys::die_with_parent().map_err(fail("parent death signal"))?;
    }
    sys::limit_within(libc::RLIMIT_STACK, STACK_BYTES).map_err(fail(NO_LIMITS))?;
    let limits = Limits {
        address_space: confined.limits.address_space + address_space(),
        ..confined.limits
    };
    limits.apply().map_err(fail(NO_LIMITS))?;
    sys::no_new_privileges().map_err(fail("no new privileges"))?;
    if let Some(open) = &confined.files {
        files::confine(open)?;
    }
    calls::confine_warm_compiler(pid)
}
