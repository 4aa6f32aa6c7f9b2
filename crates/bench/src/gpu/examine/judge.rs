//! One candidate, from its plans to an answer.

use std::time::{Duration, Instant};

use hotloop_flow::formula;
use hotloop_flow::how::Estimator;
use hotloop_flow::measured::{Checks, Measured, Work as Counted};
use hotloop_flow::verdict::Mismatch;

use crate::gpu::driver::Failure;
use crate::gpu::examine::baseline::Baselines;
use crate::gpu::examine::greed::blame;
use crate::gpu::examine::making::Making;
use crate::gpu::examine::pool::{Lost, PATIENCE};
use crate::gpu::examine::roof::{Limit, Roofs};
use crate::gpu::examine::round::{Ended, Need, need_of};
use crate::gpu::examine::runner::{FromRunner, ToRunner};
use crate::gpu::examine::station::Station;
use crate::gpu::examine::timing::{self, Idle, Run};
use crate::gpu::examine::verify::Reference;
use crate::gpu::examine::work::{Answer, Trouble, Work};
use crate::gpu::image::Image;
use crate::gpu::plan::{Origin, Plan};
use crate::gpu::replay::is_sound;
use crate::gpu::trusted::Shape;

/// Bytes that a candidate may allocate: so many, or a part of the GPU's memory.
const OWN_BYTES: u64 = 16 << 30;
const OWN_PART: u64 = 4;
/// A part of the GPU's memory that must be free for a lack of memory to be the candidate's fault.
const FREE_PART: u64 = 8;
/// How many calls a candidate may take its whole limit for.
pub(super) const BUDGET_CALLS: f64 = 8.0;
/// Groups of untimed calls, one before and the others between timed ones.
const GROUPS: usize = 3;
/// Timings of a candidate that is too fast to be true.
pub(super) const TIMINGS: usize = 3;
/// Rounds that show whether the GPU is busy with something else.
pub(super) const PROBES: usize = 5;

/// Errors by which the driver says that the GPU or its software failed; a candidate can hardly
/// cause them, and is judged again before either is blamed.
const OF_THE_MACHINE: [u32; 12] = [3, 4, 46, 100, 101, 214, 220, 304, 802, 803, 804, 999];

/// What candidates are measured against.
#[derive(Default)]
pub(super) struct Yardsticks {
    pub(super) roofs: Roofs,
    pub(super) baselines: Baselines,
}

/// Why a judgement ends before its end.
pub(super) enum Stop {
    Answer(Box<Answer>),
    /// The driver's number and words, or the words of a lost runner.
    Failed(Option<u32>, String),
    Trouble(Trouble),
}

impl Stop {
    pub(super) fn answer(answer: Answer) -> Self {
        Self::Answer(Box::new(answer))
    }
}

impl<T: Into<Trouble>> From<T> for Stop {
    fn from(trouble: T) -> Self {
        Self::Trouble(trouble.into())
    }
}

impl Station {
    /// Judges a candidate. A failure that only the candidate can have caused is an answer.
    pub(super) fn judge(
        &mut self,
        work: &Work,
        yardsticks: &mut Yardsticks,
    ) -> Result<Answer, Trouble> {
        if let Some(answer) = refuse(work, self.total_bytes) {
            return Ok(answer);
        }
        let mut reference = self.load_reference(&work.reference)?;
        let judged = self.judge_loaded(work, &mut reference, yardsticks);
        self.unload_reference(&reference)?;
        judged.or_else(|trouble| blame(&work.candidate, &work.plans, trouble))
    }

