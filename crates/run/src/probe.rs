//! The fixed probe: what learning is told by.
//!
//! The mean reward moves with the prompts: a better policy meets harder stages. So the
//! prompts of all stages are answered before and after a run, with the same seeds and at the
//! training temperature, and only these answers are compared.

use std::sync::Arc;

use hotloop_flow::Verdict;
use serde::Serialize;

use crate::bootstrap::estimate;
use crate::ctx::Ctx;
use crate::event::{Event, Made, ProbeJudged, When};
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

/// What a probe says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ProbeSummary {
    /// Answers that were judged.
    pub answers: usize,
    /// Share of correct ones.
    pub correct: Estimate,
    /// Mean GFLOPS, failures counted as 0.
    pub gflops: Estimate,
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
    let runs: Vec<Vec<Vec<f64>>> = states
        .iter()
        .map(|state| stages(state, when))
        .collect::<Option<_>>()?;
    Some(ProbeSummary {
        answers: runs.iter().flatten().map(Vec::len).sum(),
        correct: estimate(&runs, |stages| {
            mean(stages, |gflops| f64::from(u8::from(gflops > 0.0)))
        }),
        gflops: estimate(&runs, |stages| mean(stages, |gflops| gflops)),
        best: estimate(&runs, |stages| {
            stages
                .iter()
                .map(|stage| stage.iter().copied().fold(0.0, f64::max))
                .sum::<f64>()
                / stages.len() as f64
        }),
    })
}

/// The speeds of a probe's answers by stage.
fn stages(state: &RunState, when: When) -> Option<Vec<Vec<f64>>> {
    let probes = state.probes.iter().filter(|probe| probe.when == when);
    let stages: Vec<Vec<f64>> = probes.map(|probe| speeds(&probe.judgements)).collect();
    let wanted = state.started.as_ref()?.stages;
    (stages.len() == wanted && !stages.iter().any(Vec::is_empty)).then_some(stages)
}

/// The speeds of a stage's answers, 0 for failures; what is masked is left out.
pub(crate) fn speeds(judgements: &[Option<hotloop_flow::Judgement>]) -> Vec<f64> {
    judgements
        .iter()
        .flatten()
        .filter_map(|judgement| speed(&judgement.verdict))
        .collect()
}

/// The speed that a verdict counts with: 0 for failures, none where it is no telling.
pub(crate) fn speed(verdict: &Verdict) -> Option<f64> {
    match verdict {
        Verdict::Correct(measured) => Some(measured.gflops),
        Verdict::Suspect { .. } => None,
        Verdict::Malformed { .. }
        | Verdict::Refused { .. }
        | Verdict::NotCompiled { .. }
        | Verdict::TimedOut { .. }
        | Verdict::Crashed { .. }
        | Verdict::Wrong(_) => Some(0.0),
    }
}

pub(crate) fn mean(stages: &[Vec<f64>], of: impl Fn(f64) -> f64) -> f64 {
    let (sum, count) = stages
        .iter()
        .flatten()
        .fold((0.0, 0), |(sum, count), gflops| {
            (sum + of(*gflops), count + 1)
        });
    sum / f64::from(count)
}
