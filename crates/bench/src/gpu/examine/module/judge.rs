//! One module, from its plan to an answer.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hotloop_flow::measured::{Baseline, Checks, Measured, Work as Counted};
use hotloop_flow::verdict::Mismatch;

use crate::gpu::examine::arena::Arena;
use crate::gpu::examine::judge::{
    BUDGET_CALLS, PROBES, Stop, TIMINGS, Trial, Yardsticks, outlives_unloading, stop,
};
use crate::gpu::examine::module::element::Element;
use crate::gpu::examine::module::laid::{need_of, places_of_right};
use crate::gpu::examine::module::oracle::{Draw, Oracle};
use crate::gpu::examine::module::sitting::Sitting;
use crate::gpu::examine::module::verify::words_of;
use crate::gpu::examine::module::work::{ModuleAnswer, ModuleWork};
use crate::gpu::examine::roof::Limit;
use crate::gpu::examine::round::Ended;
use crate::gpu::examine::station::{RESULT_WORDS, Station};
use crate::gpu::examine::timing::{self, Idle};
use crate::gpu::examine::verify::mismatch;
use crate::gpu::examine::work::{Answer, Trouble};
use crate::gpu::plan::Origin;
use crate::gpu::replay::is_sound;

/// A module allocates at most this part of the GPU's memory: torch needs the rest to say what is
/// right.
const OWN_PART: u64 = 4;
/// Beside its outputs a module may allocate this part, whatever else the problem takes. With more, a
/// lack of memory is its own fault.
const SPARE_PART: u64 = 16;
/// The name of torch's failure for lack of memory.
const LACK_OF_TORCH: &str = "OutOfMemory";
/// Runs on plain inputs that are made at least, one that only wakes the GPU up among them.
const RUNS: usize = 5;
/// The baseline that a measurement names.
const EAGER: &str = "torch, eager";

impl Station {
    /// Judges a module. What only it can have caused is an answer.
    pub(in crate::gpu::examine) fn judge_module(
        &mut self,
        work: &ModuleWork,
        oracle: &mut Oracle,
        yardsticks: &mut Yardsticks,
    ) -> Result<ModuleAnswer, Trouble> {
        if let Some(answer) = refuse(work, self.total_bytes) {
            let torch = None;
            return Ok(ModuleAnswer { answer, torch });
        }
        let judged = self.judge_problem(work, oracle, yardsticks);
        judged.or_else(|trouble| blame(work, self.total_bytes, trouble))
    }

    fn judge_problem(
        &mut self,
        work: &ModuleWork,
        oracle: &mut Oracle,
        yardsticks: &mut Yardsticks,
    ) -> Result<ModuleAnswer, Trouble> {
        let known = oracle.problem(work)?;
        if let Some(mismatch) = differs(work, &known.outputs) {
            let answer = Answer::Wrong(mismatch);
            let torch = Some(known.baselines);
            return Ok(ModuleAnswer { answer, torch });
        }
        let need = need_of(work).unwrap_or_default();
        self.make_room(need.inputs, need.work)?;
        let (places, bytes) = places_of_right(work);
        let right = Arena::new(&self.gpu, &self.kernels, bytes.max(1), &mut self.fresh);
        let right = right.map_err(|failure| {
            Trouble::Machine(format!(
                "the GPU has no {bytes} bytes for the right results: {failure}"
            ))
        })?;
        let shared = oracle.share(&self.inputs, &right);
        let judged = shared.and_then(|()| {
            let mut on = Sitting {
                work,
                oracle: &mut *oracle,
                known: &known,
                right: &right,
                places,
            };
            self.judge_seated(&mut on, yardsticks)
        });
        match judged {
            Ok(_) => oracle.release()?,
            // The next judgement must find nothing of unfinished work.
            Err(_) => oracle.forget(),
        }
        right.release(&self.gpu)?;
        Ok(ModuleAnswer {
            answer: judged?,
            torch: Some(known.baselines),
        })
    }

    fn judge_seated(
        &mut self,
        on: &mut Sitting<'_>,
        yardsticks: &mut Yardsticks,
    ) -> Result<Answer, Trouble> {
        let mut failed_before = false;
        loop {
            let attempt = self.attempt_module(on, yardsticks);
            self.forget(attempt.is_err())?;
            match attempt {
                Ok(answer) => return Ok(answer),
                Err(Stop::Answer(answer)) => return Ok(*answer),
                Err(Stop::Trouble(trouble)) => return Err(trouble),
                Err(Stop::Failed(code, how)) => {
                    if !self.is_doubtful(code)? || failed_before {
                        return Ok(Answer::Crashed(how));
                    }
                    // A GPU that is not well makes this an error.
                    self.is_well()?;
                    failed_before = true;
                }
            }
        }
    }

