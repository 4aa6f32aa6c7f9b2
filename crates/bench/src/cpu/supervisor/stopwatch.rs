//! Timing one candidate: warm-up, single calls, then samples until enough are quiet.

use hotloop_flow::how::{Check, Estimator};
use hotloop_flow::statistics;
use hotloop_flow::task::CacheState;

use crate::cpu::layout::Fit;
use crate::cpu::supervisor::failure::Failure;
use crate::cpu::supervisor::instruments::Instruments;
use crate::cpu::supervisor::protocol::{Answer, Request, TimeWork};
use crate::cpu::supervisor::session::Session;
use crate::cpu::supervisor::stray::{Runs, stray};
use crate::cpu::supervisor::verifier::verifier;
use crate::cpu::verify::Verifier;
use crate::estimate::{self, ENOUGH, LEAST, Sample};
use crate::settings::TEAM_RUN_S;
use crate::sys;

/// A run must last this many null round trips, so that what is taken off is a small part.
const NULLS_PER_RUN: f64 = 50.0;
/// Calls per run at most, as many more where teams run longer, and the memory that their buffers
/// may take. Calls that are shorter than three quarters of a null round trip stay below the fifty:
/// every call of a run is drawn and verified.
const CALLS_MAX: usize = 64;
const MEMORY_MAX: usize = 256 << 20;
/// Seconds of one round of samples; a machine that is not quiet gets as many rounds as it is asked
/// for.
const ROUND_S: f64 = 0.1;
/// Seconds after which enough quiet samples do, were they ever so few.
const SETTLED_S: f64 = 0.02;
/// Single calls that are timed before the batch size is chosen, and before batches are timed: those
/// are short, and the fastest of them is what a batch is held against.
const SINGLES: usize = 2;
const SINGLES_BEFORE_BATCH: usize = 10;

/// One in so many candidates is looked at in all runs of the watch. Of the others as many runs are
/// looked at as a quiet machine times: looking at all would take half as long as timing.
const WATCHED_WHOLE: usize = 4;

/// Limits of a call that all runs of a timing may take together. An honest candidate at its limit
/// takes fewer, and the bench waits longer for a timing: one that dawdles in every run is the
/// candidate's fault, and never a supervisor that does not answer.
const LIMITS_TOGETHER: f64 = 60.0;

/// Times the candidate of `request`.
///
/// The calls per run grow until a run outweighs its null round trip by the samples that count: a
/// candidate whose first calls only pretend to be slow gains nothing by it.
pub(super) fn time(
    instruments: &mut Instruments,
    request: &Request,
    work: &TimeWork,
) -> Result<Answer, Failure> {
    let mut verifier = verifier(request)?;
    let mut stopwatch = Stopwatch {
        instruments,
        request,
        work,
        verifier: &mut verifier,
        runs: 0,
        cold_runs: 0,
        spent_s: 0.0,
    };
    let mut calls = 1;
    let mut single_s = f64::INFINITY;
    let samples = loop {
        let (samples, wanted) = stopwatch.series(calls)?;
        if calls == 1 {
            single_s = fastest(&samples);
        }
        let is_wrong = stopwatch.verifier.mismatch(request.check).is_some();
        if is_wrong || wanted <= calls {
            break samples;
        }
        calls = wanted;
    };
    let began = began(stopwatch.runs, stopwatch.cold_runs);
    if let Some(mismatch) = verifier.mismatch(request.check) {
        return Ok(Answer::Wrong(mismatch));
    }
    if request.watched {
        let runs = Runs {
            count: 1 + samples.len(),
            looked_at: looked_at(samples.len(), instruments.fresh.index(WATCHED_WHOLE)),
            calls,
            call_s: fastest(&samples),
            fit: fit(request, calls),
        };
        if let Some(stray) = stray(instruments, request, &mut verifier, &runs)? {
            return Ok(Answer::Strayed(stray));
        }
    }
    let gate = gate_of(&samples, calls);
    let timing = estimate::timing(&samples, gate, calls as u32, request.threads);
    Ok(Answer::Timed {
        checks: verifier.checks(),
        timing,
        single_s,
        began,
    })
}

/// The caches when runs began, of which so many were cold. One that was not makes them warm.
fn began(runs: u32, cold_runs: u32) -> CacheState {
    if runs > 0 && cold_runs == runs {
        CacheState::Cold
    } else {
        CacheState::Warm
    }
}

fn fastest(samples: &[Sample]) -> f64 {
    samples
        .iter()
        .map(|sample| sample.seconds)
        .fold(f64::INFINITY, f64::min)
}

fn gate_of(samples: &[Sample], calls: usize) -> f64 {
    let seconds: Vec<f64> = samples.iter().map(|sample| sample.seconds).collect();
    estimate::gate(statistics::median(&seconds) * calls as f64)
}

