//! A round: calls whose inputs lie in memory at the same time.

use std::time::Duration;

use hotloop_flow::formula::Sizes;
use hotloop_flow::interface::{Arg, Kind};

use crate::gpu::driver::Address;
use crate::gpu::examine::arena::{Slot, Slots, room};
use crate::gpu::examine::calls::{Content, contents, elements, lengths};
use crate::gpu::examine::making::Making;
use crate::gpu::examine::pool::Lost;
use crate::gpu::examine::runner::{FromRunner, Spot, ToRunner};
use crate::gpu::examine::station::Station;
use crate::gpu::examine::timing::Run;
use crate::gpu::examine::work::{Trouble, Work};
use crate::gpu::plan::Origin;
use crate::gpu::trusted::{Drawing, Lines, Shape, poison};

/// A call with its memory.
pub(super) struct Laid {
    /// Its index among the work's calls.
    pub(super) call: usize,
    /// For each argument of the task.
    pub(super) arguments: Vec<Laying>,
    /// What the candidate allocates itself.
    own: Vec<Slot>,
    /// For the runner, one for each buffer of the plan.
    pub(super) spots: Vec<Spot>,
    /// The pattern of its guards.
    pub(super) pattern: u64,
}

impl Laid {
    /// How its inputs are drawn.
    pub(super) fn shapes(&self) -> impl Iterator<Item = Shape> {
        self.arguments.iter().filter_map(|laying| match laying {
            Laying::Input { shape, .. } => Some(*shape),
            Laying::Output { .. } | Laying::Scalar => None,
        })
    }
}

/// An argument with its memory.
#[derive(Debug, Clone, Copy)]
pub(super) enum Laying {
    Input { slot: Slot, key: u64, shape: Shape },
    Output { slot: Slot, poison: u64 },
    Scalar,
}

/// Bytes of both shared memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Need {
    pub(super) inputs: u64,
    pub(super) work: u64,
}

/// What a call takes of both; `None` if no number can say.
pub(super) fn need_of(work: &Work, call: usize) -> Option<Need> {
    let (function, sizes) = (work.task.function(), &work.calls[call].sizes);
    let mut need = Need::default();
    for (arg, content) in function.args.iter().zip(contents(function, sizes)) {
        let room = room(elements(arg, sizes) * arg.kind.bytes() as u64)?;
        match content {
            Content::Scalar => {}
            Content::Output => need.work = need.work.checked_add(room)?,
            _ => need.inputs = need.inputs.checked_add(room)?,
        }
    }
    for buffer in &work.plans[call].buffers {
        if buffer.origin == Origin::Own {
            need.work = need.work.checked_add(room(buffer.bytes)?)?;
        }
    }
    Some(need)
}

/// How an input of numbers is drawn.
fn drawing(
    arg: &Arg,
    sizes: &Sizes,
    (key, shape): (u64, Shape),
    (low, high): (f64, f64),
) -> Drawing {
    Drawing {
        shape,
        kind: arg.kind,
        elements: elements(arg, sizes),
        key,
        low,
        high,
        lines: Lines::of(&lengths(arg, sizes), key),
    }
}

/// Rows of a sparse matrix that hold half of its entries, or 0. On average each has entries in a
/// quarter of the columns at most.
fn heavy_rows(contents: &[Content], at: usize, shape: Shape) -> u64 {
    let Content::RowPointers(rows, entries) = contents[at] else {
        return 0;
    };
    let columns = contents.iter().find_map(|content| match content {
        Content::Columns(of, _, columns) if *of == at => Some(*columns),
        _ => None,
    });
    match shape {
        Shape::Uniform => 0,
        _ => (2 * entries)
            .div_ceil(columns.unwrap_or(1).max(1))
            .clamp(1, rows.max(1)),
    }
}

/// How a run ended.
pub(super) enum Ended {
    Ran(Run),
    Refused(String),
    /// The driver's error, by number and in words.
    Failed(u32, String),
    Lost(Lost),
}

impl Station {
    /// Gives the calls memory: fresh inputs, poisoned outputs, guards around everything.
    pub(super) fn lay(&mut self, work: &Work, calls: &[Making]) -> Result<Vec<Laid>, Trouble> {
        let (mut of_inputs, mut of_work) = (Slots::default(), Slots::default());
        let mut round = Vec::new();
        for making in calls {
            round.push(self.place(work, *making, &mut of_inputs, &mut of_work));
        }
        self.inputs.use_to(of_inputs.end());
        self.work.use_to(of_work.end());
        for laid in &round {
            self.fill(work, laid)?;
        }
        // What the GPU did last leaves nothing in its cache.
        self.kernels
            .sweep(&self.gpu, self.swept, self.sweep_bytes)?;
        self.gpu.synchronize()?;
        Ok(round)
    }