    fn attempt_module(
        &mut self,
        on: &mut Sitting<'_>,
        yardsticks: &mut Yardsticks,
    ) -> Result<Answer, Stop> {
        let mut trial = Trial::default();
        // The first run also wakes the GPU up.
        self.run_module(on, Draw::Plain, &mut trial)?;
        let first = trial.runs.pop();
        let expected = first.map_or(0.0, |run| run.clocked.seconds);
        let least = timing::runs_of(expected).max(RUNS - 1);
        let mut order = vec![Draw::Plain; least.max(on.work.runs as usize)];
        for draw in on.known.others() {
            let at = self.fresh.index(order.len() + 1);
            order.insert(at, draw);
        }
        for draw in order {
            self.run_module(on, draw, &mut trial)?;
        }
        let answer = self.time_module(on, &mut trial, yardsticks)?;
        self.check_rest()?;
        Ok(answer)
    }

    /// Runs a module once, on fresh inputs and with its code loaded anew, and checks what it did.
    /// Code can change its own constants, so no run may find what another one left there.
    fn run_module(
        &mut self,
        on: &mut Sitting<'_>,
        draw: Draw,
        trial: &mut Trial,
    ) -> Result<(), Stop> {
        let work = on.work;
        let limit = Duration::from_secs_f64(work.limit_s);
        self.runner()?;
        let laid = self.lay_module(work, on.oracle, draw)?;
        self.load_candidate(work.images.clone(), vec![work.plan.clone()], true)?;
        let since = Instant::now();
        let ended = self.run(0, &laid.spots, limit)?;
        if draw == Draw::Plain {
            trial.spent_s += since.elapsed().as_secs_f64();
        }
        let Ended::Ran(run) = ended else {
            return Err(stop(ended, work.limit_s));
        };
        self.unload_candidate()?;
        let plans = std::slice::from_ref(&work.plan);
        if work
            .images
            .iter()
            .any(|image| outlives_unloading(image, plans))
        {
            self.lose_runner();
        }
        let budget = BUDGET_CALLS.max(f64::from(work.runs));
        if trial.spent_s > budget * work.limit_s {
            return Err(Stop::answer(Answer::TimedOut(work.limit_s)));
        }
        if draw == Draw::Plain {
            trial.runs.push(run);
        }
        match self.verify_module(on, &laid, draw)? {
            Ok(error) => trial.error = trial.error.max(error),
            Err(mismatch) => return Err(Stop::answer(Answer::Wrong(mismatch))),
        }
        Ok(())
    }

    /// Makes more runs until they are steady, and asks whether they can be believed.
    fn time_module(
        &mut self,
        on: &mut Sitting<'_>,
        trial: &mut Trial,
        yardsticks: &mut Yardsticks,
    ) -> Result<Answer, Stop> {
        let mut doubt = None;
        for again in 0..TIMINGS {
            if again > 0 {
                trial.runs.clear();
            }
            let least = on.work.runs as usize;
            while trial.runs.len() < least || !timing::is_enough(&trial.runs) {
                self.run_module(on, Draw::Plain, trial)?;
            }
            let idle = self.idle()?;
            let now = self
                .rest_with_a_candidate(PROBES)?
                .map_err(|how| Stop::Failed(None, how))?;
            let (measured, limit) = self.measure_module(on, trial, (&idle, &now), yardsticks)?;
            doubt = timing::contradiction(&trial.runs, &idle, &now)
                .or_else(|| limit.beaten_by(measured.seconds));
            let Some(why) = doubt.clone() else {
                return Ok(Answer::Correct(measured));
            };
            if again + 1 == TIMINGS {
                return Ok(Answer::Suspect { why, measured });
            }
            yardsticks.roofs.forget();
        }
        Err(Stop::Trouble(Trouble::Machine(doubt.unwrap_or_default())))
    }

    fn measure_module(
        &mut self,
        on: &Sitting<'_>,
        trial: &Trial,
        (idle, now): (&Idle, &Idle),
        yardsticks: &mut Yardsticks,
    ) -> Result<(Measured, Limit), Stop> {
        let alone = !timing::is_busy(idle, now);
        let timing = timing::timing(&trial.runs, idle, alone);
        let bytes = bytes_written(on.work);
        let counted = Counted {
            flops: None,
            bytes: (bytes > 0).then_some(bytes as f64),
        };
        let limit = yardsticks.roofs.limit(self, &counted)?;
        let eager = on.known.baselines.eager.got();
        let measured = Measured {
            seconds: timing.median_s,
            work: counted,
            baseline: eager.map(|times| Baseline {
                name: EAGER.to_owned(),
                seconds: times.median_s,
            }),
            roof: Some(limit.roof()),
            checks: Checks {
                paper: true,
                strict: true,
                error: trial.error,
            },
            timing,
        };
        Ok((measured, limit))
    }
}

