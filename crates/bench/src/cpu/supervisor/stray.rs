//! Looks at a candidate as it runs: does it execute the instructions that were read?
//!
//! `object_file` reads all machine code from its start, and stages forbid instructions by what is
//! read. An address that a candidate computes as it runs may lead into the middle of an
//! instruction, where a constant holds others. No reading finds that, so a second process of the
//! candidate makes as many runs as were timed. In some of them, drawn at random, it is interrupted
//! at moments that it cannot foresee, and every thread of it has to stand where an instruction
//! begins that was read. Hidden code that saves much time also runs for much time, so a look meets
//! it.
//!
//! The process also holds the bench's own program, whose code is fast and which no stage allows. A
//! run spends little time in it, so a candidate that is often found there calls it.
//!
//! The process cannot tell that it is watched: it has no clock and cannot sleep, unless it has a
//! team of threads, which can count. Watching takes time, so it is never done while the bench's
//! clock runs.

use std::time::Duration;

use crate::cpu::layout::Fit;
use crate::cpu::object_file::Code;
use crate::cpu::supervisor::failure::{Failure, machine};
use crate::cpu::supervisor::instruments::Instruments;
use crate::cpu::supervisor::protocol::{Request, Stray};
use crate::cpu::supervisor::session::Session;
use crate::cpu::verify::Verifier;
use crate::sys;

/// Looks at a run, and the shortest and longest time between two, in seconds.
const LOOKS: f64 = 20.0;
const OFTEN_S: f64 = 20e-6;
const SELDOM_S: f64 = 2e-3;
/// How many times as long as its limit, or as the timed run, a watched one may take: it is
/// interrupted all the time.
const SLOWER: f64 = 4.0;
/// Limits of a call that all watched runs may take together, if the timed ones took no time. One
/// that dawdles only here has timed out, and does not keep the bench.
const LIMITS_MORE: f64 = 4.0;

/// The runs that were timed, the warm-up included.
pub(super) struct Runs {
    pub(super) count: usize,
    /// How many of them are looked at.
    pub(super) looked_at: usize,
    /// Calls in each, and the seconds of one.
    pub(super) calls: usize,
    pub(super) call_s: f64,
    pub(super) fit: Fit,
}

/// What the candidate executes that nobody has read, if anything.
pub(super) fn stray(
    instruments: &mut Instruments,
    request: &Request,
    verifier: &mut Verifier,
    runs: &Runs,
) -> Result<Option<Stray>, Failure> {
    let bytes = std::fs::read(&request.object).map_err(machine("reading the object again"))?;
    let Some(code) = Code::of(&bytes) else {
        return Err(Failure::Machine("the object has changed".into()));
    };
    let sets = vec![request.task.function().sizes.timed.clone(); runs.calls];
    instruments.crew.rest();
    let mut session = Session::start_watched(request, &instruments.cores, &sets, runs.fit)?;
    let lasts_s = runs.call_s * runs.calls as f64;
    let between_s = (lasts_s / LOOKS).clamp(OFTEN_S, SELDOM_S);
    let limit_s = request.limit_s * SLOWER;
    let together_s = SLOWER * lasts_s * runs.count as f64 + LIMITS_MORE * request.limit_s;
    let (mut spent_s, mut to_look_at) = (0.0, runs.looked_at);
    for left in (1..=runs.count).rev() {
        let Instruments { fresh, crew, .. } = &mut *instruments;
        session.freshen(verifier, fresh, crew, 0..runs.calls);
        crew.rest();
        let is_looked_at = fresh.index(left) < to_look_at;
        to_look_at -= usize::from(is_looked_at);
        let begin = sys::now();
        let stray = session.run_watched(fresh, 0..runs.calls, |watch, fresh| {
            watch.run(&code, limit_s, || {
                let part = fresh.index(1 << 16) as f64 / f64::from(1 << 15);
                is_looked_at.then(|| Duration::from_secs_f64(part * between_s))
            })
        })?;
        if stray.is_some() {
            return Ok(stray);
        }
        spent_s += sys::now() - begin;
        if spent_s > together_s {
            return Err(Failure::TimedOut(request.limit_s));
        }
    }
    Ok(None)
}
