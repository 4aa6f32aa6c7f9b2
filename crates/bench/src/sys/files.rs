//! Descriptors, pipes and files in memory.
#![expect(
    unsafe_code,
    reason = "system calls; every wrapper checks its return value"
)]

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::sys::call::check;

/// A folder that keeps other users from a path, or the path itself: closed, or not there. Root's
/// children are other users, and a package in root's home is closed to them.
pub(crate) fn closed_to_others(path: &Path) -> Option<PathBuf> {
    let real = std::fs::canonicalize(path).ok();
    // To follow a link, a process needs access to its folder and to the folder of its target.
    let ways = [Some(path), real.as_deref()].into_iter().flatten();
    let mut parts = ways
        .flat_map(Path::ancestors)
        .filter(|part| !part.as_os_str().is_empty());
    let is_open = |part: &Path| {
        std::fs::metadata(part).is_ok_and(|about| about.permissions().mode() & 0o001 != 0)
    };
    parts.find(|part| !is_open(part)).map(Path::to_owned)
}

/// How to raise the limit on file sizes, which also applies to memory files.
pub const RAISE: &str = "raise the limit on the size of files (ulimit -f)";

/// Adds the remedy to the message of an error that cannot carry a hint.
fn with_remedy(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::FileTooLarge => io::Error::new(error.kind(), format!("{error}; {RAISE}")),
        _ => error,
    }
}

/// The remedy for a failed write: to raise the limit if that is the cause, otherwise `room`.
pub(crate) fn remedy(error: &io::Error, room: &'static str) -> &'static str {
    if error.kind() == io::ErrorKind::FileTooLarge {
        RAISE
    } else {
        room
    }
}

/// A memory file of `bytes` zeros that can still be sealed.
pub(crate) fn memory_file(name: &str, bytes: usize) -> io::Result<OwnedFd> {
    let name = CString::new(name)?;
    // SAFETY: `name` is a C string, and the descriptor is new and owned here.
    let file = unsafe {
        // glibc has no function for it before 2.27, and released programs run with 2.17.
        let flags = libc::MFD_ALLOW_SEALING | libc::MFD_CLOEXEC;
        let fd = libc::syscall(libc::SYS_memfd_create, name.as_ptr(), flags);
        OwnedFd::from_raw_fd(check(fd as libc::c_int)?)
    };
    // SAFETY: a valid descriptor.
    check(unsafe { libc::ftruncate(file.as_raw_fd(), bytes as libc::off_t) })
        .map_err(with_remedy)?;
    Ok(file)
}

/// Forbids changes of size and, with `contents`, any new writable mapping.
///
/// `F_SEAL_FUTURE_WRITE` needs Linux 5.1. Without it the read-only descriptor alone protects the
/// content, so its absence is not an error.
pub(crate) fn seal(file: &OwnedFd, contents: bool) -> io::Result<()> {
    // SAFETY: plain system call on an open descriptor.
    let add = |seals: libc::c_int| unsafe {
        check(libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals))
    };
    add(libc::F_SEAL_SHRINK | libc::F_SEAL_GROW)?;
    if contents
        && let Err(error) = add(libc::F_SEAL_FUTURE_WRITE)
        && error.raw_os_error() != Some(libc::EINVAL)
    {
        return Err(error);
    }
    add(libc::F_SEAL_SEAL)?;
    Ok(())
}

/// The same memory file through a descriptor that cannot write.
pub(crate) fn reopen_readonly(file: &OwnedFd) -> io::Result<OwnedFd> {
    let path = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    // SAFETY: `path` is a C string, and the descriptor is new and owned here.
    unsafe {
        Ok(OwnedFd::from_raw_fd(check(libc::open(
            path.as_ptr(),
            libc::O_RDONLY | libc::O_CLOEXEC,
        ))?))
    }
}

/// A pipe: (read end, write end).
pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: two new descriptors that nothing else owns.
    unsafe {
        check(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC))?;
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

/// Puts `source` at descriptor `target`, to be inherited.
pub(crate) fn inherit_as(source: RawFd, target: RawFd) -> io::Result<()> {
    // SAFETY: plain system calls on descriptors the caller owns.
    unsafe {
        if source == target {
            return check(libc::fcntl(source, libc::F_SETFD, 0)).map(drop);
        }
        check(libc::dup2(source, target)).map(drop)
    }
}

/// Takes the descriptor that the parent left at `fd`.
pub(crate) fn inherited(fd: RawFd) -> OwnedFd {
    // SAFETY: the protocol of the hidden roles guarantees that `fd` is open and that nothing else
    // owns it.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// Closes every descriptor from `first` on.
pub(crate) fn close_from(first: RawFd) {
    // SAFETY: callers need nothing above `first`. Old kernels lack the call, which is harmless
    // because all our descriptors are close-on-exec.
    unsafe {
        libc::syscall(
            libc::SYS_close_range,
            first as libc::c_uint,
            libc::c_uint::MAX,
            0,
        )
    };
}

/// Free bytes on the file system of `path`; 0 if no file can be created.
pub(crate) fn free_bytes(path: &Path) -> u64 {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else {
        return 0;
    };
    // SAFETY: an all-zero result is valid and outlives the call.
    unsafe {
        let mut found: libc::statvfs = std::mem::zeroed();
        let known = libc::statvfs(path.as_ptr(), &raw mut found) == 0
            && (found.f_files == 0 || found.f_favail > 0);
        if known {
            found.f_bavail * found.f_frsize
        } else {
            0
        }
    }
}

/// Changes a file's owner.
pub(crate) fn change_owner(path: &Path, uid: u32) -> io::Result<()> {
    std::os::unix::fs::chown(path, Some(uid), Some(uid))
}