/// Bytes that a module must write: each output once. What it must read is not known, because an
/// output may depend on a part of its inputs.
fn bytes_written(work: &ModuleWork) -> u64 {
    let mut of_buffers: BTreeMap<usize, u64> = BTreeMap::new();
    for output in &work.outputs {
        let width = Element::of(&output.dtype).map_or(1, |element| element.bytes);
        let written = of_buffers.entry(output.buffer).or_default();
        *written = written.saturating_add(output.elements().saturating_mul(width));
    }
    let within = |(buffer, bytes): (&usize, &u64)| (*bytes).min(work.plan.buffers[*buffer].bytes);
    of_buffers.iter().map(within).sum()
}

/// How what is returned differs from what `Model` returns. The stand-in for torch, which has
/// compared both, may not have known.
fn differs(work: &ModuleWork, wanted: &[(String, Vec<u64>)]) -> Option<Mismatch> {
    let told = |dtype: &str, shape: &[u64]| format!("{dtype} {shape:?}");
    let returned = work.outputs.iter();
    let returned: Vec<String> = returned.map(|it| told(&it.dtype, &it.shape)).collect();
    let wanted = wanted.iter().map(|(dtype, shape)| told(dtype, shape));
    let wanted: Vec<String> = wanted.collect();
    (returned != wanted).then(|| {
        let (returned, wanted) = (returned.join(", "), wanted.join(", "));
        let why = format!("`forward` returns {returned}, and Model returns {wanted}");
        mismatch(why, f64::INFINITY)
    })
}

/// Whose fault a failure is. If memory is missing, the module's own allocations may be the cause.
fn blame(work: &ModuleWork, total_bytes: u64, trouble: Trouble) -> Result<ModuleAnswer, Trouble> {
    let spare = own_bytes(work).saturating_sub(u128::from(bytes_written(work)));
    let is_lack = match &trouble {
        Trouble::Memory(_) => true,
        Trouble::Machine(why) => why.contains(LACK_OF_TORCH),
        Trouble::Task(_) => false,
    };
    if !is_lack || spare <= u128::from(total_bytes / SPARE_PART) {
        return Err(trouble);
    }
    let answer = Answer::Crashed(format!(
        "CUDA_ERROR_OUT_OF_MEMORY ({spare} bytes beside its outputs leave too little for the rest)"
    ));
    let torch = None;
    Ok(ModuleAnswer { answer, torch })
}

/// Bytes that a module allocates.
fn own_bytes(work: &ModuleWork) -> u128 {
    let buffers = work.plan.buffers.iter();
    let own = buffers.filter(|buffer| buffer.origin == Origin::Own);
    own.map(|buffer| u128::from(buffer.bytes)).sum()
}

