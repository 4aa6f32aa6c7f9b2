//! Compares what a candidate left in memory with what is right.

use hotloop_flow::interface::{Arg, Kind};
use hotloop_flow::task::Method;
use hotloop_flow::verdict::Mismatch;

use crate::gpu::driver::{Address, Module};
use crate::gpu::examine::calls::{
    Content, Given, contents, elements, named, of_check, of_reference,
};
use crate::gpu::examine::desk::part;
use crate::gpu::examine::round::{Laid, Laying};
use crate::gpu::examine::station::Station;
use crate::gpu::examine::work::{Trouble, Trusted, Work};
use crate::gpu::plan::{Origin, Plan};
use crate::gpu::replay::{Prepared, Unfit, is_sound};
use crate::gpu::trusted::{FOUND_WORDS, Found, Shape};

/// A NaN that a reference does not write: it shows what it left out.
const UNWRITTEN: u64 = 0x7ff4_dead_beef_0001;
/// Words before those of comparisons: whether guards and inputs have changed.
const MEMORY_WORDS: usize = 2;
const DOUBLE: u64 = 8;
/// How much more hostile inputs may err. Rounding errors of random terms cancel, and those of equal
/// terms add up: a sum of 10,007 of them, one after the other, was off by 1,037 units in the last
/// place where random ones are off by 52. Reduced precision shows on the other inputs.
const HOSTILE_SLACK: f64 = 16.0;
/// The same for random terms of many sizes, where a few terms decide how errors add up.
const SIZES_SLACK: f64 = 4.0;

fn slack_of(shape: Shape) -> f64 {
    match shape {
        Shape::Uniform => 1.0,
        Shape::Uneven | Shape::Rare => SIZES_SLACK,
        Shape::Frequent | Shape::Tiny | Shape::Extremes | Shape::Ties => HOSTILE_SLACK,
    }
}

/// A task's reference in the examiner's context.
pub(super) struct Reference {
    module: Module,
    right: Vec<Prepared>,
    check: Option<Vec<Prepared>>,
    /// For each call, whether the reference has written everything once. It does so again.
    whole: Vec<bool>,
}

impl Station {
    /// Loads a task's reference.
    pub(super) fn load_reference(&mut self, trusted: &Trusted) -> Result<Reference, Trouble> {
        let unusable = |unfit: Unfit| match unfit {
            Unfit::Refused(why) => Trouble::Task(format!("the reference cannot be used: {why}")),
            Unfit::Failed(failure) => {
                Trouble::Task(format!("the reference cannot be used: {failure}"))
            }
        };
        let module = self
            .gpu
            .load(&trusted.image.cubin)
            .map_err(Unfit::Failed)
            .map_err(unusable)?;
        let prepare = |plans: &[Plan]| {
            let each = |plan: &Plan| {
                if !is_sound(plan) {
                    return Err(Unfit::Refused("its plan names no buffer of its own".into()));
                }
                Prepared::new(&self.gpu, &[(module, &trusted.image.symbols)], plan)
            };
            plans
                .iter()
                .map(each)
                .collect::<Result<Vec<_>, _>>()
                .map_err(unusable)
        };
        Ok(Reference {
            module,
            whole: vec![false; trusted.reference.len()],
            right: prepare(&trusted.reference)?,
            check: trusted.check.as_deref().map(prepare).transpose()?,
        })
    }

    pub(super) fn unload_reference(&self, reference: &Reference) -> Result<(), Trouble> {
        Ok(self.gpu.unload(reference.module)?)
    }

    /// Makes the examiner's own memory large enough for every call.
    pub(super) fn clear_desk(&mut self, work: &Work) -> Result<(), Trouble> {
        let most = (0..work.calls.len())
            .map(|call| desk_need(work, call))
            .max();
        let most = most.unwrap_or(0);
        self.desk.make_room(&self.gpu, most).map_err(|failure| {
            Trouble::Memory(format!(
                "the GPU has no {most} bytes for the reference: {failure}"
            ))
        })
    }

