//! The fastest candidates, judged again when the run is over.
//!
//! The best of thousands of timings is the luckiest one. What a report calls the best code
//! is therefore chosen by fresh timings of the few that looked best.

use flow::Judgement;

use crate::ctx::Ctx;
use crate::event::{Event, Made};
use crate::interrupt::Interrupt;
use crate::judging::Batch;

/// Candidates that are judged again.
const CANDIDATES: usize = 3;
/// How often each is.
const TIMES: usize = 3;

/// Judges the fastest candidates again, or those of them that were not yet.
pub(crate) fn fastest(ctx: &mut Ctx<'_>) -> Result<(), Interrupt> {
    for (made, stage) in ctx.state.fastest(CANDIDATES) {
        let Made::Candidate { hash, .. } = &made else { continue };
        if ctx.state.confirmed.contains_key(hash) {
            continue;
        }
        let hash = hash.clone();
        let mut judgements: Vec<Judgement> = Vec::new();
        for _ in 0..TIMES {
            // One after the other: copies that are submitted together are judged once.
            let batch = Batch::submit(ctx, [((), made.clone(), stage)])?;
            batch.gather(ctx, |_, (), judged| {
                judgements.extend(judged);
                Ok(())
            })?;
        }
        ctx.record(Event::CandidateConfirmed { hash, judgements })?;
    }
    Ok(())
}
