//! The runner's side of `draws.rs`: makes calls, draws random places between them and records what
//! it saw.
#![expect(
    unsafe_code,
    reason = "reads what a candidate wrote, where it wrote it"
)]

use std::ffi::c_void;

use crate::cpu::draws::{Note, shift, spot};
use crate::cpu::layout::{Layout, Region};

/// Random words that nobody can predict, if the processor provides them.
struct Dice {
    by_processor: bool,
    state: u64,
}

impl Dice {
    fn word(&mut self) -> u64 {
        if self.by_processor
            && let Some(word) = by_processor()
        {
            return word;
        }
        // SplitMix. Code that finds the state can predict it, but that is better than no draws.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}

fn by_processor() -> Option<u64> {
    #[target_feature(enable = "rdrand")]
    fn draw() -> Option<u64> {
        let mut word = 0;
        (0..10)
            .any(|_| std::arch::x86_64::_rdrand64_step(&mut word) == 1)
            .then_some(word)
    }
    // SAFETY: called only if the processor has the instruction.
    unsafe { draw() }
}

/// The runner's side: makes calls, draws random places between them and records what it saw.
pub(crate) struct Drawing {
    dice: Dice,
    /// The indices of arguments with room.
    roomy: Vec<usize>,
    /// The indices of output arguments. The next field has their sizes.
    outputs: Vec<usize>,
    output_bytes: Vec<usize>,
    /// Kept here until the run is over.
    notes: Vec<Note>,
    /// Where the supervisor finds the notes.
    told: *mut Note,
}

/// The calls of a run, and the seed of its draws.
#[derive(Clone, Copy)]
pub(crate) struct Batch {
    /// The number of the first call.
    pub(crate) first: usize,
    /// Seed for draws if the processor provides none.
    pub(crate) seed: u64,
}

impl Drawing {
    /// Creates the drawing for sets that all have the layout of the first in `layout`. `told` has
    /// room for a note of each.
    pub(crate) fn new(layout: &Layout, told: *mut Note) -> Self {
        let places = layout.sets.first().map_or(&[][..], |set| &set.places);
        let of = |wanted: &dyn Fn(usize) -> bool| {
            (0..places.len())
                .filter(|index| wanted(*index))
                .collect::<Vec<_>>()
        };
        let outputs = of(&|index| places[index].region == Region::Outputs);
        Self {
            dice: Dice {
                by_processor: std::arch::is_x86_feature_detected!("rdrand"),
                state: 0,
            },
            roomy: of(&|index| places[index].room > 0),
            output_bytes: outputs.iter().map(|index| places[*index].bytes).collect(),
            outputs,
            notes: Vec::with_capacity(layout.sets.len()),
            told,
        }
    }

    /// Makes one run: a call for each of `sets`, numbered from `first`.
    ///
    /// # Safety
    /// The sets' pointers are those of the layout, and the candidate is confined.
    pub(crate) unsafe fn run(
        &mut self,
        Batch { first, seed }: Batch,
        sets: &[Vec<*mut c_void>],
        call: unsafe extern "C" fn(*const *mut c_void),
    ) {
        self.dice.state = seed;
        self.notes.clear();
        let mut before = self.dice.word();
        let mut arguments = Vec::with_capacity(sets.first().map_or(0, Vec::len));
        for set in sets {
            arguments.clone_from(set);
            for index in &self.roomy {
                // SAFETY: the layout has this room after the buffer.
                arguments[*index] = unsafe { arguments[*index].byte_add(shift(before, *index)) };
            }
            // SAFETY: guaranteed by the caller.
            unsafe { call(arguments.as_ptr()) };
            let after = self.dice.word();
            let noted = spot(after, &self.output_bytes).map_or(0, |(output, byte)| {
                // SAFETY: four bytes within that output.
                unsafe {
                    set[self.outputs[output]]
                        .byte_add(byte)
                        .cast::<u32>()
                        .read_volatile()
                }
            });
            self.notes.push(Note {
                before,
                after,
                seen: noted.into(),
            });
            before = after;
        }
        // SAFETY: there is room for a note of every set.
        unsafe {
            std::ptr::copy_nonoverlapping(
                self.notes.as_ptr(),
                self.told.add(first),
                self.notes.len(),
            );
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn words_differ_with_and_without_a_processor_that_draws() {
        for by_processor in [false, std::arch::is_x86_feature_detected!("rdrand")] {
            let mut dice = Dice {
                by_processor,
                state: 1,
            };
            let words: BTreeSet<u64> = (0..1000).map(|_| dice.word()).collect();
            assert_eq!(words.len(), 1000);
        }
    }
}
