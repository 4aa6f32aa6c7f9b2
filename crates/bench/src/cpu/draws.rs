//! What is drawn between the calls of a team's batch, so that no work of one call is done in another.
//!
//! A run makes many calls, and all of their inputs are in memory before the first: a team could do them side by side,
//! which is faster than one after the other, and hand results out as it is called. So where the inputs of a call begin
//! is drawn just before it, by the processor; whoever guesses works for nothing. And just after it, a place in its
//! outputs is drawn, and what stands there noted: what was put off to a later call is not there yet. The supervisor
//! reads the notes when the run is over. One thread gains nothing by either, so only teams have draws.
//!
//! Notes are out of a candidate's sight, not out of its reach: it shares its process with who takes them.
#![expect(
    unsafe_code,
    reason = "reads what a candidate wrote, where it wrote it"
)]

use std::ffi::c_void;

use crate::cpu::layout::{Layout, PAGE, Region};

/// Where inputs can begin: on sixteen pages, at four places on each, which no stagger of other buffers meets.
const PAGES: usize = 16;
const PLACES: usize = 4;
const STEP: usize = 64;
/// Bytes that a buffer needs besides its own to begin at any of them.
pub(crate) const ROOM: usize = (PAGES - 1) * PAGE + (PLACES - 1) * STEP;

/// What is noted of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub(crate) struct Note {
    /// What was drawn before it.
    pub(crate) before: u64,
    /// What was drawn after it.
    pub(crate) after: u64,
    /// What then stood in its outputs at [`spot`].
    pub(crate) seen: u64,
}

impl Note {
    pub(crate) const BYTES: usize = size_of::<Self>();

    /// A note as it was copied out of a runner.
    pub(crate) fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let word = |at: usize| u64::from_ne_bytes(std::array::from_fn(|byte| bytes[8 * at + byte]));
        Self {
            before: word(0),
            after: word(1),
            seen: word(2),
        }
    }
}

/// How far into its room argument `index` begins by the word that was drawn.
pub(crate) fn shift(word: u64, index: usize) -> usize {
    let drawn = (word >> (6 * index % 60)) as usize % (PAGES * PLACES);
    drawn / PLACES * PAGE + drawn % PLACES * STEP
}

/// Which output is looked at, of those with so many bytes each, and from which byte on. Four are: no element has fewer.
pub(crate) fn spot(word: u64, outputs: &[usize]) -> Option<(usize, usize)> {
    let output = (word >> 32) as usize % outputs.len().max(1);
    let steps = outputs.get(output)? / 4;
    (steps > 0).then(|| (output, word as u32 as usize % steps * 4))
}

/// Random words that nobody knows before they are drawn, where the processor has them.
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
        // Splitmix: whoever finds the state can foretell it, which is better than nothing drawn at all.
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
    // SAFETY: called only where the processor has it.
    unsafe { draw() }
}

/// The runner's side: makes calls, draws between them and notes what it saw.
pub(crate) struct Drawing {
    dice: Dice,
    /// Which arguments have room, by their place among them.
    roomy: Vec<usize>,
    /// Which arguments are outputs, and their bytes.
    outputs: Vec<usize>,
    output_bytes: Vec<usize>,
    /// Kept here until the run is over.
    notes: Vec<Note>,
    /// Where the supervisor finds them.
    told: *mut Note,
}

impl Drawing {
    /// For sets that are all laid out as the first of `layout`; `told` has room for a note of each.
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

    /// One run: a call for each of `sets`, the first of them being number `first`.
    ///
    /// # Safety
    /// The sets' pointers are those of the layout, and the candidate is confined.
    pub(crate) unsafe fn run(
        &mut self,
        (first, seed): (usize, u64),
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
                // SAFETY: the room was laid out behind the buffer.
                arguments[*index] = unsafe { arguments[*index].byte_add(shift(before, *index)) };
            }
            // SAFETY: by the caller's word.
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
            )
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn inputs_begin_at_many_places_within_their_room_and_on_none_that_another_has() {
        let all = |index: usize| (0..64u64).map(move |drawn| shift(drawn << (6 * index), index));
        for index in [0, 3, 9] {
            let places: BTreeSet<usize> = all(index).collect();
            assert_eq!((places.len(), places.last()), (64, Some(&ROOM)));
            assert!(
                places
                    .iter()
                    .all(|place| place % 64 == 0 && place % PAGE < 320),
                "staggers are 320 bytes apart"
            );
        }
        assert!(shift(u64::MAX, 25) <= ROOM, "any number of arguments");
    }

    #[test]
    fn any_four_bytes_of_any_output_are_looked_at() {
        let outputs = [8, 4];
        let words = (0..2u64).flat_map(|high| (0..2u64).map(move |low| high << 32 | low));
        let spots: BTreeSet<_> = words.filter_map(|word| spot(word, &outputs)).collect();
        assert_eq!(spots, BTreeSet::from([(0, 0), (0, 4), (1, 0)]));
        assert_eq!(
            (spot(7, &[0]), spot(7, &[])),
            (None, None),
            "nothing to look at"
        );
    }

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
