//! The memory of one run of a module.

use crate::gpu::examine::arena::{Slot, Slots, room};
use crate::gpu::examine::module::oracle::{Draw, Filling, Oracle};
use crate::gpu::examine::module::work::{Given, ModuleWork};
use crate::gpu::examine::round::Need;
use crate::gpu::examine::runner::Spot;
use crate::gpu::examine::station::Station;
use crate::gpu::examine::work::Trouble;
use crate::gpu::plan::Origin;
use crate::gpu::trusted::poison_of_any;

/// A run with its memory.
pub(super) struct Laid {
    given: Vec<Slot>,
    /// What the module allocates, its outputs among it.
    own: Vec<Slot>,
    /// For the runner, one for each buffer of the plan.
    pub(super) spots: Vec<Spot>,
    /// The pattern of its guards.
    pattern: u64,
}

/// Bytes of both shared memories that a module takes; `None` if no number can say.
pub(super) fn need_of(work: &ModuleWork) -> Option<Need> {
    let mut need = Need::default();
    for buffer in &work.plan.buffers {
        let room = room(buffer.bytes)?;
        match buffer.origin {
            Origin::Argument(_) => need.inputs = need.inputs.checked_add(room)?,
            Origin::Own => need.work = need.work.checked_add(room)?,
            Origin::Variable { .. } => {}
        }
    }
    Some(need)
}

/// Where doubles of all outputs lie in the memory of what is right, with their numbers; and the
/// bytes of it all.
pub(super) fn places_of_right(work: &ModuleWork) -> (Vec<(u64, u64)>, u64) {
    const UNIT: u64 = 512;
    let mut next: u64 = 0;
    let mut places = Vec::new();
    for output in &work.outputs {
        let count = output.elements();
        places.push((next, count));
        next = next.saturating_add(count.saturating_mul(8).next_multiple_of(UNIT));
    }
    (places, next)
}

impl Station {
    /// Gives a module memory: fresh inputs, poison in what is its own, guards around everything.
    pub(super) fn lay_module(
        &mut self,
        work: &ModuleWork,
        oracle: &mut Oracle,
        draw: Draw,
    ) -> Result<Laid, Trouble> {
        let (mut of_inputs, mut of_work) = (Slots::default(), Slots::default());
        // JSON has no larger whole numbers.
        let seed = self.fresh.word() >> 11;
        let mut filling = Filling {
            seed,
            draw,
            inputs: Vec::new(),
            parameters: Vec::new(),
        };
        let (mut given, mut own, mut spots) = (Vec::new(), Vec::new(), Vec::new());
        for buffer in &work.plan.buffers {
            spots.push(match buffer.origin {
                Origin::Argument(at) => {
                    let slot = of_inputs.take(buffer.bytes, &mut self.fresh);
                    let (offset, bytes) = (slot.buffer, slot.bytes);
                    match &work.given[at] {
                        Given::Input(index) => filling.inputs.push((*index, offset, bytes)),
                        Given::Parameter(name) => {
                            filling.parameters.push((name.clone(), offset, bytes));
                        }
                    }
                    given.push(slot);
                    Spot::Inputs(offset)
                }
                Origin::Own => {
                    let slot = of_work.take(buffer.bytes, &mut self.fresh);
                    own.push(slot);
                    Spot::Work(slot.buffer)
                }
                Origin::Variable { .. } => Spot::Own,
            });
        }
        self.inputs.use_to(of_inputs.end());
        self.work.use_to(of_work.end());
        let laid = Laid {
            given,
            own,
            spots,
            pattern: self.fresh.word(),
        };
        self.guard(&laid)?;
        self.gpu.synchronize()?;
        oracle.fill(&filling)?;
        // What torch did last leaves nothing in the cache.
        self.kernels
            .sweep(&self.gpu, self.swept, self.sweep_bytes)?;
        self.gpu.synchronize()?;
        Ok(laid)
    }

    fn guard(&self, laid: &Laid) -> Result<(), Trouble> {
        let (gpu, kernels) = (&self.gpu, &self.kernels);
        for slot in &laid.given {
            kernels.guard(gpu, &self.inputs.guards(*slot), laid.pattern)?;
        }
        // Integers that a module leaves out are right by chance only.
        let unknown = poison_of_any(laid.pattern);
        for slot in &laid.own {
            kernels.guard(gpu, &self.work.guards(*slot), laid.pattern)?;
            kernels.fill(gpu, self.work.address(slot.buffer), slot.bytes, unknown)?;
        }
        Ok(())
    }

    /// Sets the word at `broken` where guards have changed.
    pub(super) fn check_guards(&self, laid: &Laid, broken: u64) -> Result<(), Trouble> {
        let (gpu, kernels) = (&self.gpu, &self.kernels);
        for slot in &laid.given {
            kernels.intact(gpu, &self.inputs.guards(*slot), laid.pattern, broken)?;
        }
        for slot in &laid.own {
            kernels.intact(gpu, &self.work.guards(*slot), laid.pattern, broken)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::examine::module::work::Returned;
    use crate::gpu::plan::{Buffer, Plan};

    fn work() -> ModuleWork {
        let buffer = |origin, bytes| Buffer { origin, bytes };
        let variable = Origin::Variable {
            image: 0,
            name: "w".to_owned(),
        };
        let returned = |shape: &[u64]| Returned {
            buffer: 1,
            offset: 0,
            dtype: "float32".to_owned(),
            shape: shape.to_vec(),
            strides: vec![0; shape.len()],
        };
        ModuleWork {
            problem: String::new(),
            images: Vec::new(),
            plan: Plan {
                buffers: vec![
                    buffer(Origin::Argument(0), 100),
                    buffer(Origin::Own, 1000),
                    buffer(variable, 1 << 30),
                    buffer(Origin::Argument(1), 0),
                ],
                ..Plan::default()
            },
            given: vec![Given::Input(0), Given::Parameter("p".to_owned())],
            outputs: vec![returned(&[3, 5]), returned(&[]), returned(&[100])],
            with_compiled: false,
            limit_s: 1.0,
            runs: 0,
        }
    }

    #[test]
    fn a_module_needs_room_for_what_it_is_given_and_allocates() {
        let mut work = work();
        let need = need_of(&work).unwrap();
        assert_eq!(need.inputs, room(100).unwrap() + room(0).unwrap());
        assert_eq!(need.work, room(1000).unwrap());
        work.plan.buffers[1].bytes = u64::MAX;
        assert_eq!(need_of(&work), None);
    }

    #[test]
    fn right_outputs_lie_one_after_the_other() {
        let (places, bytes) = places_of_right(&work());
        assert_eq!(places, [(0, 15), (512, 1), (1024, 100)]);
        assert_eq!(bytes, 2048);
    }
}
