//! Where every buffer of every call lies, on both sides of the sandbox.
//!
//! Inputs and outputs are two memory files. Each buffer has whole pages of its own,
//! so the candidate's side can map it between guards. A buffer starts at a multiple
//! of 64 bytes and ends at most 63 bytes before the guard; the slack around it is
//! filled with random bytes and, for outputs, checked after every run.

use serde::{Deserialize, Serialize};

use flow::formula::{FormulaError, Sizes};
use flow::task::{Role, TaskSpec};

/// The page size of x86-64 and of every map here.
pub(crate) const PAGE: usize = 4096;
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
}

impl Place {
    /// Where the buffer begins in its file.
    pub(crate) fn start(&self) -> usize {
        self.offset + self.lead
    }

    /// The slack before and after the buffer, as (start, length).
    pub(crate) fn slack(&self) -> [(usize, usize); 2] {
        let end = self.start() + self.bytes;
        [(self.offset, self.lead), (end, self.offset + self.span - end)]
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
}

/// How tightly buffers lie against the guard behind them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// As close as 64-byte alignment allows: for catching overruns.
    Tight,
    /// At offsets that differ from buffer to buffer: for timing, so that equal
    /// page offsets (4K aliasing) do not slow an honest candidate.
    Staggered,
}

impl Layout {
    /// Lays out one set of buffers for each entry of `calls`.
    pub(crate) fn new(spec: &TaskSpec, calls: &[Sizes], fit: Fit) -> Result<Self, FormulaError> {
        let mut layout = Self { sets: Vec::new(), input_bytes: 0, output_bytes: 0 };
        for sizes in calls {
            let mut places = Vec::new();
            for (index, arg) in spec.args.iter().enumerate() {
                let bytes = arg.elements(sizes)? * arg.kind.bytes();
                let region = match arg.role {
                    Role::In | Role::Scalar => Region::Inputs,
                    Role::Out | Role::Inout | Role::Return => Region::Outputs,
                };
                let stagger = match fit {
                    Fit::Tight => 0,
                    Fit::Staggered => (index + 1) * 320 % PAGE,
                };
                layout.place(region, bytes, stagger, &mut places);
            }
            layout.sets.push(Set { sizes: sizes.clone(), places });
        }
        Ok(layout)
    }

    fn place(&mut self, region: Region, bytes: usize, stagger: usize, places: &mut Vec<Place>) {
        let end = match region {
            Region::Inputs => &mut self.input_bytes,
            Region::Outputs => &mut self.output_bytes,
        };
        let padded = bytes.next_multiple_of(ALIGNMENT) + stagger;
        let span = padded.next_multiple_of(PAGE).max(PAGE);
        places.push(Place { region, offset: *end, span, lead: span - padded, bytes });
        *end += span;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(bytes: usize, stagger: usize) -> Place {
        let mut layout = Layout { sets: vec![], input_bytes: 0, output_bytes: 0 };
        let mut places = vec![];
        layout.place(Region::Outputs, bytes, stagger, &mut places);
        places.remove(0)
    }

    #[test]
    fn buffers_of_any_length_are_aligned_and_end_at_the_guard() {
        for bytes in [0, 1, 8, 63, 64, 65, 255 * 255 * 8, 256 * 256 * 8, 4096, 4097] {
            let place = lengths(bytes, 0);
            assert_eq!(place.start() % 64, 0, "{bytes}");
            let slack_behind = place.slack()[1].1;
            assert!(slack_behind < 64 || bytes == 0, "{bytes}: {slack_behind}");
            assert_eq!(place.slack()[0].1 + place.bytes + slack_behind, place.span);
        }
    }

    #[test]
    fn staggered_buffers_differ_in_their_page_offset() {
        let offsets: Vec<usize> = (1..4).map(|i| lengths(256 * 256 * 8, i * 320).start() % PAGE).collect();
        assert_eq!(offsets.iter().collect::<std::collections::BTreeSet<_>>().len(), 3);
    }
}
