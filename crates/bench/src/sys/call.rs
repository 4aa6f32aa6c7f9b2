//! The return value of a system call, process numbers and the clock.
#![expect(
    unsafe_code,
    reason = "system calls; every wrapper checks its return value"
)]

use std::io;

/// A process id.
pub(crate) type Pid = libc::pid_t;

pub(super) fn check(status: libc::c_int) -> io::Result<libc::c_int> {
    if status < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(status)
    }
}

/// Seconds of the raw monotonic clock, which no time service adjusts.
pub(crate) fn now() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` outlives the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_RAW, &raw mut time) };
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}