    /// Checks the calls of a round after they ran. `Ok(Err(_))` says what is wrong; `Ok(Ok(_))` is
    /// the worst error.
    pub(super) fn verify(
        &mut self,
        work: &Work,
        reference: &mut Reference,
        round: &[Laid],
    ) -> Result<Result<f64, Mismatch>, Trouble> {
        let outputs = work
            .task
            .function()
            .args
            .iter()
            .filter(|arg| arg.is_output());
        let stride = MEMORY_WORDS + FOUND_WORDS * outputs.count();
        let bytes = stride * round.len() * 8;
        self.gpu.set(self.results, &[0; 4], bytes as u64)?;
        for (at, laid) in round.iter().enumerate() {
            let words = self.results + (at * stride * 8) as u64;
            self.check_memory(work, laid, [words, words + 8])?;
            let found = words + 8 * MEMORY_WORDS as u64;
            match &work.task.verify.method {
                Method::Full => self.compare(work, reference, laid, found)?,
                Method::Projection(_) => self.project(work, reference, laid, found)?,
            }
        }
        let mut read = vec![0; bytes];
        self.gpu.download(self.results, &mut read)?;
        let words = read
            .as_chunks::<8>()
            .0
            .iter()
            .map(|word| u64::from_ne_bytes(*word));
        let words: Vec<u64> = words.collect();
        let mut worst: f64 = 0.0;
        for (laid, words) in round.iter().zip(words.chunks(stride)) {
            match self.judge_call(work, reference, laid, words)? {
                Ok(error) => worst = worst.max(error),
                Err(mismatch) => return Ok(Err(mismatch)),
            }
        }
        Ok(Ok(worst))
    }

    fn judge_call(
        &mut self,
        work: &Work,
        reference: &mut Reference,
        laid: &Laid,
        words: &[u64],
    ) -> Result<Result<f64, Mismatch>, Trouble> {
        let call = &work.calls[laid.call];
        let (memory, found) = words.split_at(MEMORY_WORDS);
        for (word, what) in memory
            .iter()
            .zip(["wrote outside of its buffers", "changed its inputs"])
        {
            if *word != 0 {
                let why = format!("{what} ({})", named(call));
                return Ok(Err(mismatch(why, f64::INFINITY)));
            }
        }
        let slack = laid.shapes().map(slack_of).fold(1.0, f64::max);
        let bound = work.task.bound(&call.sizes) * slack;
        let mut worst: f64 = 0.0;
        for found in found.chunks(FOUND_WORDS).map(Found::read) {
            if found.reference_broken {
                return Err(Trouble::Task(format!(
                    "the reference of {} leaves out a number, or one is NaN or infinite ({})",
                    work.task.name,
                    named(call)
                )));
            }
            worst = worst.max(found.error);
        }
        reference.whole[laid.call] = true;
        if worst <= bound {
            return Ok(Ok(worst));
        }
        let why = self.explain(work, reference, laid, worst, bound)?;
        Ok(Err(mismatch(why, worst)))
    }

    /// Runs the reference of a call and compares every element. The addresses of right values and
    /// scales, for each output.
    fn compare(
        &mut self,
        work: &Work,
        reference: &mut Reference,
        laid: &Laid,
        found: Address,
    ) -> Result<(), Trouble> {
        self.compare_all(work, reference, laid, found).map(drop)
    }

    fn compare_all(
        &mut self,
        work: &Work,
        reference: &mut Reference,
        laid: &Laid,
        found: Address,
    ) -> Result<Vec<Compared>, Trouble> {
        let function = work.task.function();
        let sizes = &work.calls[laid.call].sizes;
        let plan = &work.reference.reference[laid.call];
        let given = of_reference(function);
        let bases = self.bases(plan, &given, laid, !reference.whole[laid.call])?;
        replay(self, &mut reference.right[laid.call], &bases)?;
        let mut compared = Vec::new();
        for (at, arg) in function
            .args
            .iter()
            .enumerate()
            .filter(|(_, arg)| arg.is_output())
        {
            let one = Compared {
                argument: at,
                got: self.input_address(laid, at),
                want: base_of(plan, &given, &bases, Given::Want(at))?,
                scale: base_of(plan, &given, &bases, Given::Scale(at))?,
            };
            let found = found + (compared.len() * FOUND_WORDS * 8) as u64;
            let count = elements(arg, sizes);
            let pair = (one.want, one.scale);
            self.kernels
                .compare(&self.gpu, (arg.kind, one.got), pair, count, found)?;
            compared.push(one);
        }
        Ok(compared)
    }

