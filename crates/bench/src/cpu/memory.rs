//! Mapped memory files, and the guarded maps that a candidate sees.
#![expect(
    unsafe_code,
    reason = "mmap; lengths and offsets come from `Layout`, which both sides compute alike"
)]

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// The page size of x86-64 and of every map here.
pub(crate) const PAGE: usize = 4096;
/// Bytes that one flush takes out of the caches.
const LINE: usize = 64;

/// A whole memory file, mapped for reading and writing on the trusted side.
pub(crate) struct Mapping {
    start: *mut u8,
    bytes: usize,
}

impl Mapping {
    /// Maps `bytes` of `file`.
    pub(crate) fn new(file: &OwnedFd, bytes: usize) -> io::Result<Self> {
        let bytes = bytes.max(PAGE);
        // SAFETY: a fresh shared mapping, placed by the kernel.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_POPULATE,
                file.as_raw_fd(),
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self {
            start: start.cast(),
            bytes,
        })
    }

    /// Bytes `from..from + len`.
    ///
    /// The child is frozen during every call, so nothing else writes.
    pub(crate) fn slice(&self, from: usize, len: usize) -> &[u8] {
        assert!(from + len <= self.bytes, "layout stays inside its file");
        // SAFETY: in bounds by the assertion; see above for aliasing.
        unsafe { std::slice::from_raw_parts(self.start.add(from), len) }
    }

    /// Bytes `from..from + len`, writable.
    pub(crate) fn slice_mut(&mut self, from: usize, len: usize) -> &mut [u8] {
        assert!(from + len <= self.bytes, "layout stays inside its file");
        // SAFETY: as in `slice`, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(from), len) }
    }

    /// Bytes `from..from + len`, writable, while others write elsewhere in the mapping.
    ///
    /// # Safety
    /// No other thread may read or write these bytes meanwhile.
    #[expect(
        clippy::mut_from_ref,
        reason = "threads fill disjoint parts of one mapping"
    )]
    pub(crate) unsafe fn part_mut(&self, from: usize, len: usize) -> &mut [u8] {
        assert!(from + len <= self.bytes, "layout stays inside its file");
        // SAFETY: in bounds by the assertion, and the caller guarantees exclusive access.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(from), len) }
    }

    /// Flushes the whole mapping from all caches. Returns the number of flushed bytes.
    pub(crate) fn flush(&self) -> usize {
        let mut flushed = 0;
        for line in (0..self.bytes).step_by(LINE) {
            // SAFETY: every line is within the mapping, and flushing changes no content.
            unsafe { std::arch::x86_64::_mm_clflush(self.start.add(line)) };
            flushed += LINE;
        }
        // SAFETY: a fence only waits.
        unsafe { std::arch::x86_64::_mm_mfence() };
        flushed
    }

    /// The address of byte `from`, for trusted C code.
    pub(crate) fn address(&self, from: usize) -> *mut u8 {
        assert!(from <= self.bytes, "layout stays inside its file");
        // SAFETY: in bounds by the assertion.
        unsafe { self.start.add(from) }
    }
}

// SAFETY: shared references only read, except for `part_mut`, whose callers use disjoint parts.
unsafe impl Sync for Mapping {}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this object owns the mapping, and nothing uses it from here on.
        unsafe { libc::munmap(self.start.cast(), self.bytes) };
    }
}

/// Bytes of inaccessible memory on both sides of every buffer.
const GUARD: usize = 64 * 1024;

/// Maps `bytes` of `file` at `offset` between guards and returns the address.
/// The map stays for the life of the process.
pub(crate) fn map_guarded(
    file: &OwnedFd,
    offset: usize,
    bytes: usize,
    writable: bool,
) -> io::Result<*mut u8> {
    let protection = if writable {
        libc::PROT_READ | libc::PROT_WRITE
    } else {
        libc::PROT_READ
    };
    // SAFETY: first reserves room that nothing else uses, then maps the file inside it.
    unsafe {
        let room = libc::mmap(
            std::ptr::null_mut(),
            bytes + 2 * GUARD,
            libc::PROT_NONE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        );
        if room == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let inside = room.cast::<u8>().add(GUARD);
        let placed = libc::mmap(
            inside.cast(),
            bytes,
            protection,
            libc::MAP_SHARED | libc::MAP_FIXED | libc::MAP_POPULATE,
            file.as_raw_fd(),
            offset as libc::off_t,
        );
        if placed == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(inside)
    }
}
