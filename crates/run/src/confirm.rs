//! Judges the fastest candidates again when the run is over.
//!
//! The best of thousands of timings is also the luckiest. So fresh timings of the few fastest
//! candidates decide which code a report calls the best.

use std::sync::Arc;

use hotloop_flow::how::Estimator;
use hotloop_flow::verdict::Measured;
use hotloop_flow::{Judgement, Stage};

use crate::ctx::Ctx;
use crate::event::{Event, Made};
use crate::interrupt::Interrupt;
use crate::judging::{Batch, Entry};

/// How many candidates are judged again.
const CANDIDATES: usize = 3;
/// Minimum number of timings of each.
const TIMES: usize = 5;
/// Minimum number of timings on a quiet machine. Otherwise neighbours on a shared machine would
/// decide the order.
const QUIET: usize = 3;
/// Maximum number of timings of each, because some machines are never quiet.
const MOST: usize = 25;

/// Maximum number of rounds while none of the fastest was correct every time. A data race makes
/// whole families of candidates fail now and then.
const ROUNDS: usize = 10;

/// Judges the fastest candidates again, except those that already were. If none was correct, it
/// goes on with the next ones.
pub(crate) fn fastest(ctx: &mut Ctx<'_>) -> Result<(), Interrupt> {
    for _ in 0..ROUNDS {
        let mut fastest = ctx.state.fastest(CANDIDATES);
        fastest.retain(|(made, _)| {
            hash(made).is_some_and(|hash| !ctx.state.confirmed.contains_key(hash))
        });
        judge_again(ctx, &fastest)?;
        if fastest.is_empty() || ctx.state.best.as_ref().is_some_and(|best| best.timings > 0) {
            break;
        }
    }
    Ok(())
}

fn judge_again(ctx: &mut Ctx<'_>, fastest: &[(Made, Option<Stage>)]) -> Result<(), Interrupt> {
    let mut judgements: Vec<Vec<Judgement>> = vec![Vec::new(); fastest.len()];
    // The paper's estimator takes every run, so nothing waits for quiet ones.
    let most = if ctx.plan.config.bench.how.timing == Estimator::Paper {
        TIMES
    } else {
        MOST
    };
    // Candidates take turns, so that a busy spell hits all of them. They are submitted one at a
    // time, because the bench judges copies that are submitted together only once.
    for turn in 0..most {
        for ((made, stage), judgements) in fastest.iter().zip(&mut judgements) {
            if turn >= TIMES && is_known(judgements) {
                continue;
            }
            let entry = Entry {
                made: made.clone(),
                task: Arc::clone(&ctx.plan.task),
                stage: *stage,
            };
            let batch = Batch::submit(ctx, [((), entry)])?;
            batch.gather(ctx, |_, (), judged| {
                judgements.extend(judged);
                Ok(())
            })?;
        }
    }
    for ((made, _), judgements) in fastest.iter().zip(judgements) {
        let Some(hash) = hash(made) else { continue };
        ctx.record(Event::CandidateConfirmed {
            hash: hash.to_owned(),
            judgements,
        })?;
    }
    Ok(())
}

/// Whether a candidate's speed is known well enough, or is irrelevant because the candidate failed.
fn is_known(judgements: &[Judgement]) -> bool {
    let timings: Vec<&Measured> = judgements
        .iter()
        .filter_map(|judgement| judgement.verdict.measured())
        .collect();
    timings.len() < judgements.len()
        || timings
            .iter()
            .filter(|measured| measured.timing.quiet)
            .count()
            >= QUIET
}

fn hash(made: &Made) -> Option<&str> {
    match made {
        Made::Candidate { hash, .. } => Some(hash),
        Made::Malformed { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use hotloop_flow::Verdict;
    use hotloop_flow::bench::Seconds;

    use super::*;

    fn timed_at(gflops: f64, quiet: bool) -> Judgement {
        let mut measured = Measured::steady(gflops, 1.0 / gflops);
        measured.timing.quiet = quiet;
        Judgement {
            verdict: Verdict::Correct(measured),
            seconds: Seconds::default(),
        }
    }

    fn wrong() -> Judgement {
        Judgement {
            verdict: Verdict::Malformed { why: String::new() },
            seconds: Seconds::default(),
        }
    }

    #[test]
    fn a_speed_is_known_after_quiet_timings_or_a_failure() {
        let (timed, wrong) = (|quiet| timed_at(1.0, quiet), wrong());
        assert!(!is_known(&[
            timed(true),
            timed(false),
            timed(true),
            timed(false),
            timed(false)
        ]));
        assert!(is_known(&[
            timed(true),
            timed(false),
            timed(true),
            timed(true)
        ]));
        assert!(is_known(&[timed(true), wrong]));
    }
}