    /// Runs `check` on a random vector of signs and compares its sums.
    fn project(
        &mut self,
        work: &Work,
        reference: &mut Reference,
        laid: &Laid,
        found: Address,
    ) -> Result<(), Trouble> {
        let missing = || {
            Trouble::Task(format!(
                "the reference of {} has no `check`",
                work.task.name
            ))
        };
        let plan = work.reference.check.as_ref().ok_or_else(missing)?;
        let plan = &plan[laid.call];
        let given = of_check(work.task.function());
        let bases = self.bases(plan, &given, laid, !reference.whole[laid.call])?;
        let place = |wanted| base_of(plan, &given, &bases, wanted);
        let bytes = |wanted| bytes_of(plan, &given, wanted).unwrap_or(0);
        let key = self.fresh.word();
        let signs = place(Given::Signs)?;
        self.kernels
            .signs(&self.gpu, signs, bytes(Given::Signs) / DOUBLE, key)?;
        let prepared = reference.check.as_mut().ok_or_else(missing)?;
        replay(self, &mut prepared[laid.call], &bases)?;
        let sums = (Kind::F64, place(Given::Got)?);
        let right = (place(Given::Want(0))?, place(Given::Scale(0))?);
        let count = bytes(Given::Got) / DOUBLE;
        Ok(self.kernels.compare(&self.gpu, sums, right, count, found)?)
    }

    /// The address of each buffer of a trusted plan. If it `marks`, what the reference writes is
    /// marked unwritten.
    fn bases(
        &mut self,
        plan: &Plan,
        given: &[Given],
        laid: &Laid,
        marks: bool,
    ) -> Result<Vec<Address>, Trouble> {
        self.desk.clear();
        let mut bases = Vec::new();
        for buffer in &plan.buffers {
            let role = match buffer.origin {
                Origin::Argument(at) => given.get(at).copied(),
                Origin::Own => None,
                Origin::Variable { .. } => {
                    bases.push(0);
                    continue;
                }
            };
            if let Some(Given::Task(at)) = role {
                bases.push(self.input_address(laid, at));
                continue;
            }
            let at = self.desk.take(buffer.bytes);
            if role.is_some() && marks {
                self.kernels.fill(&self.gpu, at, buffer.bytes, UNWRITTEN)?;
            }
            bases.push(at);
        }
        Ok(bases)
    }

    /// Names the worst element.
    fn explain(
        &mut self,
        work: &Work,
        reference: &mut Reference,
        laid: &Laid,
        error: f64,
        bound: f64,
    ) -> Result<String, Trouble> {
        let call = &work.calls[laid.call];
        let function = work.task.function();
        let outputs = function.args.iter().filter(|arg| arg.is_output()).count();
        let bytes = outputs * FOUND_WORDS * 8;
        self.gpu.set(self.results, &[0; 4], bytes as u64)?;
        let compared = self.compare_all(work, reference, laid, self.results)?;
        let mut read = vec![0; bytes];
        self.gpu.download(self.results, &mut read)?;
        let words: Vec<u64> = read
            .as_chunks::<8>()
            .0
            .iter()
            .map(|word| u64::from_ne_bytes(*word))
            .collect();
        let found = words.chunks(FOUND_WORDS).map(Found::read);
        let worst = compared
            .iter()
            .zip(found)
            .max_by(|(_, a), (_, b)| a.error.total_cmp(&b.error));
        let Some((one, found)) = worst.filter(|(_, found)| found.error > bound) else {
            // The elements are near enough each, and their sum is not.
            return Ok(format!(
                "a random projection of the output is off by {error:.1e} of its scale ({})",
                named(call)
            ));
        };
        let arg = &function.args[one.argument];
        let (width, index) = (arg.kind.bytes() as u64, found.index);
        let mut got = vec![0; arg.kind.bytes()];
        let mut want = [0; 8];
        self.gpu.download(one.got + index * width, &mut got)?;
        self.gpu.download(one.want + index * DOUBLE, &mut want)?;
        let name = element_name(arg, call, index);
        let want = spelled(arg.kind, f64::from_ne_bytes(want));
        let unwritten = match laid.arguments[one.argument] {
            Laying::Output { poison, .. } => got == poison.to_le_bytes()[..got.len()],
            Laying::Input { .. } | Laying::Scalar => false,
        };
        let is = if unwritten {
            "was not written".to_owned()
        } else {
            format!("is {}", spelled(arg.kind, number(arg.kind, &got)))
        };
        Ok(format!(
            "{name} {is} but should be {want} ({})",
            named(call)
        ))
    }
}

/// An output and what it was compared with.
struct Compared {
    argument: usize,
    got: Address,
    want: Address,
    scale: Address,
}

fn replay(station: &Station, plan: &mut Prepared, bases: &[Address]) -> Result<(), Trouble> {
    plan.replay(&station.gpu, bases)
        .map_err(|failure| Trouble::Task(format!("the reference fails: {failure}")))
}

fn index_of(plan: &Plan, given: &[Given], wanted: Given) -> Option<usize> {
    let argument = given.iter().position(|it| *it == wanted)?;
    let origin = Origin::Argument(argument);
    plan.buffers
        .iter()
        .position(|buffer| buffer.origin == origin)
}

