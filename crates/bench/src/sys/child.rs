//! Child processes: waits for them, signals them and reaps them.
#![expect(
    unsafe_code,
    reason = "system calls; every wrapper checks its return value"
)]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use crate::sys::call::{Pid, check};

/// The result of waiting for a child.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Change {
    /// Every thread is in group-stop by this signal.
    Stopped(i32),
    /// It exited with this status.
    Exited(i32),
    /// A signal ended it, after this usage.
    Killed(i32, Usage),
    /// The timer of [`set_alarm`] interrupted the wait.
    Interrupted,
}

/// The resource usage of an ended child.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Usage {
    /// Processor time of the child and of those that it reaped.
    pub(crate) processor_s: f64,
    /// Peak memory of the child or of one of those.
    pub(crate) peak_bytes: u64,
}

/// Waits until the child stops or ends.
pub(crate) fn wait_change(pid: Pid) -> io::Result<Change> {
    match wait(pid, libc::WUNTRACED) {
        Ok((status, usage)) => Ok(match (status.stopped_signal(), status.signal()) {
            (Some(signal), _) => Change::Stopped(signal),
            (None, Some(signal)) => Change::Killed(signal, usage),
            (None, None) => Change::Exited(status.code().unwrap_or(0)),
        }),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(Change::Interrupted),
        Err(error) => Err(error),
    }
}

fn wait(pid: Pid, options: libc::c_int) -> io::Result<(ExitStatus, Usage)> {
    let mut status = 0;
    // SAFETY: an all-zero usage is valid, and both outlive the call.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    check(unsafe { libc::wait4(pid, &raw mut status, options, &raw mut usage) })?;
    let seconds = |time: libc::timeval| time.tv_sec as f64 + 1e-6 * time.tv_usec as f64;
    let processor_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    Ok((
        ExitStatus::from_raw(status),
        Usage {
            processor_s,
            peak_bytes: usage.ru_maxrss as u64 * 1024,
        },
    ))
}

/// Waits for the process to end; `false` if `timeout` passed first.
pub(crate) fn wait_end(pid: Pid, timeout: Duration) -> io::Result<bool> {
    // SAFETY: the descriptor is new and owned here, and `poll` gets one valid entry.
    unsafe {
        let fd = check(libc::syscall(libc::SYS_pidfd_open, pid, 0) as libc::c_int)?;
        let fd = OwnedFd::from_raw_fd(fd);
        let mut entry = libc::pollfd {
            fd: fd.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        loop {
            match check(libc::poll(
                &raw mut entry,
                1,
                timeout.as_millis() as libc::c_int,
            )) {
                Ok(ready) => return Ok(ready > 0),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Whether a stopped child was continued since it last stopped.
pub(crate) fn was_continued(pid: Pid) -> io::Result<bool> {
    // SAFETY: an all-zero siginfo is valid, and it outlives the call.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    check(unsafe {
        libc::waitid(
            libc::P_PID,
            pid as libc::id_t,
            &raw mut info,
            libc::WCONTINUED | libc::WNOHANG,
        )
    })?;
    // SAFETY: waitid left it zero or filled it.
    Ok(unsafe { info.si_pid() } == pid)
}

/// Splits this process in two: nothing in the new one, its number in the other. Only for processes
/// with one thread.
pub(crate) fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: no other thread could hold a lock that the new process needs.
    check(unsafe { libc::fork() }).map(|pid| (pid > 0).then_some(pid))
}

/// Ends this process at once, without what others registered for its end.
pub(crate) fn end_at_once(status: i32) -> ! {
    // SAFETY: never returns.
    unsafe { libc::_exit(status) }
}

/// Sends a signal to a process, or to a group when `pid` is negative.
pub(crate) fn signal(pid: Pid, signal: i32) -> io::Result<()> {
    // SAFETY: plain system call.
    check(unsafe { libc::kill(pid, signal) }).map(drop)
}

/// Kills a process and the group that it leads, if it leads one by now.
pub(crate) fn kill_group(leader: Pid) -> io::Result<()> {
    signal(-leader, libc::SIGKILL).or_else(|_| signal(leader, libc::SIGKILL))
}

/// The name of a signal, for people.
pub(crate) fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGSEGV => "SIGSEGV (touched memory it does not own)",
        libc::SIGBUS => "SIGBUS (touched memory that does not exist)",
        libc::SIGFPE => "SIGFPE (integer division by zero)",
        libc::SIGILL => "SIGILL (an instruction this CPU lacks)",
        libc::SIGABRT => "SIGABRT (abort or failed assertion)",
        libc::SIGSYS => "SIGSYS (a forbidden system call)",
        libc::SIGKILL => "SIGKILL",
        libc::SIGXCPU => "SIGXCPU (used up its processor time)",
        libc::SIGXFSZ => "SIGXFSZ (wrote a file)",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGTERM => "SIGTERM",
        libc::SIGSTOP => "SIGSTOP",
        _ => "a signal",
    }
}

/// Reaps a child that has ended or is about to.
pub(crate) fn reap(pid: Pid) {
    // SAFETY: plain system call; a child that is already gone is fine.
    unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
}

/// Reaps a child that has ended: its status, and what it used.
pub(crate) fn reap_with_usage(pid: Pid) -> io::Result<(ExitStatus, Usage)> {
    wait(pid, 0)
}

/// How many processes this system has killed so far because memory ran out.
pub(crate) fn killed_for_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/vmstat").ok()?;
    text.lines()
        .find_map(|line| line.strip_prefix("oom_kill ")?.parse().ok())
}
