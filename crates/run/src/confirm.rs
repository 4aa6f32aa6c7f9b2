//! The fastest candidates, judged again when the run is over.
//!
//! The best of thousands of timings is the luckiest one. What a report calls the best code
//! is therefore chosen by fresh timings of the few that looked best.

use std::sync::Arc;

use flow::Judgement;

use crate::ctx::Ctx;
use crate::event::{Event, Made};
use crate::interrupt::Interrupt;
use crate::judging::{Batch, Entry};

/// Candidates that are judged again.
const CANDIDATES: usize = 3;
/// How often each is.
const TIMES: usize = 5;

/// Judges the fastest candidates again, or those of them that were not yet.
pub(crate) fn fastest(ctx: &mut Ctx<'_>) -> Result<(), Interrupt> {
    let mut fastest = ctx.state.fastest(CANDIDATES);
    fastest.retain(|(made, _)| hash(made).is_some_and(|hash| !ctx.state.confirmed.contains_key(hash)));
    let mut judgements: Vec<Vec<Judgement>> = vec![Vec::new(); fastest.len()];
    // In turns, so that a busy spell meets all of them, and one after the other: copies that
    // are submitted together are judged once.
    for _ in 0..TIMES {
        for ((made, stage), judgements) in fastest.iter().zip(&mut judgements) {
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

fn hash(made: &Made) -> Option<&str> {
    match made {
        Made::Candidate { hash, .. } => Some(hash),
        Made::Malformed { .. } => None,
    }
}
