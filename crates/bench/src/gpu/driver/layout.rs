//! What the driver reads, as it lies in memory, and the geometry of a launch.

use std::ffi::{c_int, c_void};

type Handle = *mut c_void;

/// `CUmemLocation`.
#[repr(C)]
pub(super) struct Location {
    pub(super) kind: u32,
    pub(super) id: c_int,
}

/// `CUmemAllocationProp`.
#[repr(C)]
pub(super) struct AllocationProperties {
    pub(super) kind: u32,
    pub(super) handle_types: u32,
    pub(super) location: Location,
    pub(super) win32: *mut c_void,
    pub(super) flags: [u8; 8],
}

/// `CUmemAccessDesc`.
#[repr(C)]
pub(super) struct AccessDescription {
    pub(super) location: Location,
    pub(super) flags: u32,
}

/// `CUlaunchConfig`.
#[repr(C)]
pub(super) struct LaunchConfig {
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) shared: u32,
    pub(super) stream: Handle,
    pub(super) attributes: *mut LaunchAttribute,
    pub(super) attribute_count: u32,
}

/// `CUlaunchAttribute`.
#[repr(C)]
pub(super) struct LaunchAttribute {
    pub(super) id: u32,
    pub(super) pad: u32,
    pub(super) value: [u32; 16],
}

/// How a kernel is launched.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Geometry {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared: u32,
    pub(crate) cooperative: bool,
    pub(crate) cluster: Option<[u32; 3]>,
}

impl Geometry {
    /// A row of blocks without shared memory.
    pub(crate) fn row(blocks: u32, threads: u32) -> Self {
        Self {
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            shared: 0,
            cooperative: false,
            cluster: None,
        }
    }
}

/// Attributes of a GPU, by the driver's numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Attribute {
    ClockKhz = 13,
    Multiprocessors = 16,
    MemoryClockKhz = 36,
    L2Bytes = 38,
    CapabilityMajor = 75,
    CapabilityMinor = 76,
    SharesByDescriptor = 103,
}
