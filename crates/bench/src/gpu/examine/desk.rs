//! The examiner's own memory: what is right, and what comparisons find. No runner maps it.

use crate::gpu::driver::{Address, Failure, Gpu};

/// What its parts are aligned to.
const UNIT: u64 = 512;

/// Memory that is given out from the start, again and again.
pub(super) struct Desk {
    at: Address,
    bytes: u64,
    used: u64,
}

impl Desk {
    pub(super) fn new(gpu: &Gpu, bytes: u64) -> Result<Self, Failure> {
        Ok(Self {
            at: gpu.allocate(bytes)?,
            bytes,
            used: 0,
        })
    }

    /// Makes room for `bytes` where there is too little. What it held is lost.
    pub(super) fn make_room(&mut self, gpu: &Gpu, bytes: u64) -> Result<(), Failure> {
        self.used = 0;
        if bytes <= self.bytes {
            return Ok(());
        }
        gpu.free(self.at)?;
        // Should the larger one fail, the next call starts from nothing.
        (self.at, self.bytes) = (0, 0);
        self.at = gpu.allocate(bytes)?;
        self.bytes = bytes;
        Ok(())
    }

    /// Clears the desk: parts that were taken are used anew.
    pub(super) fn clear(&mut self) {
        self.used = 0;
    }

    /// A part of it. There is room, because `make_room` was asked for the sum of [`part`]s.
    pub(super) fn take(&mut self, bytes: u64) -> Address {
        let at = self.at + self.used;
        self.used += part(bytes);
        assert!(
            self.used <= self.bytes,
            "the desk has the room it was asked for"
        );
        at
    }
}

/// The bytes that a part takes.
pub(super) fn part(bytes: u64) -> u64 {
    bytes.next_multiple_of(UNIT)
}
