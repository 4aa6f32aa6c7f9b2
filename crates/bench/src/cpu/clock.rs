//! Times correct candidates on their own slot.

use std::time::Duration;

use hotloop_flow::how::Estimator;
use hotloop_flow::verdict::Phase;
use hotloop_flow::{Baseline, BenchError, Job, Measured, Timing, Verdict};

use crate::cpu::examine::Examined;
use crate::cpu::limits::{Ages, Bounds, Limits};
use crate::cpu::machine::Machine;
use crate::cpu::roof::{Bay, Subject, TaskRoof};
use crate::cpu::slot::Slot;
use crate::cpu::supervisor::protocol::{Answer, Stray, TimeWork, Work};
use crate::sandbox::rights::OwnThreads;

/// A candidate that is faster than this many times the roof is implausible. Clocks fluctuate by ten
/// percent, and memory, which the whole host shares, by more.
const ROOF_MARGIN: f64 = 1.15;
const MEMORY_ROOF_MARGIN: f64 = 1.5;
/// The cost of entering a parallel region for the roof's own kernels. It matters only for tiny
/// tasks.
const ROOF_OVERHEAD_S: f64 = 3e-6;
/// A batch this much faster per call than a call alone has moved work between calls. One that
/// spreads its calls over the threads, each call on one of them, gains as many times as there are
/// threads. Honest candidates gain by waking the threads only once (up to 1.3 times at two
/// threads). One thread gains where its calls wait for results and can take turns.
fn batch_margin(threads: u32) -> f64 {
    if threads == 1 {
        2.0
    } else {
        (1.0 + 0.3 * f64::from(threads)).min(4.0)
    }
}
/// Seconds more that a call alone takes on one thread: a core that has just woken up runs wide
/// vectors slowly at first.
const ALONE_OVERHEAD_S: f64 = 20e-6;
/// Seconds after which roofs and baselines are measured again beside the candidates.
const ROOF_AGE_S: f64 = 120.0;
/// And for a candidate that is faster than they are: clocks rise and fall, and what was measured at
/// a lower one would flatter it. Measuring takes as long as judging a few candidates.
const BEATEN_ROOF_AGE_S: f64 = 20.0;
/// Maximum number of timings of an implausible candidate.
const TRIES: u32 = 3;

/// A timing slot and its known limits.
pub(crate) struct Clock {
    slot: Slot,
    user: Option<u32>,
    limits: Limits,
}

impl Clock {
    pub(crate) fn new(slot: Slot, user: Option<u32>) -> Self {
        Self {
            slot,
            user,
            limits: Limits::default(),
        }
    }

    fn bounds(
        &mut self,
        machine: &Machine,
        job: &Job,
        examined: &Examined,
        ages: Ages,
    ) -> Result<Bounds, BenchError> {
        let mut bay = Bay {
            slot: &mut self.slot,
            user: self.user,
        };
        let subject = Subject {
            task: &job.task,
            prepared: &examined.prepared,
        };
        self.limits.bounds(machine, &mut bay, subject, ages)
    }

    /// Times a candidate that was right when examined. One that is too good to be true is timed
    /// again, each time beside roofs measured anew. `rounds` limits how long it waits for quiet.
    pub(crate) fn time(
        &mut self,
        machine: &Machine,
        job: &Job,
        examined: &Examined,
        rounds: u32,
    ) -> Result<Verdict, BenchError> {
        let mut most_s = ROOF_AGE_S;
        let mut doubted = None;
        for _ in 0..TRIES {
            let ages = Ages {
                roof_s: most_s,
                baseline_s: most_s,
            };
            let bounds = self.bounds(machine, job, examined, ages)?;
            match self.time_once(machine, job, examined, bounds, rounds)? {
                Verdict::Correct(measured) => {
                    return self.compared_anew(machine, job, examined, measured);
                }
                suspect @ Verdict::Suspect { .. } => doubted = Some(suspect),
                failed => return Ok(failed),
            }
            most_s = 0.0;
        }
        doubted.ok_or_else(|| BenchError::machine("nothing was timed"))
    }

    /// Compares a candidate that is faster than the library or the roof with fresh measurements of
    /// these.
    fn compared_anew(
        &mut self,
        machine: &Machine,
        job: &Job,
        examined: &Examined,
        mut measured: Measured,
    ) -> Result<Verdict, BenchError> {
        let above = |share: Option<f64>| share.is_some_and(|share| share > 1.0);
        if above(measured.peak_fraction()) || above(measured.baseline_ratio()) {
            let mut bay = Bay {
                slot: &mut self.slot,
                user: self.user,
            };
            self.limits.roof(machine, &mut bay, BEATEN_ROOF_AGE_S)?;
            let ages = Ages {
                roof_s: ROOF_AGE_S,
                baseline_s: BEATEN_ROOF_AGE_S,
            };
            let bounds = self.bounds(machine, job, examined, ages)?;
            compare(&mut measured, bounds);
        }
        Ok(Verdict::Correct(measured))
    }

