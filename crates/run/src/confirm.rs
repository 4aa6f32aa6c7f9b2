//! The fastest candidates, judged again when the run is over.
//!
//! The best of thousands of timings is the luckiest one. What a report calls the best code
//! is therefore chosen by fresh timings of the few that looked best.

use std::sync::Arc;

use flow::Judgement;
use flow::verdict::Measured;

use crate::ctx::Ctx;
use crate::event::{Event, Made};
use crate::interrupt::Interrupt;
use crate::judging::{Batch, Entry};

/// Candidates that are judged again.
const CANDIDATES: usize = 3;
/// How often each is, at least.
const TIMES: usize = 5;
/// And until so many of its timings met a quiet machine: on a shared one, what neighbours take would decide.
const QUIET: usize = 3;
/// But no more often than this: some machines are never quiet.
const MOST: usize = 25;

/// Judges the fastest candidates again, or those of them that were not yet.
pub(crate) fn fastest(ctx: &mut Ctx<'_>) -> Result<(), Interrupt> {
    let mut fastest = ctx.state.fastest(CANDIDATES);
    fastest.retain(|(made, _)| hash(made).is_some_and(|hash| !ctx.state.confirmed.contains_key(hash)));
    let mut judgements: Vec<Vec<Judgement>> = vec![Vec::new(); fastest.len()];
    // In turns, so that a busy spell meets all of them, and one after the other: copies that
    // are submitted together are judged once.
    for turn in 0..MOST {
        for ((made, stage), judgements) in fastest.iter().zip(&mut judgements) {
            if turn >= TIMES && is_known(judgements) {
                continue;
            }
            let entry = Entry { made: made.clone(), task: Arc::clone(&ctx.plan.task), stage: *stage };
            let batch = Batch::submit(ctx, [((), entry)])?;
            batch.gather(ctx, |_, (), judged| {
                judgements.extend(judged);
                Ok(())
            })?;
        }
    }
    for ((made, _), judgements) in fastest.iter().zip(judgements) {
        let Some(hash) = hash(made) else { continue };
        ctx.record(Event::CandidateConfirmed { hash: hash.to_owned(), judgements })?;
    }
    Ok(())
}

/// Whether a candidate's speed is known well enough, or of no matter since it failed.
fn is_known(judgements: &[Judgement]) -> bool {
    let timings: Vec<&Measured> = judgements.iter().filter_map(|judgement| judgement.verdict.measured()).collect();
    timings.len() < judgements.len() || timings.iter().filter(|measured| measured.timing.quiet).count() >= QUIET
}

fn hash(made: &Made) -> Option<&str> {
    match made {
        Made::Candidate { hash, .. } => Some(hash),
        Made::Malformed { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flow::Verdict;
    use flow::bench::Seconds;

    #[test]
    fn a_speed_is_known_by_quiet_timings_or_not_wanted() {
        let timed = |quiet| {
            let mut measured = Measured::steady(1.0, 1.0);
            measured.timing.quiet = quiet;
            Judgement { verdict: Verdict::Correct(measured), seconds: Seconds::default() }
        };
        let wrong = Judgement { verdict: Verdict::Malformed { why: String::new() }, seconds: Seconds::default() };
        assert!(!is_known(&[timed(true), timed(false), timed(true), timed(false), timed(false)]));
        assert!(is_known(&[timed(true), timed(false), timed(true), timed(true)]));
        assert!(is_known(&[timed(true), wrong]));
    }
}
