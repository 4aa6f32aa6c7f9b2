//! The place of every buffer of every call, on both sides of the sandbox.
//!
//! Inputs and outputs are two memory files. Each buffer has its own pages, so the candidate's side
//! can map it between guards. A buffer starts at a multiple of 64 bytes and ends at most 63 bytes
//! before the guard. The slack around it is filled with random bytes and, for outputs, checked
//! after every run. Inputs of a team's batch have room. They begin at a place that is drawn just
//! before their call (`draws.rs`).

use serde::{Deserialize, Serialize};

use hotloop_flow::formula::{FormulaError, Sizes};
use hotloop_flow::interface::{Fill, Function, Role};

use crate::cpu::draws::{self, Note};
use crate::cpu::memory::PAGE;

const ALIGNMENT: usize = 64;

/// Which memory file holds a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Region {
    /// Read-only for the candidate.
    Inputs,
    /// Writable.
    Outputs,
}

/// One buffer in its file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    /// The file.
    pub(crate) region: Region,
    /// Offset of its first page.
    pub(crate) offset: usize,
    /// Length of its pages.
    pub(crate) span: usize,
    /// Bytes before the buffer on its first page.
    pub(crate) lead: usize,
    /// The buffer's length.
    pub(crate) bytes: usize,
    /// Bytes after it that are filled in the same way, so that it can begin later by this much.
    pub(crate) room: usize,
    /// How much later it began in the last run.
    pub(crate) shift: usize,
}

impl Place {
    /// Where the buffer begins in its file.
    pub(crate) fn start(&self) -> usize {
        self.offset + self.lead + self.shift
    }

    /// The buffer with its room, as (start, length).
    pub(crate) fn with_room(&self) -> (usize, usize) {
        (self.offset + self.lead, self.bytes + self.room)
    }

    /// The slack before and after the buffer, as (start, length).
    pub(crate) fn slack(&self) -> [(usize, usize); 2] {
        let (start, length) = self.with_room();
        let end = start + length;
        [
            (self.offset, self.lead),
            (end, self.offset + self.span - end),
        ]
    }
}

/// The buffers of one call: one place per argument, in the task's order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Set {
    /// The sizes of this call.
    pub(crate) sizes: Sizes,
    /// One place per argument. Scalars live among the inputs, where the shim reads them.
    pub(crate) places: Vec<Place>,
}

/// The buffers of all calls of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Layout {
    /// The calls.
    pub(crate) sets: Vec<Set>,
    /// Length of the inputs' file.
    pub(crate) input_bytes: usize,
    /// Length of the outputs' file.
    pub(crate) output_bytes: usize,
    /// The place of the calls' notes in the outputs' file, as (offset, length in pages), if there
    /// are notes.
    pub(crate) notes: Option<(usize, usize)>,
}

/// How close buffers are to the guard after them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// As close as 64-byte alignment allows, to catch overruns.
    Tight,
    /// At offsets that differ between buffers, for timing. Equal page offsets (4K aliasing) would
    /// slow an honest candidate.
    Staggered,
    /// The same, but inputs begin at drawn places, for timing the batches of teams.
    Drawn,
}

impl Layout {
    /// Lays out one set of buffers for each entry of `calls`.
    pub(crate) fn new(
        function: &Function,
        calls: &[Sizes],
        fit: Fit,
    ) -> Result<Self, FormulaError> {
        let mut layout = Self {
            sets: Vec::new(),
            input_bytes: 0,
            output_bytes: 0,
            notes: None,
        };
        for sizes in calls {
            let mut places = Vec::new();
            for (index, arg) in function.args.iter().enumerate() {
                let bytes = arg.elements(sizes)? * arg.kind.bytes();
                let region = match arg.role {
                    Role::In | Role::Scalar => Region::Inputs,
                    Role::Out | Role::Inout | Role::Return => Region::Outputs,
                };
                let stagger = match fit {
                    Fit::Tight => 0,
                    Fit::Staggered | Fit::Drawn => (index + 1) * 320 % PAGE,
                };
                // Other inputs cannot begin later, because row pointers begin with zero.
                let is_uniform =
                    arg.role == Role::In && matches!(arg.fill, Some(Fill::Uniform(..)));
                let room = if fit == Fit::Drawn && is_uniform {
                    draws::ROOM
                } else {
                    0
                };
                places.push(layout.place(region, bytes, stagger, room));
            }
            layout.sets.push(Set {
                sizes: sizes.clone(),
                places,
            });
        }
        if fit == Fit::Drawn {
            let span = (layout.sets.len() * Note::BYTES).next_multiple_of(PAGE);
            layout.notes = Some((layout.output_bytes, span));
            layout.output_bytes += span;
        }
        Ok(layout)
    }

    fn place(&mut self, region: Region, bytes: usize, stagger: usize, room: usize) -> Place {
        let end = match region {
            Region::Inputs => &mut self.input_bytes,
            Region::Outputs => &mut self.output_bytes,
        };
        let padded = (bytes + room).next_multiple_of(ALIGNMENT) + stagger;
        let span = padded.next_multiple_of(PAGE).max(PAGE);
        let place = Place {
            region,
            offset: *end,
            span,
            lead: span - padded,
            bytes,
            room,
            shift: 0,
        };
        *end += span;
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(bytes: usize, stagger: usize) -> Place {
        let mut layout = Layout {
            sets: vec![],
            input_bytes: 0,
            output_bytes: 0,
            notes: None,
        };
        layout.place(Region::Outputs, bytes, stagger, 0)
    }

    #[test]
    fn buffers_of_any_length_are_aligned_and_end_at_the_guard() {
        for bytes in [
            0,
            1,
            8,
            63,
            64,
            65,
            255 * 255 * 8,
            256 * 256 * 8,
            4096,
            4097,
        ] {
            let place = lengths(bytes, 0);
            assert_eq!(place.start() % 64, 0, "{bytes}");
            let slack_behind = place.slack()[1].1;
            assert!(slack_behind < 64 || bytes == 0, "{bytes}: {slack_behind}");
            assert_eq!(place.slack()[0].1 + place.bytes + slack_behind, place.span);
        }
    }

    #[test]
    fn staggered_buffers_differ_in_their_page_offset() {
        let offsets: Vec<usize> = (1..4)
            .map(|i| lengths(256 * 256 * 8, i * 320).start() % PAGE)
            .collect();
        assert_eq!(
            offsets
                .iter()
                .collect::<std::collections::BTreeSet<_>>()
                .len(),
            3
        );
    }
}
