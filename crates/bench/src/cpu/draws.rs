//! Random draws between the calls of a team's batch, so that no work moves from one call to
//! another.
//!
//! A run makes many calls, and all of their inputs are in memory before the first. A team could
//! compute them in parallel, which is faster, and hand out results call by call. So the processor
//! draws where the inputs of a call begin just before the call, and a wrong guess is wasted work.
//! Just after the call it draws a place in the outputs and records the value there. Work that was
//! postponed to a later call is not there yet. The supervisor reads the notes when the run is over.
//! Only teams have draws. One thread gains from such tricks where its calls wait for results and can
//! take turns, and the clock doubts a batch that is much faster than a call alone.
//!
//! The candidate does not know where the notes are, but it could reach them, because it shares the
//! process.

use crate::cpu::memory::PAGE;

/// Where inputs can begin: on sixteen pages, at four places on each. These differ from the offsets
/// of other buffers.
const PAGES: usize = 16;
const PLACES: usize = 4;
const STEP: usize = 64;
/// Additional bytes of a buffer so that it can begin at any of them.
pub(crate) const ROOM: usize = (PAGES - 1) * PAGE + (PLACES - 1) * STEP;

/// The note of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub(crate) struct Note {
    /// The word drawn before it.
    pub(crate) before: u64,
    /// The word drawn after it.
    pub(crate) after: u64,
    /// The value in its outputs at [`spot`] at that time.
    pub(crate) seen: u64,
}

impl Note {
    pub(crate) const BYTES: usize = size_of::<Self>();

    /// Reads a note that was copied from a runner.
    pub(crate) fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let word = |at: usize| u64::from_ne_bytes(std::array::from_fn(|byte| bytes[8 * at + byte]));
        Self {
            before: word(0),
            after: word(1),
            seen: word(2),
        }
    }
}

/// The offset of argument `index` within its room, from the drawn word.
pub(crate) fn shift(word: u64, index: usize) -> usize {
    let drawn = (word >> (6 * index % 60)) as usize % (PAGES * PLACES);
    drawn / PLACES * PAGE + drawn % PLACES * STEP
}

/// The output to check and the first of four bytes in it. No element has fewer bytes.
pub(crate) fn spot(word: u64, outputs: &[usize]) -> Option<(usize, usize)> {
    let output = (word >> 32) as usize % outputs.len().max(1);
    let steps = outputs.get(output)? / 4;
    (steps > 0).then(|| (output, word as u32 as usize % steps * 4))
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
}
