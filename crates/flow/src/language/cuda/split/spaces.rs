//! Where a declaration belongs: to the host, to the GPU, or to both.

use std::ops::BitOrAssign;

/// The words of CUDA in a declaration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Spaces(u8);

const GLOBAL: u8 = 1;
const DEVICE: u8 = 2;
const HOST: u8 = 4;
/// `__constant__` or `__managed__`, which only variables have.
const MEMORY: u8 = 8;

impl Spaces {
    pub(super) fn of(word: &str) -> Self {
        Self(match word {
            "__global__" => GLOBAL,
            "__device__" => DEVICE,
            "__host__" => HOST,
            "__constant__" | "__managed__" => MEMORY,
            _ => 0,
        })
    }

    /// Whether it is a kernel.
    pub(super) fn is_global(self) -> bool {
        self.0 & GLOBAL != 0
    }

    /// Whether it says that it exists on the host.
    pub(super) fn is_host(self) -> bool {
        self.0 & HOST != 0
    }

    /// Whether it exists on the GPU.
    pub(super) fn is_device(self) -> bool {
        self.0 & (GLOBAL | DEVICE | MEMORY) != 0
    }

    /// Whether it exists on the GPU alone.
    pub(super) fn is_device_only(self) -> bool {
        self.is_device() && !self.is_host()
    }
}

impl BitOrAssign for Spaces {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}
