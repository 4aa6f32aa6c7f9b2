//! Verifying a candidate without a clock, and the round trip of one that does nothing.

use hotloop_flow::formula::Sizes;
use hotloop_flow::statistics::quantile;

use crate::cpu::layout::Fit;
use crate::cpu::supervisor::failure::Failure;
use crate::cpu::supervisor::instruments::Instruments;
use crate::cpu::supervisor::protocol::{Answer, DRAWN, Request};
use crate::cpu::supervisor::session::Session;
use crate::cpu::supervisor::verifier::verifier;
use crate::cpu::verify::Verifier;

/// Verifies the timed size once, then in a second process all hidden sizes and some that are drawn
/// now. Once is enough to keep wrong candidates away from the clock, which verifies every run
/// again.
pub(super) fn verify(instruments: &mut Instruments, request: &Request) -> Result<Answer, Failure> {
    let mut verifier = verifier(request)?;
    let timed = std::slice::from_ref(&request.task.function().sizes.timed);
    if let Some(wrong) = verify_calls(instruments, request, &mut verifier, timed)? {
        return Ok(wrong);
    }
    let sizes = &request.task.function().sizes;
    let mut others = sizes.hidden.clone();
    let mut pick =
        |least: i64, most: i64| least + instruments.fresh.index((most - least + 1) as usize) as i64;
    let drawn: Vec<Sizes> = (0..DRAWN).map_while(|_| sizes.draw(&mut pick)).collect();
    // Twice, because state that a small problem leaves behind shows in the next one of its size.
    others.extend(drawn.iter().chain(&drawn).cloned());
    // Once, because it takes as long as the timed one.
    others.extend(sizes.draw_larger(&mut pick));
    if !others.is_empty()
        && let Some(wrong) = verify_calls(instruments, request, &mut verifier, &others)?
    {
        return Ok(wrong);
    }
    Ok(Answer::Verified(verifier.checks()))
}

/// One call per run, each checked before the next.
fn verify_calls(
    instruments: &mut Instruments,
    request: &Request,
    verifier: &mut Verifier,
    calls: &[Sizes],
) -> Result<Option<Answer>, Failure> {
    let mut session = Session::start(request, &instruments.cores, calls, Fit::Tight)?;
    for call in 0..calls.len() {
        session.freshen(
            verifier,
            &mut instruments.fresh,
            &instruments.crew,
            call..call + 1,
        );
        session.run(&mut instruments.fresh, call..call + 1, request.limit_s)?;
        session.check(
            verifier,
            &mut instruments.fresh,
            &instruments.crew,
            call..call + 1,
            true,
        )?;
        if let Some(mismatch) = verifier.mismatch(request.check) {
            return Ok(Some(Answer::Wrong(mismatch)));
        }
    }
    Ok(None)
}

/// The round trip of a run that does nothing, at its low quantile.
pub(super) fn null(instruments: &mut Instruments, request: &Request) -> Result<Answer, Failure> {
    let mut session = Session::start(
        request,
        &instruments.cores,
        std::slice::from_ref(&request.task.function().sizes.timed),
        Fit::Staggered,
    )?;
    let mut seconds = Vec::new();
    for _ in 0..200 {
        seconds.push(session.run(&mut instruments.fresh, 0..1, request.limit_s)?);
    }
    Ok(Answer::Null(quantile(&seconds, 0.25)))
}