/// What can be said before anything runs.
fn refuse(work: &ModuleWork, total_bytes: u64) -> Option<Answer> {
    let refused = |why: &str| Some(Answer::Refused(why.to_owned()));
    let plan = &work.plan;
    let is_given = plan.buffers.iter().all(|buffer| match buffer.origin {
        Origin::Argument(at) => at < work.given.len(),
        Origin::Own | Origin::Variable { .. } => true,
    });
    if !is_given || !is_sound(plan) {
        return refused("its plan names what it is not given");
    }
    if words_of(work.outputs.len()) > RESULT_WORDS {
        return refused("it returns more tensors than are compared");
    }
    for output in &work.outputs {
        let Some(element) = Element::of(&output.dtype) else {
            let why = format!("it returns {}, which is not compared", output.dtype);
            return Some(Answer::Refused(why));
        };
        let last = output.shape.iter().zip(&output.strides);
        let last = last.map(|(length, stride)| length.saturating_sub(1).saturating_mul(*stride));
        let last = last.fold(0u64, u64::saturating_add);
        let end = last.saturating_add(1).saturating_mul(element.bytes);
        let end = end.saturating_add(output.offset);
        let buffer = plan.buffers.get(output.buffer);
        let is_inside = buffer.is_some_and(|buffer| {
            buffer.origin == Origin::Own && (end <= buffer.bytes || output.elements() == 0)
        });
        if !is_inside || output.shape.len() != output.strides.len() {
            return refused("it returns what is not its own memory");
        }
        if output.overlaps() {
            return refused(
                "it returns a tensor whose elements share places in memory, as expanded ones do; \
                 write every element to a place of its own",
            );
        }
    }
    let own = own_bytes(work);
    if own > u128::from(total_bytes / OWN_PART) {
        return Some(Answer::Crashed(format!(
            "CUDA_ERROR_OUT_OF_MEMORY (allocating {own} bytes)"
        )));
    }
    if let Some(failure) = plan.failures.first() {
        return Some(Answer::Crashed(failure.clone()));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::examine::module::work::{Given, Returned};
    use crate::gpu::plan::{Buffer, Plan};

    const GPU: u64 = 1 << 30;

    fn output(offset: u64, shape: &[u64], strides: &[u64]) -> Returned {
        Returned {
            buffer: 1,
            offset,
            dtype: "float32".to_owned(),
            shape: shape.to_vec(),
            strides: strides.to_vec(),
        }
    }

    fn work(outputs: Vec<Returned>) -> ModuleWork {
        let buffer = |origin, bytes| Buffer { origin, bytes };
        ModuleWork {
            problem: String::new(),
            images: Vec::new(),
            plan: Plan {
                buffers: vec![buffer(Origin::Argument(0), 64), buffer(Origin::Own, 64)],
                ..Plan::default()
            },
            given: vec![Given::Input(0)],
            outputs,
            with_compiled: false,
            limit_s: 1.0,
            runs: 0,
        }
    }

    #[test]
    fn outputs_lie_within_memory_of_their_own() {
        let said = |output: Returned| match refuse(&work(vec![output]), GPU) {
            None => String::new(),
            Some(Answer::Refused(why) | Answer::Crashed(why)) => why,
            Some(other) => panic!("{other:?}"),
        };
        assert_eq!(said(output(0, &[4, 4], &[4, 1])), "");
        assert_eq!(said(output(0, &[4, 4], &[1, 4])), "", "transposed");
        assert_eq!(said(output(0, &[], &[])), "");
        assert!(said(output(4, &[4, 4], &[4, 1])).contains("its own memory"));
        assert!(said(output(0, &[2], &[u64::MAX])).contains("its own memory"));
        assert!(said(output(0, &[4, 4], &[0, 1])).contains("share places"));
        let mut input = output(0, &[4], &[1]);
        input.buffer = 0;
        assert!(said(input).contains("its own memory"));
        let mut complex = output(0, &[4], &[1]);
        complex.dtype = "complex64".to_owned();
        assert!(said(complex).contains("complex64"));
    }

    #[test]
    fn too_much_memory_is_the_modules_fault() {
        let mut large = work(vec![output(0, &[4], &[1])]);
        large.plan.buffers[1].bytes = GPU / OWN_PART + 1;
        let answer = refuse(&large, GPU);
        assert!(matches!(answer, Some(Answer::Crashed(how)) if how.contains("OUT_OF_MEMORY")));
        let mut forged = work(vec![output(0, &[4], &[1])]);
        forged.plan.buffers[0].origin = Origin::Argument(1);
        assert!(refuse(&forged, GPU).is_some());
    }

    #[test]
    fn a_lack_of_memory_is_the_modules_fault_if_it_takes_much_beside_its_outputs() {
        let lack = || Trouble::Machine("torch: OutOfMemoryError: CUDA out of memory".to_owned());
        let mut work = work(vec![output(0, &[4, 4], &[4, 1])]);
        assert_eq!(blame(&work, GPU, lack()).err(), Some(lack()));
        work.plan.buffers[1].bytes = GPU / SPARE_PART + 65;
        let blamed = blame(&work, GPU, lack()).unwrap().answer;
        assert!(matches!(blamed, Answer::Crashed(how) if how.contains("OUT_OF_MEMORY")));
        let other = Trouble::Machine("a runner is lost".to_owned());
        assert_eq!(blame(&work, GPU, other.clone()).err(), Some(other));
    }

    #[test]
    fn no_byte_of_an_output_is_counted_twice() {
        let same = output(0, &[4, 4], &[4, 1]);
        assert_eq!(bytes_written(&work(vec![same.clone()])), 64);
        assert_eq!(bytes_written(&work(vec![same.clone(), same])), 64);
        let halves = [output(0, &[4], &[1]), output(32, &[4], &[1])];
        assert_eq!(bytes_written(&work(halves.into())), 32);
    }

    #[test]
    fn other_shapes_and_types_are_wrong() {
        let work = work(vec![output(0, &[4, 4], &[4, 1])]);
        let wanted = |dtype: &str, shape: &[u64]| vec![(dtype.to_owned(), shape.to_vec())];
        assert_eq!(differs(&work, &wanted("float32", &[4, 4])), None);
        for wanted in [
            wanted("float32", &[16]),
            wanted("float16", &[4, 4]),
            Vec::new(),
        ] {
            assert!(differs(&work, &wanted).is_some());
        }
    }
}