    fn time_once(
        &mut self,
        machine: &Machine,
        job: &Job,
        examined: &Examined,
        Bounds { roof, task }: Bounds,
        rounds: u32,
    ) -> Result<Verdict, BenchError> {
        let settings = &machine.settings;
        // Without a team a round trip is negligible in a run that is as long as a team's.
        let is_alone = examined.own_threads == OwnThreads::Forbidden && settings.how.threads > 1;
        let null_s = if is_alone { 0.0 } else { roof.null_s };
        let work = TimeWork {
            null_s,
            runs: settings.runs,
            calls: 1,
            rounds,
            timing: settings.how.timing,
            memory_bound: task.memory_bound,
            verified: true,
        };
        let mut request = machine.request(
            &job.task,
            &examined.prepared,
            &examined.object,
            self.user,
            Work::Time(work),
        );
        request.own_threads = examined.own_threads;
        request.watched = examined.restricted && machine.layers.watch;
        // A supervisor bounds what a candidate takes: to be timed, and four times that to be watched.
        let times = if request.watched { 330.0 } else { 70.0 };
        let patience = Duration::from_secs_f64(60.0 + settings.limit_s * times);
        let (checks, timing, single_s) = match self.slot.ask(&request, patience)? {
            Answer::Timed {
                checks,
                timing,
                single_s,
                began,
            } if began == job.task.spec.cache => (checks, timing, single_s),
            Answer::Timed { began, .. } => {
                return Err(BenchError::machine(format!(
                    "the supervisor timed {began:?} runs of a task that starts {:?}",
                    job.task.spec.cache
                )));
            }
            Answer::Crashed(how) => return Ok(crashed(how, request.watched)),
            Answer::TimedOut(limit_s) => {
                return Ok(Verdict::TimedOut {
                    limit_s,
                    during: Phase::Run,
                });
            }
            Answer::Strayed(stray) => {
                let why = match stray {
                    Stray::Within => "it executes machine code within other instructions",
                    Stray::Bench => "it executes code of the bench",
                };
                return Ok(Verdict::Refused { why: why.into() });
            }
            Answer::Wrong(mismatch) => return Ok(Verdict::Wrong(mismatch)),
            other @ (Answer::Verified(_)
            | Answer::Null(_)
            | Answer::Killed
            | Answer::Task(_)
            | Answer::Machine(_)) => {
                return Err(BenchError::machine(format!(
                    "the supervisor answered another question: {other:?}"
                )));
            }
        };
        let decided_s = match settings.how.timing {
            Estimator::Gated => timing.min_s,
            Estimator::Paper => timing.paper_s,
        };
        let doubt = doubt(&timing, single_s - null_s, task);
        let mut measured = Measured {
            seconds: decided_s,
            work: job.task.work(&job.task.function().sizes.timed),
            baseline: None,
            roof: None,
            checks,
            timing,
        };
        compare(&mut measured, Bounds { roof, task });
        Ok(match doubt {
            Some(why) => Verdict::Suspect { why, measured },
            None => Verdict::Correct(measured),
        })
    }
}

fn crashed(mut how: String, is_watched: bool) -> Verdict {
    if is_watched {
        how += "; code that is watched can neither read a clock nor sleep";
    }
    Verdict::Crashed { how }
}

/// Adds the comparison with baseline and roof to a measurement.
fn compare(measured: &mut Measured, Bounds { roof, task }: Bounds) {
    measured.baseline = task.baseline_s.map(|seconds| Baseline {
        name: Baseline::OPENBLAS.to_owned(),
        seconds,
    });
    measured.roof = Some(hotloop_flow::Roof {
        seconds: task.bound_s,
        peak_flops: roof.peak_flops,
    });
}

/// Why a timing is implausible, if it is. `single_s` is the minimum time of a single call, without
/// the scatter of its round trip.
fn doubt(timing: &Timing, single_s: f64, roof: TaskRoof) -> Option<String> {
    let fastest_s = timing.min_s;
    let margin = if roof.memory_bound {
        MEMORY_ROOF_MARGIN
    } else {
        ROOF_MARGIN
    };
    if fastest_s * margin + ROOF_OVERHEAD_S < roof.bound_s {
        let times = roof.bound_s / fastest_s;
        return Some(format!(
            "{times:.2} times faster than this machine's roof allows"
        ));
    }
    let threads = timing.threads.unwrap_or(1);
    let overhead_s = if threads == 1 { ALONE_OVERHEAD_S } else { 0.0 };
    if timing.calls > 1 && single_s > fastest_s * batch_margin(threads) + overhead_s {
        let times = single_s / fastest_s;
        return Some(format!(
            "{times:.1} times faster in a batch than alone: work moves between calls"
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(min_s: f64, calls: u32, threads: u32) -> Timing {
        Timing {
            calls,
            threads: Some(threads),
            ..Timing::steady(min_s)
        }
    }

    const ROOF: TaskRoof = TaskRoof {
        bound_s: 1.0,
        memory_bound: false,
        baseline_s: None,
        quiet: true,
    };

    #[test]
    fn what_beats_the_roof_or_only_shines_in_batches_is_doubted() {
        assert!(doubt(&timing(0.5, 1, 1), 0.5, ROOF).is_some());
        assert!(
            doubt(&timing(0.9, 1, 1), 0.9, ROOF).is_none(),
            "clocks fluctuate"
        );
        let memory = TaskRoof {
            memory_bound: true,
            ..ROOF
        };
        assert!(
            doubt(&timing(0.7, 1, 1), 0.7, memory).is_none(),
            "memory fluctuates more"
        );
        assert!(doubt(&timing(2.0, 16, 16), 16.0, ROOF).is_some());
        assert!(doubt(&timing(2.0, 16, 16), 5.0, ROOF).is_none());
        assert!(
            doubt(&timing(2.0, 4, 2), 3.8, ROOF).is_some(),
            "two threads, a call on each"
        );
        assert!(doubt(&timing(2.0, 4, 2), 2.6, ROOF).is_none());
        assert!(
            doubt(&timing(2.0, 4, 1), 4.6, ROOF).is_some(),
            "one thread, calls that take turns"
        );
        assert!(doubt(&timing(2.0, 4, 1), 3.0, ROOF).is_none());
    }
}
