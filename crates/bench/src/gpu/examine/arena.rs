//! Memory that the examiner shares with runners, and how a call's buffers lie in it.
//!
//! Each buffer has a slot of its own with guards on both sides, at a distance from the last one
//! that nobody can foresee.

use std::os::fd::OwnedFd;

use crate::gpu::driver::{Access, Address, Failure, Gpu, Physical};
use crate::gpu::trusted::{Guards, Kernels};
use crate::inputs::Fresh;

/// Bytes of a guard, at least.
const GUARD: u64 = 4096;
/// What buffers are aligned to, as those of `cudaMalloc` are.
const UNIT: u64 = 512;
/// A slot moves by at most so many units.
const MOVES: usize = 16;
/// Bytes that a slot needs beyond its buffer.
const SLACK: u64 = 2 * GUARD + (MOVES as u64 + 1) * UNIT;

/// Shared memory, mapped in the examiner.
pub(super) struct Arena {
    physical: Physical,
    pub(super) fd: OwnedFd,
    at: Address,
    /// Everything from here on still holds the arena's pattern.
    dirty_to: u64,
    pattern: u64,
}

impl Arena {
    /// New memory, filled with a pattern that nobody knows.
    pub(super) fn new(
        gpu: &Gpu,
        kernels: &Kernels,
        bytes: u64,
        fresh: &mut Fresh,
    ) -> Result<Self, Failure> {
        let (physical, fd) = gpu.create_shared(bytes)?;
        let at = gpu.map(physical, Access::ReadWrite)?;
        let pattern = fresh.word();
        kernels.fill(gpu, at, physical.bytes(), pattern)?;
        gpu.synchronize()?;
        Ok(Self {
            physical,
            fd,
            at,
            dirty_to: 0,
            pattern,
        })
    }

    pub(super) fn bytes(&self) -> u64 {
        self.physical.bytes()
    }

    /// The examiner's address of a place in it.
    pub(super) fn address(&self, offset: u64) -> Address {
        self.at + offset
    }

    /// Where guards are, for the kernels that write and check them.
    pub(super) fn guards(&self, slot: Slot) -> Guards {
        Guards {
            slot: self.at + slot.begin,
            from: slot.buffer - slot.begin,
            to: slot.buffer - slot.begin + slot.bytes,
            bytes: slot.end - slot.begin,
        }
    }

    /// Notes that a round uses it up to `end`.
    pub(super) fn use_to(&mut self, end: u64) {
        self.dirty_to = self.dirty_to.max(end);
    }

    /// Sets the word at `broken` where memory that nobody was given has changed.
    pub(super) fn check_rest(
        &self,
        gpu: &Gpu,
        kernels: &Kernels,
        broken: Address,
    ) -> Result<(), Failure> {
        let rest = self.bytes() - self.dirty_to;
        kernels.filled(gpu, self.at + self.dirty_to, rest, self.pattern, broken)
    }

    /// Fills it anew with the pattern, so that the next candidate finds nothing of this one. All of
    /// it, if somebody wrote where nothing was.
    pub(super) fn wipe(&mut self, gpu: &Gpu, kernels: &Kernels, all: bool) -> Result<(), Failure> {
        let bytes = if all { self.bytes() } else { self.dirty_to };
        kernels.fill(gpu, self.at, bytes, self.pattern)?;
        self.dirty_to = 0;
        Ok(())
    }

    pub(super) fn release(self, gpu: &Gpu) -> Result<(), Failure> {
        gpu.unmap(self.physical, self.at)
    }
}

/// A buffer and its guards, as offsets in an arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    begin: u64,
    pub(super) buffer: u64,
    pub(super) bytes: u64,
    end: u64,
}

/// Gives slots one after the other.
#[derive(Debug, Default)]
pub(super) struct Slots {
    next: u64,
}

impl Slots {
    pub(super) fn take(&mut self, bytes: u64, fresh: &mut Fresh) -> Slot {
        let begin = self.next;
        let moved = fresh.index(MOVES) as u64 * UNIT;
        let buffer = begin + GUARD + moved;
        let end = (buffer + bytes + GUARD).next_multiple_of(UNIT);
        self.next = end;
        Slot {
            begin,
            buffer,
            bytes,
            end,
        }
    }

    /// The end of all slots.
    pub(super) fn end(&self) -> u64 {
        self.next
    }
}

/// The most bytes that a slot for a buffer takes; `None` if no number can say.
pub(super) fn room(bytes: u64) -> Option<u64> {
    bytes.checked_add(SLACK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_do_not_meet_and_fit_their_room() {
        let mut fresh = Fresh::from_seed(5);
        let mut slots = Slots::default();
        let mut last = 0;
        for bytes in [0, 1, 4, 511, 512, 513, 1 << 20] {
            let slot = slots.take(bytes, &mut fresh);
            assert_eq!((slot.begin, slot.buffer % UNIT), (last, 0));
            assert!(slot.buffer >= slot.begin + GUARD);
            assert!(slot.end >= slot.buffer + bytes + GUARD);
            assert!(slot.end - slot.begin <= room(bytes).unwrap());
            last = slot.end;
        }
        assert_eq!(slots.end(), last);
        assert_eq!(room(u64::MAX), None);
    }
}