fn base_of(
    plan: &Plan,
    given: &[Given],
    bases: &[Address],
    wanted: Given,
) -> Result<Address, Trouble> {
    index_of(plan, given, wanted)
        .map(|at| bases[at])
        .ok_or_else(|| Trouble::Task(format!("the reference's plan lacks the buffer {wanted:?}")))
}

fn bytes_of(plan: &Plan, given: &[Given], wanted: Given) -> Option<u64> {
    Some(plan.buffers[index_of(plan, given, wanted)?].bytes)
}

/// Bytes of the examiner's own memory that a call takes.
fn desk_need(work: &Work, call: usize) -> u64 {
    let function = work.task.function();
    let of_plan = |plan: Option<&Plan>, given: &[Given]| -> u64 {
        let buffers = plan.map_or(&[][..], |plan| &plan.buffers);
        let own = buffers.iter().filter(|buffer| match buffer.origin {
            Origin::Argument(at) => !matches!(given.get(at), Some(Given::Task(_))),
            Origin::Own => true,
            Origin::Variable { .. } => false,
        });
        own.map(|buffer| part(buffer.bytes)).sum()
    };
    let reference = of_plan(work.reference.reference.get(call), &of_reference(function));
    let check = work
        .reference
        .check
        .as_ref()
        .and_then(|plans| plans.get(call));
    let check = of_plan(check, &of_check(function));
    let sizes = &work.calls[call].sizes;
    let drawn = function.args.iter().zip(contents(function, sizes));
    let structures = drawn
        .filter(|(_, content)| matches!(content, Content::RowPointers(..) | Content::Columns(..)))
        .map(|(arg, _)| part(elements(arg, sizes) * arg.kind.bytes() as u64));
    reference.max(check).max(structures.sum())
}

pub(super) fn mismatch(why: String, error: f64) -> Mismatch {
    Mismatch {
        why,
        error,
        // The paper's tolerance means nothing for floats: `strict` decides for both.
        paper: false,
    }
}

pub(super) fn number(kind: Kind, bytes: &[u8]) -> f64 {
    let word = bytes
        .iter()
        .rev()
        .fold(0u64, |word, byte| word << 8 | u64::from(*byte));
    match kind {
        Kind::F64 => f64::from_bits(word),
        Kind::F32 => f64::from(f32::from_bits(word as u32)),
        Kind::Bf16 => f64::from(f32::from_bits((word as u32) << 16)),
        Kind::F16 => half(word as u16),
        Kind::I32 => f64::from(word as i32),
        Kind::I64 => word as i64 as f64,
    }
}

fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 0 { size } else { -size }
}

/// A number with as many digits as its type has.
pub(super) fn spelled(kind: Kind, value: f64) -> String {
    match kind {
        Kind::I32 | Kind::I64 => format!("{value:.0}"),
        Kind::F64 => format!("{value:.17e}"),
        Kind::F32 => format!("{value:.9e}"),
        Kind::F16 | Kind::Bf16 => format!("{value:.5e}"),
    }
}

/// For example `y[3][17]`: all dimensions but the last are rows.
fn element_name(arg: &Arg, call: &crate::gpu::call::Call, index: u64) -> String {
    let columns = arg.shape.last().map_or(1, |last| {
        hotloop_flow::formula::count(last, &call.sizes).expect("checked by Task::parse") as u64
    });
    if arg.shape.len() < 2 {
        return format!("{}[{index}]", arg.name);
    }
    let columns = columns.max(1);
    format!("{}[{}][{}]", arg.name, index / columns, index % columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_lie_in_memory() {
        let read = |kind, bytes: &[u8]| number(kind, bytes).to_bits();
        for (kind, bytes, value) in [
            (Kind::F32, &1.5f32.to_ne_bytes()[..], 1.5f64),
            (Kind::I32, &(-7i32).to_ne_bytes(), -7.0),
            (Kind::I64, &(-7i64).to_ne_bytes(), -7.0),
            (Kind::Bf16, &0xbfc0u16.to_ne_bytes(), -1.5),
            (Kind::F16, &0x3e00u16.to_ne_bytes(), 1.5),
            (Kind::F16, &0x8001u16.to_ne_bytes(), -(2f64.powi(-24))),
        ] {
            assert_eq!(read(kind, bytes), value.to_bits(), "{kind}");
        }
        assert!(number(Kind::F16, &0x7d01u16.to_ne_bytes()).is_nan());
    }
}
