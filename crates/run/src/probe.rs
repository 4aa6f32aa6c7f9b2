//! The fixed probe: what learning is told by.
//!
//! The mean reward moves with the prompts: a better policy meets harder stages. So six
//! stage prompts are answered before and after a run, with the same seeds and at the
//! training temperature, and only these answers are compared.

use flow::random::Random;
use flow::{Stage, Verdict};
use serde::Serialize;

use crate::ctx::Ctx;
use crate::event::{Event, Made, ProbeJudged, When};
use crate::interrupt::Interrupt;
use crate::judging::Batch;
use crate::sampling;
use crate::source;
use crate::state::RunState;

/// Resamples behind an interval.
const RESAMPLES: usize = 2000;
/// Any will do, as long as it is always the same.
const BOOTSTRAP_SEED: u64 = 0x70_726f_6265;

/// Takes the probe, or what is still missing of it.
pub(crate) fn take(ctx: &mut Ctx<'_>, when: When) -> Result<(), Interrupt> {
    if ctx.plan.config.stepping.probe == 0 {
        return Ok(());
    }
    for stage in Stage::ALL {
        if ctx.state.probes.iter().any(|probe| probe.when == when && probe.stage == stage) {
            continue;
        }
        ctx.check_stop()?;
        let made = sampling::sample_probe(ctx, &source::probe(stage))?;
        let mut judgements: Vec<Option<flow::Judgement>> = made.iter().map(malformed).collect();
        let well_formed = made.into_iter().enumerate().filter(|(_, made)| matches!(made, Made::Candidate { .. }));
        let jobs: Vec<(usize, Made, Option<Stage>)> =
            well_formed.map(|(index, made)| (index, made, Some(stage))).collect();
        let batch = Batch::submit(ctx, jobs)?;
        batch.gather(ctx, |_, index, judged| {
            judgements[index] = judged.ok();
            Ok(())
        })?;
        ctx.record(Event::ProbeJudged(Box::new(ProbeJudged { when, stage, judgements })))?;
    }
    Ok(())
}

fn malformed(made: &Made) -> Option<flow::Judgement> {
    match made {
        Made::Malformed { why } => Some(flow::Judgement {
            verdict: Verdict::Malformed { why: why.clone() },
            seconds: flow::bench::Seconds::default(),
        }),
        Made::Candidate { .. } => None,
    }
}

/// A number and its 95 % bootstrap interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// Of all answers.
    pub value: f64,
    /// 2.5 % of the resamples lie below.
    pub low: f64,
    /// 2.5 % of the resamples lie above.
    pub high: f64,
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
    let runs: Vec<Vec<Vec<f64>>> = states.iter().map(|state| stages(state, when)).collect::<Option<_>>()?;
    Some(ProbeSummary {
        answers: runs.iter().flatten().map(Vec::len).sum(),
        correct: estimate(&runs, |stages| mean(stages, |gflops| f64::from(u8::from(gflops > 0.0)))),
        gflops: estimate(&runs, |stages| mean(stages, |gflops| gflops)),
        best: estimate(&runs, |stages| {
            stages.iter().map(|stage| stage.iter().copied().fold(0.0, f64::max)).sum::<f64>() / stages.len() as f64
        }),
    })
}

/// The speeds of a probe's answers by stage.
fn stages(state: &RunState, when: When) -> Option<Vec<Vec<f64>>> {
    let stages: Vec<Vec<f64>> = state.probes.iter().filter(|probe| probe.when == when).map(speeds).collect();
    (stages.len() == Stage::ALL.len() && !stages.iter().any(Vec::is_empty)).then_some(stages)
}

/// The speeds of a stage's answers, 0 for failures; what is masked is left out.
fn speeds(probe: &ProbeJudged) -> Vec<f64> {
    let speed = |judgement: &flow::Judgement| match &judgement.verdict {
        Verdict::Correct(measured) => Some(measured.gflops),
        Verdict::Suspect { .. } => None,
        Verdict::Malformed { .. }
        | Verdict::Refused { .. }
        | Verdict::NotCompiled { .. }
        | Verdict::TimedOut { .. }
        | Verdict::Crashed { .. }
        | Verdict::Wrong(_) => Some(0.0),
    };
    probe.judgements.iter().flatten().filter_map(speed).collect()
}

fn mean(stages: &[Vec<f64>], of: impl Fn(f64) -> f64) -> f64 {
    let (sum, count) = stages.iter().flatten().fold((0.0, 0), |(sum, count), gflops| (sum + of(*gflops), count + 1));
    sum / f64::from(count)
}

/// Resamples runs, and answers within their stages: the stages are fixed, the rest is chance.
fn estimate(runs: &[Vec<Vec<f64>>], of: impl Fn(&[Vec<f64>]) -> f64) -> Estimate {
    let over = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    let mut random = Random::new(BOOTSTRAP_SEED);
    let mut drawn: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let draws = runs.iter().map(|_| {
                let stages = &runs[random.below(runs.len())];
                let resample: Vec<Vec<f64>> = stages
                    .iter()
                    .map(|stage| (0..stage.len()).map(|_| stage[random.below(stage.len())]).collect())
                    .collect();
                of(&resample)
            });
            over(draws.collect())
        })
        .collect();
    drawn.sort_by(f64::total_cmp);
    let value = over(runs.iter().map(|stages| of(stages)).collect());
    Estimate { value, low: drawn[RESAMPLES / 40], high: drawn[RESAMPLES - 1 - RESAMPLES / 40] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_hold_the_value_and_narrow_with_more_answers() {
        let answers = |count: usize| -> Vec<Vec<f64>> {
            (0..6).map(|_| (0..count).map(|at| if at % 2 == 0 { 10.0 } else { 0.0 }).collect()).collect()
        };
        let of = |runs: &[Vec<Vec<f64>>]| estimate(runs, |stages| mean(stages, |gflops| gflops));
        let (few, many) = (of(&[answers(16)]), of(&[answers(256)]));
        assert!((few.value - 5.0).abs() < 1e-12);
        assert!(few.low < 5.0 && few.high > 5.0);
        assert!(many.high - many.low < (few.high - few.low) / 3.0);
        // 96 answers of 0 or 10: the standard error is 0.51, the interval 5 +- 1.
        assert!((few.high - few.low - 2.0).abs() < 0.3, "{few:?}");
    }

    #[test]
    fn runs_that_disagree_widen_the_interval() {
        let run = |gflops: f64| vec![vec![gflops; 64]; 6];
        let agree = estimate(&[run(5.0), run(5.0), run(5.0)], |stages| mean(stages, |gflops| gflops));
        let differ = estimate(&[run(1.0), run(5.0), run(9.0)], |stages| mean(stages, |gflops| gflops));
        assert!((agree.high - agree.low).abs() < 1e-12);
        assert!((differ.value - 5.0).abs() < 1e-12 && differ.low < 2.5 && differ.high > 7.5, "{differ:?}");
    }
}
