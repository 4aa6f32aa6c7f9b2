//! Resource limits of confined processes.

use std::io;

use serde::{Deserialize, Serialize};

use crate::sys;

/// The resource limits of a confined process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Limits {
    /// Bytes of address space.
    pub(crate) address_space: u64,
    /// Bytes of the largest file it may write.
    pub(crate) file_bytes: u64,
    pub(crate) open_files: u64,
    /// Processes and threads of its user.
    pub(crate) threads: u64,
    /// Seconds of processor time.
    pub(crate) cpu_s: u64,
}

impl Limits {
    /// Applies them to this process permanently.
    pub(crate) fn apply(&self) -> io::Result<()> {
        sys::limit(libc::RLIMIT_AS, self.address_space)?;
        sys::limit(libc::RLIMIT_FSIZE, self.file_bytes)?;
        sys::limit(libc::RLIMIT_NOFILE, self.open_files)?;
        sys::limit_within(libc::RLIMIT_NPROC, self.threads)?;
        // The soft limit is a second lower. Its signal comes first and distinguishes this limit
        // from other kills.
        sys::limit_softly(libc::RLIMIT_CPU, self.cpu_s, self.cpu_s + 1)?;
        sys::limit(libc::RLIMIT_CORE, 0)?;
        sys::limit(libc::RLIMIT_MEMLOCK, 0)?;
        sys::limit(libc::RLIMIT_MSGQUEUE, 0)
    }
}

/// Processes and threads that others of the same user may start without making a confined process
/// fail. Many compilers and teams start at once on a large machine. The number is small enough to
/// stop a fork bomb.
const OTHERS: u64 = 2048;

/// The limit for a process that needs `own` processes and threads, if the limit counts its whole
/// user: the calling user, or `user`, which only benches use.
pub(crate) fn beside_others(own: u64, user: Option<u32>) -> u64 {
    let running = if user.is_some() { 0 } else { threads_of_user() };
    own + running + OTHERS
}

/// Threads that the calling user runs now, everywhere on this machine.
fn threads_of_user() -> u64 {
    use std::os::unix::fs::MetadataExt;
    let Ok(own) = fs_err::metadata("/proc/self").map(|data| data.uid()) else {
        return 0;
    };
    let Ok(processes) = fs_err::read_dir("/proc") else {
        return 0;
    };
    processes
        .filter_map(Result::ok)
        .filter(|entry| {
            entry
                .file_name()
                .to_string_lossy()
                .bytes()
                .all(|byte| byte.is_ascii_digit())
        })
        .filter(|entry| entry.metadata().is_ok_and(|data| data.uid() == own))
        .filter_map(|entry| fs_err::read_dir(entry.path().join("task")).ok())
        .map(|threads| threads.count() as u64)
        .sum()
}
