//! The buffers of all calls on the trusted side.

use std::ffi::c_void;

use hotloop_flow::interface::{Arg, Fill, Role};
use hotloop_flow::task::TaskSpec;

use crate::cpu::draws::Note;
use crate::cpu::layout::{Layout, Place, Region, Set};
use crate::cpu::memory::Mapping;
use crate::inputs::{self, Fresh};

/// Both memory files, mapped on the trusted side, and their layout.
pub(crate) struct Buffers {
    /// Read-only for the candidate.
    pub(crate) inputs: Mapping,
    /// Writable for the candidate.
    pub(crate) outputs: Mapping,
    pub(crate) layout: Layout,
    /// The notes of each call of the last run, if there are any.
    pub(crate) notes: Vec<Note>,
}

impl Buffers {
    fn mapping(&self, region: Region) -> &Mapping {
        match region {
            Region::Inputs => &self.inputs,
            Region::Outputs => &self.outputs,
        }
    }

    pub(super) fn bytes(&self, place: &Place) -> &[u8] {
        self.mapping(place.region).slice(place.start(), place.bytes)
    }

    pub(super) fn address(&self, place: &Place) -> *mut c_void {
        self.mapping(place.region).address(place.start()).cast()
    }
}

/// One output of a call.
#[derive(Clone, Copy)]
pub(super) struct Output<'a> {
    pub(super) arg: &'a Arg,
    pub(super) place: &'a Place,
}

pub(super) fn outputs<'a>(spec: &'a TaskSpec, set: &'a Set) -> impl Iterator<Item = Output<'a>> {
    spec.function()
        .args
        .iter()
        .zip(&set.places)
        .filter(|(arg, _)| arg.is_output())
        .map(|(arg, place)| Output { arg, place })
}

/// One pointer per argument.
pub(super) fn pointers(buffers: &Buffers, set: &Set) -> Vec<*mut c_void> {
    set.places
        .iter()
        .map(|place| buffers.address(place))
        .collect()
}

/// Fills one set with fresh inputs, poisoned outputs and canaries. Returns copies of in-out
/// buffers.
#[expect(
    unsafe_code,
    reason = "the sets of one mapping are filled side by side"
)]
pub(super) fn freshen_set(
    fresh: &mut Fresh,
    spec: &TaskSpec,
    set: &Set,
    buffers: &Buffers,
    canary: u8,
) -> Vec<Vec<u8>> {
    for (arg, place) in spec.function().args.iter().zip(&set.places) {
        let mapping = buffers.mapping(place.region);
        for (start, length) in place.slack() {
            // SAFETY: places do not overlap, one thread fills a set, and the candidate is frozen.
            unsafe { mapping.part_mut(start, length) }.fill(canary);
        }
        let rows: &[u8] = match &arg.fill {
            Some(Fill::Columns { rows, .. }) => {
                let rows = spec
                    .function()
                    .args
                    .iter()
                    .position(|other| other.name == *rows)
                    .expect("checked by Task::parse");
                buffers.bytes(&set.places[rows])
            }
            _ => &[],
        };
        // SAFETY: as above, and row pointers are another place.
        let (start, length) = place.with_room();
        let bytes = unsafe { mapping.part_mut(start, length) };
        match arg.role {
            Role::Out | Role::Return => inputs::poison(fresh, arg.kind, bytes),
            Role::In | Role::Scalar | Role::Inout => {
                inputs::fill(fresh, arg, &set.sizes, bytes, |_| Some(rows));
            }
        }
    }
    let in_and_out = outputs(spec, set).filter(|output| output.arg.role == Role::Inout);
    in_and_out
        .map(|output| buffers.bytes(output.place).to_vec())
        .collect()
}