/// How many runs are looked at of a candidate with so many timed ones, the warm-up included.
/// `drawn` is below [`WATCHED_WHOLE`].
fn looked_at(timed: usize, drawn: usize) -> usize {
    let warm_up = 1;
    let most = if drawn == 0 { timed } else { LEAST };
    warm_up + timed.min(most)
}

fn fit(request: &Request, calls: usize) -> Fit {
    if calls > 1 && request.threads > 1 {
        Fit::Drawn
    } else {
        Fit::Staggered
    }
}

/// What a run must outweigh.
#[derive(Clone, Copy)]
struct RunLength {
    null_s: f64,
    /// Seconds that a run on several threads lasts at least.
    team_run_s: Option<f64>,
}

/// Calls per run: enough for a run to outweigh its null round trip and, on several threads, the
/// first moments in which they find their pace (`team_run_s`); and `least` where memory allows it.
fn calls_per_run(
    call_s: f64,
    RunLength { null_s, team_run_s }: RunLength,
    least: u32,
    bytes_per_call: usize,
) -> usize {
    let run_s = (NULLS_PER_RUN * null_s).max(team_run_s.unwrap_or(0.0));
    let wanted = (run_s / call_s.max(1e-7)).ceil() as usize;
    let fitting = (MEMORY_MAX / bytes_per_call.max(1)).max(1);
    let longer = (team_run_s.unwrap_or(0.0) / TEAM_RUN_S).max(1.0);
    wanted
        .min((CALLS_MAX as f64 * longer) as usize)
        .max(least as usize)
        .clamp(1, fitting)
}

struct Stopwatch<'a> {
    instruments: &'a mut Instruments,
    request: &'a Request,
    work: &'a TimeWork,
    verifier: &'a mut Verifier,
    runs: u32,
    /// Runs before which all buffers were flushed.
    cold_runs: u32,
    /// Seconds of all runs together.
    spent_s: f64,
}

