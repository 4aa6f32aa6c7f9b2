//! The arguments and the grid of a kernel.

use std::ffi::c_void;
use std::ptr;

/// A place in device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Address(pub(super) u64);

impl Address {
    /// The null address.
    pub(super) const NULL: Self = Self(0);

    /// The address `bytes` further.
    pub(super) fn plus(self, bytes: usize) -> Self {
        Self(self.0 + bytes as u64)
    }
}

/// An argument of a kernel.
#[derive(Debug, Clone, Copy)]
pub(super) enum Arg {
    /// A pointer, or a 64-bit seed.
    Word(u64),
    Int(i32),
    Long(i64),
    Float(f32),
}

impl Arg {
    /// The address of its value, for the driver.
    pub(super) fn place(&self) -> *mut c_void {
        match self {
            Self::Word(value) => ptr::from_ref(value).cast_mut().cast(),
            Self::Int(value) => ptr::from_ref(value).cast_mut().cast(),
            Self::Long(value) => ptr::from_ref(value).cast_mut().cast(),
            Self::Float(value) => ptr::from_ref(value).cast_mut().cast(),
        }
    }
}

impl From<Address> for Arg {
    fn from(address: Address) -> Self {
        Self::Word(address.0)
    }
}
impl From<u64> for Arg {
    fn from(word: u64) -> Self {
        Self::Word(word)
    }
}
impl From<i32> for Arg {
    fn from(int: i32) -> Self {
        Self::Int(int)
    }
}
impl From<i64> for Arg {
    fn from(long: i64) -> Self {
        Self::Long(long)
    }
}
impl From<f32> for Arg {
    fn from(float: f32) -> Self {
        Self::Float(float)
    }
}

/// The arguments of a kernel, each with its own type: `args![address, 3i32, 1.0f32]`.
macro_rules! args {
    ($($value:expr),* $(,)?) => { &[$($crate::cuda::launch::Arg::from($value)),*] };
}
pub(super) use args;

/// The number of blocks and threads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Launch {
    /// Blocks.
    pub(super) grid: (usize, usize, usize),
    /// Threads per block, a multiple of the warp size.
    pub(super) threads: usize,
    /// Bytes of dynamic shared memory.
    pub(super) shared: usize,
}

impl Launch {
    /// One block for each of `rows`, with one thread per eight values of a row of `width`.
    pub(super) fn rows(rows: usize, width: usize) -> Self {
        let threads = width.div_ceil(8).next_multiple_of(32).clamp(32, 256);
        Self {
            grid: (rows, 1, 1),
            threads,
            shared: 0,
        }
    }

    /// 256 threads per block, one thread for each of `count`.
    pub(super) fn each(count: usize) -> Self {
        Self {
            grid: (count.div_ceil(256), 1, 1),
            threads: 256,
            shared: 0,
        }
    }

    /// 256 threads per block, at most `blocks` blocks, for kernels that stride.
    pub(super) fn strided(count: usize, blocks: usize) -> Self {
        Self {
            grid: (count.div_ceil(256).clamp(1, blocks), 1, 1),
            threads: 256,
            shared: 0,
        }
    }

    /// Any grid.
    pub(super) fn grid(x: usize, y: usize, z: usize, threads: usize) -> Self {
        Self {
            grid: (x, y, z),
            threads,
            shared: 0,
        }
    }
}
