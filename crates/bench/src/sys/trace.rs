//! Traces a child: attaches to its threads, interrupts them and lets them go on.
#![expect(
    unsafe_code,
    reason = "system calls; every wrapper checks its return value"
)]

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use crate::sys::call::{Pid, check};
use crate::sys::own::is_root;

/// What a traced thread reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Traced {
    /// It stands still for its tracer alone: it was interrupted, or has just been started.
    Interrupted,
    /// It stands still because it started the thread whose report comes next.
    StartedThread,
    /// It stands still before this signal reaches it.
    Signalled(i32),
    /// It is gone.
    Ended,
}

/// Whether this process may trace its children. Root needs a capability for it, since its children
/// become other users, and a system may forbid it altogether.
pub(crate) fn may_trace() -> bool {
    const CAP_SYS_PTRACE: u64 = 1 << 19;
    let has_capability = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
        let set = line.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
        set.is_some_and(|set| set & CAP_SYS_PTRACE != 0)
    };
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
    let is_allowed = scope.map_or(true, |scope| matches!(scope.trim(), "0" | "1"));
    cfg!(target_arch = "x86_64") && (has_capability() || (is_allowed && !is_root()))
}

fn request(request: libc::c_uint, thread: Pid, data: usize) -> io::Result<()> {
    // SAFETY: none of these requests writes to this process.
    let status = unsafe { libc::ptrace(request, thread, 0_usize, data) };
    check(status as libc::c_int).map(drop)
}

/// Attaches to a thread, and to those that it starts. All of them end if this process does.
pub(crate) fn seize(thread: Pid) -> io::Result<()> {
    let options = libc::PTRACE_O_TRACECLONE | libc::PTRACE_O_EXITKILL;
    request(libc::PTRACE_SEIZE, thread, options as usize)
}

/// Has a thread that runs report [`Traced::Interrupted`].
pub(crate) fn interrupt(thread: Pid) -> io::Result<()> {
    request(libc::PTRACE_INTERRUPT, thread, 0)
}

/// Lets a thread that stands still go on, with a signal or with 0 for none.
pub(crate) fn resume(thread: Pid, signal: i32) -> io::Result<()> {
    request(libc::PTRACE_CONT, thread, signal as usize)
}

/// The next report of a traced thread. If there is none yet, it waits for one, or for an alarm.
pub(crate) fn wait_traced() -> io::Result<Option<(Pid, Traced)>> {
    match next_report(libc::__WALL) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
        report => report,
    }
}

/// The next report of a traced thread, if there is one.
pub(crate) fn poll_traced() -> io::Result<Option<(Pid, Traced)>> {
    next_report(libc::__WALL | libc::WNOHANG)
}

fn next_report(options: libc::c_int) -> io::Result<Option<(Pid, Traced)>> {
    let mut status = 0;
    // SAFETY: `status` outlives the call.
    let thread = check(unsafe { libc::waitpid(-1, &raw mut status, options) })?;
    if thread == 0 {
        return Ok(None);
    }
    let Some(signal) = ExitStatus::from_raw(status).stopped_signal() else {
        return Ok(Some((thread, Traced::Ended)));
    };
    let report = match status >> 16 {
        0 => Traced::Signalled(signal),
        libc::PTRACE_EVENT_CLONE => Traced::StartedThread,
        _ => Traced::Interrupted,
    };
    Ok(Some((thread, report)))
}

/// The address of the instruction that a thread which stands still executes next.
#[cfg(target_arch = "x86_64")]
pub(crate) fn next_instruction(thread: Pid) -> io::Result<u64> {
    // SAFETY: all-zero registers are valid, and they outlive the call.
    unsafe {
        let mut registers: libc::user_regs_struct = std::mem::zeroed();
        let status = libc::ptrace(libc::PTRACE_GETREGS, thread, 0_usize, &raw mut registers);
        check(status as libc::c_int)?;
        Ok(registers.rip)
    }
}

/// Nobody reads instructions of other machines.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn next_instruction(_: Pid) -> io::Result<u64> {
    Err(io::ErrorKind::Unsupported.into())
}