    fn place(
        &mut self,
        work: &Work,
        Making { call, inputs }: Making,
        of_inputs: &mut Slots,
        of_work: &mut Slots,
    ) -> Laid {
        let (function, sizes) = (work.task.function(), &work.calls[call].sizes);
        let fresh = &mut self.fresh;
        let mut arguments = Vec::new();
        for (at, (arg, content)) in function
            .args
            .iter()
            .zip(contents(function, sizes))
            .enumerate()
        {
            let bytes = elements(arg, sizes) * arg.kind.bytes() as u64;
            arguments.push(match content {
                Content::Scalar => Laying::Scalar,
                Content::Output => Laying::Output {
                    slot: of_work.take(bytes, fresh),
                    poison: poison(arg.kind, fresh.word()),
                },
                _ => Laying::Input {
                    slot: of_inputs.take(bytes, fresh),
                    key: fresh.word(),
                    shape: inputs.shape(at, arg.kind),
                },
            });
        }
        let mut own = Vec::new();
        let spots = work.plans[call]
            .buffers
            .iter()
            .map(|buffer| match buffer.origin {
                Origin::Argument(at) => match arguments[at] {
                    Laying::Input { slot, .. } => Spot::Inputs(slot.buffer),
                    Laying::Output { slot, .. } => Spot::Work(slot.buffer),
                    Laying::Scalar => Spot::Own,
                },
                Origin::Own => {
                    let slot = of_work.take(buffer.bytes, fresh);
                    own.push(slot);
                    Spot::Work(slot.buffer)
                }
                Origin::Variable { .. } => Spot::Own,
            });
        let spots = spots.collect();
        let pattern = fresh.word();
        Laid {
            call,
            arguments,
            own,
            spots,
            pattern,
        }
    }

    fn fill(&mut self, work: &Work, laid: &Laid) -> Result<(), Trouble> {
        let (gpu, kernels) = (&self.gpu, &self.kernels);
        for (at, laying) in laid.arguments.iter().enumerate() {
            match laying {
                Laying::Scalar => {}
                Laying::Input { slot, .. } => {
                    kernels.guard(gpu, &self.inputs.guards(*slot), laid.pattern)?;
                    let to = self.inputs.address(slot.buffer);
                    self.draw(work, laid, at, to, |at| self.input_address(laid, at))?;
                }
                Laying::Output { slot, poison } => {
                    kernels.guard(gpu, &self.work.guards(*slot), laid.pattern)?;
                    kernels.fill(gpu, self.work.address(slot.buffer), slot.bytes, *poison)?;
                }
            }
        }
        for slot in &laid.own {
            kernels.guard(gpu, &self.work.guards(*slot), laid.pattern)?;
            let unknown = poison(Kind::F32, laid.pattern);
            kernels.fill(gpu, self.work.address(slot.buffer), slot.bytes, unknown)?;
        }
        Ok(())
    }

    pub(super) fn input_address(&self, laid: &Laid, at: usize) -> Address {
        match laid.arguments[at] {
            Laying::Input { slot, .. } => self.inputs.address(slot.buffer),
            Laying::Output { slot, .. } => self.work.address(slot.buffer),
            Laying::Scalar => 0,
        }
    }

    /// Draws the argument `at` to an address. Columns follow from row pointers, whose address
    /// `rows` knows.
    fn draw(
        &self,
        work: &Work,
        laid: &Laid,
        at: usize,
        to: Address,
        rows: impl Fn(usize) -> Address,
    ) -> Result<(), Trouble> {
        let Laying::Input { key, shape, .. } = laid.arguments[at] else {
            return Ok(());
        };
        let (gpu, kernels) = (&self.gpu, &self.kernels);
        let (function, sizes) = (work.task.function(), &work.calls[laid.call].sizes);
        let arg = &function.args[at];
        match contents(function, sizes)[at] {
            Content::Uniform(low, high) => {
                let drawing = drawing(arg, sizes, (key, shape), (low, high));
                kernels.draw(gpu, to, &drawing)?;
            }
            Content::RowPointers(..) | Content::Columns(..) if arg.kind != Kind::I32 => {
                return Err(Trouble::Task(format!(
                    "args: `{}` is {}, and rows and columns of a task in cuda are i32",
                    arg.name, arg.kind
                )));
            }
            Content::RowPointers(count, entries) => {
                let heavy = heavy_rows(&contents(function, sizes), at, shape);
                kernels.row_pointers(gpu, to, (count, entries), key, heavy)?;
            }
            Content::Columns(of, count, columns) => {
                let crowded = shape != Shape::Uniform;
                kernels.columns(gpu, (to, rows(of)), (count, columns), key, crowded)?;
            }
            Content::Output | Content::Scalar => {}
        }
        Ok(())
    }

