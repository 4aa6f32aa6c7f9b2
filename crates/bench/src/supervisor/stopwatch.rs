//! Timing one candidate: warm-up, single calls, then samples until enough are quiet.

use flow::task::CacheState;

use crate::estimate::{self, ENOUGH, Sample};
use crate::layout::Fit;
use crate::supervisor::Slot;
use crate::supervisor::child::Failure;
use crate::supervisor::protocol::{Answer, Request, TimeWork};
use crate::supervisor::session::Session;
use crate::sys;
use crate::verify::Verifier;

/// A run must last this many null round trips, so that what is taken off is a small part.
const NULLS_PER_RUN: f64 = 50.0;
/// Calls per run at most, and the memory that their buffers may take.
const CALLS_MAX: usize = 64;
const MEMORY_MAX: usize = 256 << 20;
/// Seconds of one round of samples; a machine that is not quiet gets three rounds.
const ROUND_S: f64 = 0.15;
const ROUNDS: u32 = 3;
/// Single calls that are timed before the batch size is chosen.
const SINGLES: usize = 2;

/// Times the candidate of `request`.
pub(super) fn time(slot: &mut Slot, request: &Request, work: &TimeWork) -> Result<Answer, Failure> {
    let mut verifier = super::verifier(request)?;
    let timed = &request.task.sizes.timed;
    let mut session = Session::start(request, &slot.cores, std::slice::from_ref(timed), Fit::Staggered)?;
    let mut stopwatch = Stopwatch { slot, request, work, verifier: &mut verifier, runs: 0 };
    // The warm-up is verified like any run, but not counted.
    stopwatch.run(&mut session, 1)?;
    let mut singles = Vec::new();
    let mut alone_s = f64::INFINITY;
    for _ in 0..SINGLES {
        let sample = stopwatch.sample(&mut session, 1)?;
        alone_s = alone_s.min(sample.seconds);
        singles.push(sample);
    }
    let calls = calls_per_run(alone_s, work.null_s, request.threads, session.bytes_per_call());
    let samples = if calls == 1 {
        stopwatch.collect(&mut session, 1, singles)?
    } else {
        drop(session);
        let mut session = Session::start(request, &stopwatch.slot.cores, &vec![timed.clone(); calls], Fit::Staggered)?;
        stopwatch.run(&mut session, calls)?;
        stopwatch.collect(&mut session, calls, Vec::new())?
    };
    if let Some(mismatch) = verifier.mismatch(request.check) {
        return Ok(Answer::Wrong(mismatch));
    }
    let gate = gate_of(&samples, calls);
    let timing = estimate::timing(&samples, gate, calls as u32, request.threads);
    Ok(Answer::Timed { checks: verifier.checks(), timing, single_s: alone_s })
}

fn gate_of(samples: &[Sample], calls: usize) -> f64 {
    let seconds: Vec<f64> = samples.iter().map(|sample| sample.seconds).collect();
    estimate::gate(estimate::median(&seconds) * calls as f64)
}

/// Calls per run: enough for a run to outweigh its null round trip. On several threads a call
/// alone takes up to three times as long as one in a batch, whose threads are awake already.
fn calls_per_run(single_s: f64, null_s: f64, threads: u32, bytes_per_call: usize) -> usize {
    let batched_s = if threads > 1 { single_s / 3.0 } else { single_s };
    let wanted = (NULLS_PER_RUN * null_s / batched_s.max(1e-7)).ceil() as usize;
    let fitting = (MEMORY_MAX / bytes_per_call.max(1)).max(1);
    wanted.clamp(1, CALLS_MAX.min(fitting))
}

struct Stopwatch<'a> {
    slot: &'a mut Slot,
    request: &'a Request,
    work: &'a TimeWork,
    verifier: &'a mut Verifier,
    runs: u32,
}

impl Stopwatch<'_> {
    /// One verified run of `calls` calls on fresh inputs: its seconds.
    fn run(&mut self, session: &mut Session, calls: usize) -> Result<f64, Failure> {
        self.probed_run(session, calls).map(|(seconds, _)| seconds)
    }

    /// One sample: the run's seconds per call, and how quiet its probes were.
    fn sample(&mut self, session: &mut Session, calls: usize) -> Result<Sample, Failure> {
        let (seconds, probe) = self.probed_run(session, calls)?;
        // A run at the resolution of the null round trip has no time of its own to tell.
        let seconds = ((seconds - self.work.null_s) / calls as f64).max(1e-9);
        Ok(Sample { seconds, probe })
    }

    fn probed_run(&mut self, session: &mut Session, calls: usize) -> Result<(f64, f64), Failure> {
        let memory = self.work.memory_bound;
        session.freshen(self.verifier, &mut self.slot.fresh, 0, calls);
        if self.request.task.cache == CacheState::Cold {
            session.chill();
        }
        let before = self.slot.prober().probe(memory);
        let seconds = session.run(0, calls, self.request.limit_s * calls as f64)?;
        let after = self.slot.prober().probe(memory);
        // The paper verifies its four runs; the strict check sees every run.
        let paper = self.runs < 4;
        self.runs += 1;
        if self.work.verified {
            session.check(self.verifier, &mut self.slot.fresh, 0, calls, paper)?;
        }
        Ok((seconds, before.max(after)))
    }

    /// Samples until enough are quiet, the runs are used up or the machine had its rounds.
    fn collect(&mut self, session: &mut Session, calls: usize, first: Vec<Sample>) -> Result<Vec<Sample>, Failure> {
        let mut samples = first;
        for round in 0..ROUNDS {
            let begin = sys::now();
            let end = (self.work.runs * (round + 1)) as usize;
            loop {
                let wrong = self.verifier.mismatch(self.request.check).is_some();
                let enough = self.work.gated && estimate::kept(&samples, gate_of(&samples, calls)) >= ENOUGH;
                if wrong || (!samples.is_empty() && enough) {
                    return Ok(samples);
                }
                let has_minimum = samples.len() >= ENOUGH || samples.len() >= end;
                if samples.len() >= end || (has_minimum && sys::now() - begin > ROUND_S) {
                    break;
                }
                samples.push(self.sample(session, calls)?);
            }
            if !self.work.gated {
                break;
            }
            // Contended spells last milliseconds: let one pass before the next round.
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        Ok(samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_candidates_get_many_calls_per_run() {
        assert_eq!(calls_per_run(400e-6, 6e-6, 1, 1 << 20), 1);
        assert_eq!(calls_per_run(180e-6, 60e-6, 16, 1 << 20), 50);
        assert_eq!(calls_per_run(1e-9, 60e-6, 16, 1 << 20), 64);
        assert_eq!(calls_per_run(1e-9, 60e-6, 16, 100 << 20), 2);
    }
}