impl Stopwatch<'_> {
    /// The samples of a fresh process with `calls` calls per run, and how many calls they ask for.
    fn series(&mut self, calls: usize) -> Result<(Vec<Sample>, usize), Failure> {
        let timed = &self.request.task.function().sizes.timed;
        let sets = vec![timed.clone(); calls];
        // The new process needs the cores itself.
        self.instruments.crew.rest();
        let fit = fit(self.request, calls);
        let mut session = Session::start(self.request, &self.instruments.cores, &sets, fit)?;
        let bytes_per_call = session.bytes_per_call();
        let (null_s, threads) = (self.work.null_s, self.request.threads);
        let team_run_s = (threads > 1).then_some(self.request.team_run_s);
        // On several threads a call alone takes up to three times as long as one in a batch, whose
        // threads are awake already; what a batch shows of its calls is no longer a guess.
        let pace = if calls == 1 && threads > 1 { 3.0 } else { 1.0 };
        let length = RunLength { null_s, team_run_s };
        let least = self.work.calls;
        let wanted = |samples: &[Sample]| {
            calls_per_run(fastest(samples) / pace, length, least, bytes_per_call)
        };
        // The warm-up is verified like any run, but not counted.
        self.probed_run(&mut session, calls)?;
        let mut samples = Vec::new();
        if calls == 1 {
            self.add_samples(&mut session, &mut samples, SINGLES)?;
            if wanted(&samples) > 1 {
                self.add_samples(&mut session, &mut samples, SINGLES_BEFORE_BATCH - SINGLES)?;
                let wanted = wanted(&samples);
                return Ok((samples, wanted));
            }
        }
        let samples = self.collect(&mut session, calls, samples)?;
        // Half of what is asked for is near enough: samples scatter.
        let wanted = Some(wanted(&samples))
            .filter(|wanted| *wanted > 2 * calls)
            .unwrap_or(calls);
        Ok((samples, wanted))
    }

    fn add_samples(
        &mut self,
        session: &mut Session,
        samples: &mut Vec<Sample>,
        count: usize,
    ) -> Result<(), Failure> {
        for _ in 0..count {
            samples.push(self.sample(session, 1)?);
        }
        Ok(())
    }

    /// One sample: the run's seconds per call, and how quiet its probes were.
    fn sample(&mut self, session: &mut Session, calls: usize) -> Result<Sample, Failure> {
        let (seconds, probe) = self.probed_run(session, calls)?;
        // A run at the resolution of the null round trip has no time of its own to tell.
        let seconds = ((seconds - self.work.null_s) / calls as f64).max(1e-9);
        Ok(Sample { seconds, probe })
    }

    /// One verified run of all calls on fresh inputs: its seconds, and its worse probe.
    fn probed_run(&mut self, session: &mut Session, calls: usize) -> Result<(f64, f64), Failure> {
        self.instruments.crew.stay_awake();
        session.freshen(
            self.verifier,
            &mut self.instruments.fresh,
            &self.instruments.crew,
            0..session.calls(),
        );
        match self.request.task.cache {
            CacheState::Cold => self.cold_runs += u32::from(session.chill()),
            // On one core all is where it is read; on several it must come to where a run would
            // have left it.
            CacheState::Warm => session.warm(&self.instruments.crew),
        }
        self.instruments.crew.wake();
        let before = self.probe();
        self.instruments.crew.rest();
        // A batch is short by choice, so its limit is that of one call.
        let limit_s = self.request.limit_s;
        let seconds = session.run(&mut self.instruments.fresh, 0..calls, limit_s)?;
        self.spent_s += seconds;
        if self.spent_s > LIMITS_TOGETHER * limit_s {
            return Err(Failure::TimedOut(limit_s));
        }
        self.instruments.crew.stay_awake();
        let after = self.probe();
        // The strict check sees every run; the paper verifies four, and all where it decides.
        let paper = self.runs < 4 || self.request.check == Check::Paper;
        self.runs += 1;
        if self.work.verified {
            session.check(
                self.verifier,
                &mut self.instruments.fresh,
                &self.instruments.crew,
                0..calls,
                paper,
            )?;
        }
        Ok((seconds, before.max(after)))
    }

    fn probe(&mut self) -> f64 {
        self.instruments.probe(self.work.memory_bound)
    }

    /// Samples until enough are quiet, the runs are used up or the machine had its rounds.
    fn collect(
        &mut self,
        session: &mut Session,
        calls: usize,
        first: Vec<Sample>,
    ) -> Result<Vec<Sample>, Failure> {
        let gated = self.work.timing == Estimator::Gated;
        let mut samples = first;
        for round in 0..self.work.rounds {
            let begin = sys::now();
            let end = (self.work.runs * (round + 1)) as usize;
            loop {
                let wrong = self.verifier.mismatch(self.request.check).is_some();
                let settled = samples.len() >= LEAST || sys::now() - begin > SETTLED_S;
                let quiet = gated && estimate::kept(&samples, gate_of(&samples, calls)) >= ENOUGH;
                if wrong || (quiet && settled) {
                    return Ok(samples);
                }
                let has_minimum = samples.len() >= ENOUGH || samples.len() >= end;
                if samples.len() >= end || (has_minimum && sys::now() - begin > ROUND_S) {
                    break;
                }
                samples.push(self.sample(session, calls)?);
            }
            if !gated {
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
        let calls = |call_s, null_s, team_run_s, bytes| {
            calls_per_run(call_s, RunLength { null_s, team_run_s }, 1, bytes)
        };
        let team = Some(5e-3);
        assert_eq!(calls(400e-6, 6e-6, None, 1 << 20), 1);
        assert_eq!(calls(60e-6, 60e-6, None, 1 << 20), 50);
        assert_eq!(
            calls(100e-6, 5e-6, team, 1 << 20),
            50,
            "five milliseconds for a team"
        );
        assert_eq!(calls(1e-9, 60e-6, team, 1 << 20), 64);
        assert_eq!(calls(1e-9, 60e-6, team, 100 << 20), 2);
        assert_eq!(
            calls(100e-6, 60e-6, Some(15e-3), 1 << 20),
            150,
            "longer runs hold more calls"
        );
    }

    #[test]
    fn one_in_four_is_looked_at_in_all_runs() {
        assert_eq!(looked_at(60, 0), 61);
        assert_eq!(looked_at(60, 3), LEAST + 1);
        assert_eq!(looked_at(5, 1), 6);
    }

    #[test]
    fn one_warm_run_makes_a_cold_timing_warm() {
        assert_eq!(began(15, 15), CacheState::Cold);
        assert_eq!(began(15, 14), CacheState::Warm);
        assert_eq!(began(15, 0), CacheState::Warm);
    }

    #[test]
    fn who_stands_beside_a_team_has_as_many_calls() {
        assert_eq!(
            calls_per_run(
                130e-6,
                RunLength {
                    null_s: 6e-6,
                    team_run_s: None
                },
                50,
                3 << 20
            ),
            50
        );
        assert_eq!(
            calls_per_run(
                130e-6,
                RunLength {
                    null_s: 6e-6,
                    team_run_s: None
                },
                150,
                1 << 20
            ),
            150,
            "of a longer run than the default, too"
        );
        assert_eq!(
            calls_per_run(
                60e-6,
                RunLength {
                    null_s: 60e-6,
                    team_run_s: None
                },
                20,
                1 << 20
            ),
            50,
            "at least"
        );
        assert_eq!(
            calls_per_run(
                130e-6,
                RunLength {
                    null_s: 6e-6,
                    team_run_s: None
                },
                50,
                100 << 20
            ),
            2,
            "memory is what it is"
        );
    }
}