    /// Sets the word at `broken` where guards have changed, and that at `changed` where inputs
    /// have.
    pub(super) fn check_memory(
        &mut self,
        work: &Work,
        laid: &Laid,
        [broken, changed]: [Address; 2],
    ) -> Result<(), Trouble> {
        let (gpu, kernels) = (&self.gpu, &self.kernels);
        let function = work.task.function();
        for (at, laying) in laid.arguments.iter().enumerate() {
            let (arena, slot) = match laying {
                Laying::Scalar => continue,
                Laying::Input { slot, .. } => (&self.inputs, slot),
                Laying::Output { slot, .. } => (&self.work, slot),
            };
            kernels.intact(gpu, &arena.guards(*slot), laid.pattern, broken)?;
            let Laying::Input { slot, key, shape } = laying else {
                continue;
            };
            let sizes = &work.calls[laid.call].sizes;
            if let Content::Uniform(low, high) = contents(function, sizes)[at] {
                let arg = &function.args[at];
                let drawing = drawing(arg, sizes, (*key, *shape), (low, high));
                kernels.same(gpu, self.inputs.address(slot.buffer), &drawing, changed)?;
            }
        }
        for slot in &laid.own {
            kernels.intact(gpu, &self.work.guards(*slot), laid.pattern, broken)?;
        }
        self.check_structures(work, laid, changed)
    }

    /// The same for rows and columns, which are drawn once more to compare.
    fn check_structures(
        &mut self,
        work: &Work,
        laid: &Laid,
        changed: Address,
    ) -> Result<(), Trouble> {
        let function = work.task.function();
        let contents = contents(function, &work.calls[laid.call].sizes);
        self.desk.clear();
        let mut again: Vec<Option<Address>> = vec![None; contents.len()];
        for (at, content) in contents.iter().enumerate() {
            let (Content::RowPointers(..) | Content::Columns(..), Laying::Input { slot, .. }) =
                (content, laid.arguments[at])
            else {
                continue;
            };
            let to = self.desk.take(slot.bytes);
            again[at] = Some(to);
            self.draw(work, laid, at, to, |rows| again[rows].unwrap_or(0))?;
            let pair = (to, self.inputs.address(slot.buffer));
            self.kernels.equal(&self.gpu, pair, slot.bytes, changed)?;
        }
        Ok(())
    }

    /// Runs a plan of the candidate that the runner has loaded.
    pub(super) fn run(
        &mut self,
        plan: usize,
        spots: &[Spot],
        patience: Duration,
    ) -> Result<Ended, Trouble> {
        let request = ToRunner::Run {
            plan,
            buffers: spots.to_vec(),
        };
        Ok(match self.ask(&request, &[], patience)? {
            Ok((FromRunner::Ran(clocked), round_s)) => Ended::Ran(Run { clocked, round_s }),
            Ok((answer, _)) => self.ended(answer)?,
            Err(lost) => {
                self.lose_runner();
                Ended::Lost(lost)
            }
        })
    }

    /// What else a runner may say of a candidate. One that cannot go on is ended.
    pub(super) fn ended(&mut self, answer: FromRunner) -> Result<Ended, Trouble> {
        match answer {
            FromRunner::Refused(why) => Ok(Ended::Refused(why)),
            FromRunner::Failed { code, how, usable } => {
                if !usable {
                    self.lose_runner();
                }
                Ok(Ended::Failed(code, how))
            }
            other => {
                self.lose_runner();
                Err(Trouble::Machine(format!("a runner says {other:?}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heavy_rows_have_room_for_their_entries() {
        let of = |rows, entries, columns, shape| {
            let contents = [
                Content::RowPointers(rows, entries),
                Content::Columns(0, rows, columns),
            ];
            heavy_rows(&contents, 0, shape)
        };
        assert_eq!(of(150_001, 4_200_011, 777, Shape::Ties), 10_811);
        assert_eq!(of(131_072, 4_194_304, 131_072, Shape::Ties), 64);
        assert_eq!(of(3, 60_000, 200_003, Shape::Rare), 1);
        assert_eq!(of(1, 1, 1, Shape::Rare), 1);
        assert_eq!(of(131_072, 4_194_304, 131_072, Shape::Uniform), 0);
    }
}
