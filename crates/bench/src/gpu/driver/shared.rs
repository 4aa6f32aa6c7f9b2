//! Memory of the GPU that processes share, each with its own access.
#![expect(unsafe_code, reason = "the driver is a C interface")]

use std::ffi::{c_int, c_void};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::null_mut;

use super::layout::{AccessDescription, AllocationProperties, Location};
use super::{Address, Failure, Gpu};

const PINNED: u32 = 1;
const ON_DEVICE: u32 = 1;
const POSIX_DESCRIPTOR: u32 = 1;

/// Physical memory that processes share.
#[derive(Clone, Copy)]
pub(crate) struct Physical {
    handle: u64,
    bytes: u64,
}

/// What a mapping allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read = 1,
    ReadWrite = 3,
}

impl Gpu {
    fn properties(&self) -> AllocationProperties {
        AllocationProperties {
            kind: PINNED,
            handle_types: POSIX_DESCRIPTOR,
            location: self.location(),
            win32: null_mut(),
            flags: [0; 8],
        }
    }

    fn location(&self) -> Location {
        Location {
            kind: ON_DEVICE,
            id: self.device,
        }
    }

    /// Physical memory of at least `bytes`, and a descriptor by which other processes map it.
    pub(crate) fn create_shared(&self, bytes: u64) -> Result<(Physical, OwnedFd), Failure> {
        let (functions, properties) = (self.functions(), self.properties());
        let (mut unit, mut handle, mut fd) = (0usize, 0, -1);
        // SAFETY: every pointer outlives its call, and the descriptor is new and owned here.
        unsafe {
            let asked = (functions.granularity)(&raw mut unit, &raw const properties, 0);
            self.check("asking for the unit of shared memory", asked)?;
            let bytes = bytes.next_multiple_of(unit.max(1) as u64);
            let created =
                (functions.create)(&raw mut handle, bytes as usize, &raw const properties, 0);
            self.check("allocating shared memory", created)?;
            let physical = Physical { handle, bytes };
            let place: *mut c_int = &raw mut fd;
            let exported = (functions.export)(place.cast(), handle, POSIX_DESCRIPTOR, 0);
            self.check("sharing memory", exported)?;
            // No other process may inherit it: a runner starts while the memory of right results
            // exists.
            libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC);
            Ok((physical, OwnedFd::from_raw_fd(fd)))
        }
    }

    /// The memory behind a descriptor.
    pub(crate) fn import(&self, fd: &OwnedFd, bytes: u64) -> Result<Physical, Failure> {
        let mut handle = 0;
        let descriptor = fd.as_raw_fd() as usize as *mut c_void;
        // SAFETY: the interface takes the descriptor in place of a pointer.
        let status =
            unsafe { (self.functions().import)(&raw mut handle, descriptor, POSIX_DESCRIPTOR) };
        self.check("taking shared memory", status)?;
        Ok(Physical { handle, bytes })
    }

    /// Maps it all.
    pub(crate) fn map(&self, physical: Physical, access: Access) -> Result<Address, Failure> {
        let (functions, bytes) = (self.functions(), physical.bytes as usize);
        let mut address = 0;
        let description = AccessDescription {
            location: self.location(),
            flags: access as u32,
        };
        // SAFETY: the pointers outlive the calls, and the address space is new.
        unsafe {
            let reserved = (functions.reserve)(&raw mut address, bytes, 0, 0, 0);
            self.check("reserving addresses", reserved)?;
            let mapped = (functions.map)(address, bytes, 0, physical.handle, 0);
            self.check("mapping shared memory", mapped)?;
            let set = (functions.set_access)(address, bytes, &raw const description, 1);
            self.check("opening shared memory", set)?;
        }
        Ok(address)
    }

    /// Unmaps and releases it, after which its address means nothing.
    pub(crate) fn unmap(&self, physical: Physical, address: Address) -> Result<(), Failure> {
        let (functions, bytes) = (self.functions(), physical.bytes as usize);
        // SAFETY: mapped by `map`, and no work is under way.
        unsafe {
            self.check("unmapping shared memory", (functions.unmap)(address, bytes))?;
            let freed = (functions.address_free)(address, bytes);
            self.check("giving addresses back", freed)?;
            self.check(
                "releasing shared memory",
                (functions.release)(physical.handle),
            )
        }
    }
}

impl Physical {
    pub(crate) fn bytes(self) -> u64 {
        self.bytes
    }
}