    fn judge_loaded(
        &mut self,
        work: &Work,
        reference: &mut Reference,
        yardsticks: &mut Yardsticks,
    ) -> Result<Answer, Trouble> {
        self.clear_desk(work)?;
        let most = largest_need(work);
        self.make_room(most.inputs, most.work)?;
        let mut failed_before = false;
        loop {
            let attempt = self.attempt(work, reference, yardsticks);
            if outlives_unloading(&work.candidate, &work.plans) {
                self.lose_runner();
            }
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

    /// Whether a failure may be the machine's.
    pub(super) fn is_doubtful(&mut self, code: Option<u32>) -> Result<bool, Trouble> {
        match code {
            Some(Failure::OUT_OF_MEMORY) => {
                // Memory that the candidate's own runner holds is not missing on the machine.
                self.lose_runner();
                let free = self.gpu.free_bytes()?;
                if free < self.total_bytes / FREE_PART {
                    return Err(Trouble::Memory(format!(
                        "the GPU has only {free} free bytes: other processes hold the rest"
                    )));
                }
                Ok(false)
            }
            Some(code) => Ok(OF_THE_MACHINE.contains(&code)),
            None => Ok(true),
        }
    }

    /// Unloads the candidate and overwrites what it left.
    pub(super) fn forget(&mut self, everywhere: bool) -> Result<(), Trouble> {
        self.unload_candidate()?;
        self.inputs.wipe(&self.gpu, &self.kernels, false)?;
        self.work.wipe(&self.gpu, &self.kernels, everywhere)?;
        self.gpu.synchronize()?;
        Ok(())
    }

    /// Has the runner forget the candidate's code and all that its variables hold.
    pub(super) fn unload_candidate(&mut self) -> Result<(), Trouble> {
        if self.has_runner() {
            match self.ask(&ToRunner::Unload, &[], PATIENCE)? {
                Ok((FromRunner::Unloaded, _)) => {}
                Ok(_) | Err(_) => self.lose_runner(),
            }
        }
        Ok(())
    }

    fn attempt(
        &mut self,
        work: &Work,
        reference: &mut Reference,
        yardsticks: &mut Yardsticks,
    ) -> Result<Answer, Stop> {
        self.runner()?;
        self.load_candidate(vec![work.candidate.clone()], work.plans.clone(), false)?;
        let mut trial = Trial::default();
        let turn = self.fresh.index(Shape::HOSTILE.len());
        let timed = work.calls.len() - 1;
        let mut groups = self.groups(work, timed, turn);
        // The first group also wakes the GPU up.
        self.round(work, reference, &groups.remove(0), &mut trial)?;
        let [first, second] = Making::hostile(timed);
        let first = self.round(work, reference, &[first], &mut trial)?;
        let expected = first.iter().map(|run| run.clocked.seconds).sum();
        let plain = vec![Making::uniform(timed)];
        let mut order = vec![plain.clone(); timing::runs_of(expected)];
        groups.push(vec![second]);
        for group in groups {
            let at = self.fresh.index(order.len() + 1);
            order.insert(at, group);
        }
        for calls in order {
            let runs = self.round(work, reference, &calls, &mut trial)?;
            if calls == plain {
                trial.runs.extend(runs);
            }
        }
        let answer = self.time(work, reference, &mut trial, yardsticks)?;
        self.check_rest()?;
        Ok(answer)
    }

    /// Has the runner load images and the plans that name them. `touches` says whether each run
    /// begins by looking up its pages, which a module that was just loaded makes unknown.
    pub(super) fn load_candidate(
        &mut self,
        mut images: Vec<Image>,
        plans: Vec<Plan>,
        touches: bool,
    ) -> Result<(), Stop> {
        let code = images.iter_mut().map(|it| std::mem::take(&mut it.cubin));
        let mut code: Vec<Vec<u8>> = code.collect();
        if touches {
            code.push(self.trusted.clone());
        }
        let code: Vec<&[u8]> = code.iter().map(Vec::as_slice).collect();
        let request = ToRunner::Load {
            images,
            plans,
            touches,
        };
        let ended = match self.ask(&request, &code, PATIENCE)? {
            Ok((FromRunner::Loaded, _)) => return Ok(()),
            Ok((answer, _)) => self.ended(answer)?,
            Err(lost) => {
                self.lose_runner();
                Ended::Lost(lost)
            }
        };
        Err(stop(ended, PATIENCE.as_secs_f64()))
    }

    /// The untimed calls, shuffled, in groups that fit into memory; the first groups are not empty.
    fn groups(&mut self, work: &Work, timed: usize, turn: usize) -> Vec<Vec<Making>> {
        let mut calls: Vec<usize> = (0..timed).collect();
        for last in (1..calls.len()).rev() {
            let other = self.fresh.index(last + 1);
            calls.swap(last, other);
        }
        let most = calls.len().div_ceil(GROUPS).max(1);
        let (inputs, outputs) = (self.inputs.bytes(), self.work.bytes());
        let mut groups = vec![Vec::new()];
        let mut taken = Need::default();
        for call in calls {
            let need = need_of(work, call).unwrap_or_default();
            let last = groups.last().map_or(0, Vec::len);
            let fits = taken.inputs + need.inputs <= inputs && taken.work + need.work <= outputs;
            if last == most || !fits {
                groups.push(Vec::new());
                taken = Need::default();
            }
            taken.inputs += need.inputs;
            taken.work += need.work;
            if let Some(group) = groups.last_mut() {
                group.push(Making::untimed(&work.calls, call, turn));
            }
        }
        groups
    }

    /// Makes calls on fresh inputs, one after the other, and checks them all.
    fn round(
        &mut self,
        work: &Work,
        reference: &mut Reference,
        calls: &[Making],
        trial: &mut Trial,
    ) -> Result<Vec<Run>, Stop> {
        let limit = Duration::from_secs_f64(work.limit_s);
        let round = self.lay(work, calls)?;
        let mut runs = Vec::new();
        for laid in &round {
            let since = Instant::now();
            let ended = self.run(laid.call, &laid.spots, limit)?;
            trial.spent_s += since.elapsed().as_secs_f64();
            let Ended::Ran(run) = ended else {
                return Err(stop(ended, work.limit_s));
            };
            if trial.spent_s > BUDGET_CALLS * work.limit_s {
                return Err(Stop::answer(Answer::TimedOut(work.limit_s)));
            }
            runs.push(run);
        }
        match self.verify(work, reference, &round)? {
            Ok(error) => trial.error = trial.error.max(error),
            Err(mismatch) => return Err(Stop::answer(Answer::Wrong(mismatch))),
        }
        Ok(runs)
    }

    /// Makes more runs until they are steady, and asks whether they can be believed.
    fn time(
        &mut self,
        work: &Work,
        reference: &mut Reference,
        trial: &mut Trial,
        yardsticks: &mut Yardsticks,
    ) -> Result<Answer, Stop> {
        let plain = Making::uniform(work.calls.len() - 1);
        let mut doubt = None;
        for again in 0..TIMINGS {
            if again > 0 {
                trial.runs.clear();
            }
            while !timing::is_enough(&trial.runs) {
                let runs = self.round(work, reference, &[plain], trial)?;
                trial.runs.extend(runs);
            }
            let idle = self.idle()?;
            let now = self
                .rest_with_a_candidate(PROBES)?
                .map_err(|how| Stop::Failed(None, how))?;
            let (measured, limit) = self.measure(work, trial, (&idle, &now), yardsticks)?;
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

    fn measure(
        &mut self,
        work: &Work,
        trial: &Trial,
        (idle, now): (&Idle, &Idle),
        yardsticks: &mut Yardsticks,
    ) -> Result<(Measured, Limit), Stop> {
        let alone = !timing::is_busy(idle, now);
        let timing = timing::timing(&trial.runs, idle, alone);
        let counted = counted(work);
        let limit = yardsticks.roofs.limit(self, &counted)?;
        let baseline = yardsticks.baselines.of(self, work)?;
        let seconds = match work.how.timing {
            Estimator::Gated => timing.median_s,
            Estimator::Paper => timing.paper_s,
        };
        let measured = Measured {
            seconds,
            work: counted,
            baseline,
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

    /// Checks that nothing has changed where no buffer was.
    pub(super) fn check_rest(&mut self) -> Result<(), Stop> {
        self.gpu.set(self.results, &[0; 4], 8)?;
        self.work
            .check_rest(&self.gpu, &self.kernels, self.results)?;
        let mut broken = [0; 8];
        self.gpu.download(self.results, &mut broken)?;
        if broken == [0; 8] {
            return Ok(());
        }
        Err(Stop::answer(Answer::Wrong(Mismatch {
            why: "wrote far outside of its buffers".to_owned(),
            error: f64::INFINITY,
            paper: false,
        })))
    }
}

/// What is known of a candidate so far.
#[derive(Default)]
pub(super) struct Trial {
    /// The worst error.
    pub(super) error: f64,
    /// Seconds that its runs took.
    pub(super) spent_s: f64,
    /// Runs of the timed call.
    pub(super) runs: Vec<Run>,
}

pub(super) fn stop(ended: Ended, limit_s: f64) -> Stop {
    match ended {
        Ended::Refused(why) => Stop::answer(Answer::Refused(why)),
        Ended::Failed(code, how) => Stop::Failed(Some(code), how),
        Ended::Lost(Lost::Silent) => Stop::answer(Answer::TimedOut(limit_s)),
        Ended::Lost(Lost::Gone(how)) => {
            Stop::Failed(None, format!("the process that ran it ended by {how}"))
        }
        Ended::Ran(_) => Stop::Trouble(Trouble::Machine("a runner ran what it should load".into())),
    }
}

/// What can be said before anything runs.
fn refuse(work: &Work, total_bytes: u64) -> Option<Answer> {
    let refused = |why: &str| Some(Answer::Refused(why.to_owned()));
    if work.calls.is_empty() || work.plans.len() != work.calls.len() {
        return refused("there is not one plan for each call");
    }
    for (plan, call) in work.plans.iter().zip(&work.calls) {
        let fits = plan.buffers.iter().all(|buffer| match buffer.origin {
            Origin::Argument(at) => matches!(
                call.arguments.get(at),
                Some(crate::gpu::call::Passed::Buffer(bytes)) if *bytes >= buffer.bytes
            ),
            Origin::Own | Origin::Variable { .. } => true,
        });
        if !fits || !is_sound(plan) {
            return refused("its plan names buffers that the call does not have");
        }
        let own = plan
            .buffers
            .iter()
            .filter(|buffer| buffer.origin == Origin::Own);
        let own = own.map(|buffer| u128::from(buffer.bytes)).sum::<u128>();
        if own > u128::from(OWN_BYTES.min(total_bytes / OWN_PART)) {
            return Some(Answer::Crashed(format!(
                "CUDA_ERROR_OUT_OF_MEMORY (allocating {own} bytes)"
            )));
        }
    }
    None
}

/// Whether a candidate may leave in its runner what unloading its code does not remove: memory of
/// the device's heap, or the word at which the blocks of a cooperative launch meet.
pub(super) fn outlives_unloading(candidate: &Image, plans: &[Plan]) -> bool {
    let mut launches = plans.iter().flat_map(Plan::launches);
    candidate.uses_heap || launches.any(|launch| launch.cooperative)
}

fn largest_need(work: &Work) -> Need {
    let needs = (0..work.calls.len()).filter_map(|call| need_of(work, call));
    needs.fold(Need::default(), |most, need| Need {
        inputs: most.inputs.max(need.inputs),
        work: most.work.max(need.work),
    })
}

/// The work of the timed call, as far as the task counts it.
fn counted(work: &Work) -> Counted {
    let sizes = &work.task.function().sizes.timed;
    let count = |text: &String| {
        let count = formula::evaluate(text, sizes).expect("checked by Task::parse");
        (count > 0.0).then_some(count)
    };
    Counted {
        flops: work.task.cost.flops.as_ref().and_then(count),
        bytes: count(&work.task.cost.bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::plan::{Launch, Step};

    #[test]
    fn a_runner_retires_after_the_heap_or_a_cooperative_launch() {
        let plan = |cooperative| Plan {
            steps: vec![Step::Launch(Launch {
                image: 0,
                kernel: "k".to_owned(),
                grid: [1, 1, 1],
                block: [32, 1, 1],
                shared: 0,
                cooperative,
                cluster: None,
                arguments: Vec::new(),
            })],
            ..Plan::default()
        };
        let image = |uses_heap| Image {
            uses_heap,
            ..Image::default()
        };
        assert!(!outlives_unloading(&image(false), &[plan(false)]));
        assert!(outlives_unloading(&image(true), &[plan(false)]));
        assert!(outlives_unloading(
            &image(false),
            &[plan(false), plan(true)]
        ));
    }
}
