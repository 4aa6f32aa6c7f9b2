//! The fastest candidates, judged again when the run is over.
//!
//! The best of thousands of timings is the luckiest one. What a report calls the best code
//! is therefore chosen by fresh timings of the few that looked best.

use std::sync::Arc;

use hotloop_flow::how::Estimator;
use hotloop_flow::verdict::Measured;
use hotloop_flow::{Judgement, Stage};

use crate::ctx::Ctx;
use crate::event::{Event, Made};
use crate::interrupt::Interrupt;
use crate::judging::{Batch, Entry};

/// Candidates that are judged again.
const CANDIDATES: usize = 3;
/// How often each is, at least.
const TIMES: usize = 5;
/// And until so many of its timings met a quiet machine: on a shared one, what neighbours take
/// would decide.
const QUIET: usize = 3;
/// But no more often than this: some machines are never quiet.
const MOST: usize = 25;

/// Rounds at most, while none of the fastest was right each time: a race makes whole families wrong
/// now and then.
const ROUNDS: usize = 10;

/// Judges the fastest candidates again, or those of them that were not yet; and the next ones where
/// none was right.
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
    // The paper takes its runs as they come: where its estimator decides, nothing waits for quiet
    // ones.
    let most = if ctx.plan.config.bench.how.timing == Estimator::Paper {
        TIMES
    } else {
        MOST
    };
    // In turns, so that a busy spell meets all of them, and one after the other: copies that
    // are submitted together are judged once.
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

/// Whether a candidate's speed is known well enough, or of no matter since it failed.
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
    fn a_speed_is_known_by_quiet_timings_or_not_wanted() {
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
