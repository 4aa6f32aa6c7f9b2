//! The fixed probe, which shows whether a policy learned.
//!
//! The mean reward changes with the prompts, because a better policy reaches harder stages. So a
//! run asks the prompts of all stages before its first step and after its last. It uses the same
//! seeds and the training temperature, and compares only these answers.

use std::sync::Arc;

use hotloop_flow::{Pace, Verdict};
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

/// Takes the probe, or its missing stages.
pub(crate) fn take(ctx: &mut Ctx<'_>, when: When) -> Result<(), Interrupt> {
    if ctx.plan.config.stepping.probe == 0 {
        return Ok(());
    }
    let task = Arc::clone(&ctx.plan.task);
    for stage in task.spec.stages.iter().map(|rules| rules.stage) {
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
        let entry = |made| Entry {
            made,
            task: Arc::clone(&task),
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

/// A probe's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ProbeSummary {
    /// Answers that were judged.
    pub answers: usize,
    /// Share of correct answers.
    pub correct: Estimate,
    /// Mean speed in the task's unit, failures counted as 0.
    pub speed: Estimate,
    /// The mean over stages of the fastest answer in each.
    pub best: Estimate,
}

/// The numbers of a run's probe, if it is complete.
pub fn summary(state: &RunState, when: When) -> Option<ProbeSummary> {
    pooled(&[state], when)
}

/// The numbers of several runs' probes together, if all are complete. Runs with different seeds
/// differ in more than their answers, so the intervals resample the runs as well.
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

/// The outcomes of a probe's answers, by stage.
fn stages(state: &RunState, when: When) -> Option<Vec<Vec<Fared>>> {
    let probes = state.probes.iter().filter(|probe| probe.when == when);
    let stages: Vec<Vec<Fared>> = probes
        .map(|probe| fared(&probe.judgements, state.pace()))
        .collect();
    let wanted = state.started.as_ref()?.stages;
    (stages.len() == wanted && !stages.iter().any(Vec::is_empty)).then_some(stages)
}

/// The outcomes of a stage's answers. Masked ones are left out.
pub(crate) fn fared(judgements: &[Option<hotloop_flow::Judgement>], pace: Pace) -> Vec<Fared> {
    let judged = judgements.iter().flatten();
    Fared::all(judged.map(|judgement| &judgement.verdict), pace)
}
