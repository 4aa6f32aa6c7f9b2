//! The fixed probe: what learning is told by.
//!
//! The mean reward moves with the prompts: a better policy meets harder stages. So six
//! stage prompts are answered before and after a run, with the same seeds and at the
//! training temperature, and only these answers are compared.

use std::sync::Arc;

use hotloop_flow::{Pace, Stage, Verdict};
use serde::Serialize;

use crate::bootstrap::estimate;
use crate::ctx::Ctx;
use crate::event::{Event, Made, ProbeJudged, When};
use crate::fared::Fared;
use crate::interrupt::Interrupt;
use crate::judging::{Batch, Entry};
use crate::sampling;
use crate::state::RunState;

pub use crate::bootstrap::Estimate;

/// Takes the probe, or what is still missing of it.
pub(crate) fn take(ctx: &mut Ctx<'_>, when: When) -> Result<(), Interrupt> {
    if ctx.plan.config.stepping.probe == 0 {
        return Ok(());
    }
    for stage in Stage::ALL {
        if ctx
            .state
            .probes
            .iter()
            .any(|probe| probe.when == when && probe.stage == stage)
        {
            continue;
        }
        ctx.check_stop()?;
        let made = sampling::sample_probe(ctx, stage)?;
        let mut judgements: Vec<Option<hotloop_flow::Judgement>> =
            made.iter().map(malformed).collect();
        let well_formed = made
            .into_iter()
            .enumerate()
            .filter(|(_, made)| matches!(made, Made::Candidate { .. }));
        let task = &ctx.plan.task;
        let entry = |made| Entry {
            made,
            task: Arc::clone(task),
            stage: Some(stage),
        };
        let batch = Batch::submit(ctx, well_formed.map(|(index, made)| (index, entry(made))))?;
        batch.gather(ctx, |_, index, judged| {
            judgements[index] = judged.ok();
            Ok(())
        })?;
        ctx.record(Event::ProbeJudged(Box::new(ProbeJudged {
            when,
            stage,
            judgements,
        })))?;
    }
    Ok(())
}

fn malformed(made: &Made) -> Option<hotloop_flow::Judgement> {
    match made {
        Made::Malformed { why } => Some(hotloop_flow::Judgement {
            verdict: Verdict::Malformed { why: why.clone() },
            seconds: hotloop_flow::bench::Seconds::default(),
        }),
        Made::Candidate { .. } => None,
    }
}

/// What a probe says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ProbeSummary {
    /// Answers that were judged.
    pub answers: usize,
    /// Share of correct ones.
    pub correct: Estimate,
    /// Mean speed in the task's unit, failures counted as 0.
    pub speed: Estimate,
    /// The mean over the stages of each one's fastest.
    pub best: Estimate,
}

/// What a run's probe says, when all of it was taken.
pub fn summary(state: &RunState, when: When) -> Option<ProbeSummary> {
    pooled(&[state], when)
}

/// What the probes of several runs say together, when all of them were taken. Runs that
/// differ in their seed differ by more than their answers, so the intervals resample the
/// runs as well.
pub fn pooled(states: &[&RunState], when: When) -> Option<ProbeSummary> {
    let runs: Vec<Vec<Vec<Fared>>> = states
        .iter()
        .map(|state| stages(state, when))
        .collect::<Option<_>>()?;
    let fastest = |stage: &Vec<Fared>| stage.iter().map(|one| one.speed).fold(0.0, f64::max);
    Some(ProbeSummary {
        answers: runs.iter().flatten().map(Vec::len).sum(),
        correct: estimate(&runs, Fared::share_correct),
        speed: estimate(&runs, Fared::mean_speed),
        best: estimate(&runs, |stages| {
            stages.iter().map(fastest).sum::<f64>() / stages.len() as f64
        }),
    })
}

/// How a probe's answers fared, by stage.
fn stages(state: &RunState, when: When) -> Option<Vec<Vec<Fared>>> {
    let probes = state.probes.iter().filter(|probe| probe.when == when);
    let stages: Vec<Vec<Fared>> = probes
        .map(|probe| fared(&probe.judgements, state.pace()))
        .collect();
    (stages.len() == Stage::ALL.len() && !stages.iter().any(Vec::is_empty)).then_some(stages)
}

/// How a stage's answers fared; what is masked is left out.
pub(crate) fn fared(judgements: &[Option<hotloop_flow::Judgement>], pace: Pace) -> Vec<Fared> {
    let judged = judgements.iter().flatten();
    Fared::all(judged.map(|judgement| &judgement.verdict), pace)
}
