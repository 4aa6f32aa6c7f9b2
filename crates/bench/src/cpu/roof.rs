//! The machine's limits, measured through the same runner as candidates.

use std::path::PathBuf;
use std::time::Duration;

use hotloop_flow::how::Estimator;
use hotloop_flow::interface::Arg;
use hotloop_flow::task::{Task, TaskFiles};
use hotloop_flow::{BenchError, ErrorKind, Timing};
use serde::{Deserialize, Serialize};

use crate::cpu::machine::{self, Machine};
use crate::cpu::prepared::Prepared;
use crate::cpu::shim;
use crate::cpu::slot::Slot;
use crate::cpu::supervisor::protocol::{Answer, Request, TimeWork, Work};
use crate::settings::ROUNDS;

const PATIENCE: Duration = Duration::from_mins(1);

/// The machine's own limits at the bench's number of threads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Roof {
    /// Seconds of a run that does nothing.
    pub(crate) null_s: f64,
    /// Floating-point operations per second at best.
    pub(crate) peak_flops: f64,
}

/// What bounds one task on this machine.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct TaskRoof {
    /// Minimum seconds of one call: arithmetic or traffic, whichever is slower.
    pub(crate) bound_s: f64,
    /// Whether traffic is the slower one.
    pub(crate) memory_bound: bool,
    /// Seconds of the library's version.
    pub(crate) baseline_s: Option<f64>,
    /// Whether the machine was quiet when that was measured, if it was.
    pub(crate) quiet: bool,
}

/// One of the bench's own kernels.
struct Own {
    task: Task,
    object: PathBuf,
}

fn own(machine: &Machine, toml: &str, source: &str, timed: Option<i64>) -> Result<Own, BenchError> {
    let files = TaskFiles {
        toml: toml.to_owned(),
        ..TaskFiles::default()
    };
    let mut task = Task::parse(files)
        .map_err(|error| BenchError::machine(format!("built-in roof: {error}")))?;
    if let Some(n) = timed {
        task.spec
            .function_mut()
            .sizes
            .timed
            .insert("N".to_owned(), n.max(1));
    }
    let object = machine
        .builder
        .trusted(
            "a built-in roof",
            &[source, &shim::candidate(task.function())],
        )
        .map_err(|error| BenchError {
            kind: ErrorKind::Machine,
            ..error
        })?;
    Ok(Own { task, object })
}

fn request(machine: &Machine, own: &Own, threads: u32, user: Option<u32>, work: Work) -> Request {
    let nothing = Prepared {
        shim: PathBuf::new(),
        trusted: PathBuf::new(),
        baseline: None,
    };
    let mut request = machine.request(&own.task, &nothing, &own.object, user, work);
    request.trusted = None;
    request.limit_s = 5.0;
    request.threads = threads;
    request
        .environment
        .retain(|(name, _)| name != "OMP_NUM_THREADS");
    request
        .environment
        .push(("OMP_NUM_THREADS".to_owned(), threads.to_string()));
    request
}

fn work(null_s: f64, calls: u32, memory_bound: bool) -> TimeWork {
    TimeWork {
        null_s,
        runs: 30,
        calls,
        rounds: ROUNDS,
        timing: Estimator::Gated,
        memory_bound,
        verified: false,
    }
}

fn timing(slot: &mut Slot, request: &Request) -> Result<Timing, BenchError> {
    match slot.ask(request, PATIENCE)? {
        Answer::Timed { timing, .. } => Ok(timing),
        other => Err(BenchError::machine(format!(
            "a baseline failed on this machine: {other:?}"
        ))),
    }
}

/// A timing slot, and the user that its candidates run as.
pub(crate) struct Bay<'a> {
    pub(crate) slot: &'a mut Slot,
    pub(crate) user: Option<u32>,
}

/// A task and its built parts.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) task: &'a Task,
    pub(crate) prepared: &'a Prepared,
}

/// How a baseline is timed.
#[derive(Clone, Copy)]
pub(crate) struct BaselineWork {
    /// Whether memory must be quiet, too.
    pub(crate) memory_bound: bool,
    /// Maximum number of rounds of samples.
    pub(crate) rounds: u32,
}

impl Roof {
    /// Measures the seconds of a run that does nothing.
    pub(crate) fn null(machine: &Machine, bay: &mut Bay<'_>) -> Result<f64, BenchError> {
        let null = own(
            machine,
            include_str!("roof/null.toml"),
            include_str!("roof/null.c"),
            None,
        )?;
        let threads = machine.settings.how.threads;
        let request = request(machine, &null, threads, bay.user, Work::Null);
        match bay.slot.ask(&request, PATIENCE)? {
            Answer::Null(seconds) => Ok(seconds),
            other => Err(BenchError::machine(format!(
                "the null round trip failed on this machine: {other:?}"
            ))),
        }
    }

    /// Measures null round trip and arithmetic peak.
    pub(crate) fn measure(machine: &Machine, bay: &mut Bay<'_>) -> Result<Self, BenchError> {
        let null_s = Self::null(machine, bay)?;
        let (peak, flops) = peak(machine)?;
        let seconds = best_of(machine, bay, &peak, null_s, 1.0)?;
        Ok(Self {
            null_s,
            peak_flops: flops / seconds,
        })
    }

    /// The arithmetic of the peak timed for a short while, and the seconds that the roof says.
    pub(crate) fn peak_again(
        &self,
        machine: &Machine,
        bay: &mut Bay<'_>,
    ) -> Result<(Timing, f64), BenchError> {
        let (peak, flops) = peak(machine)?;
        let work = TimeWork {
            rounds: 1,
            ..work(self.null_s, 1, false)
        };
        let threads = machine.settings.how.threads;
        let request = request(machine, &peak, threads, bay.user, Work::Time(work));
        Ok((timing(bay.slot, &request)?, flops / self.peak_flops))
    }

    /// The better of two measurements, because a roof is the machine's best.
    pub(crate) fn or_better(self, other: Self) -> Self {
        Self {
            null_s: other.null_s,
            peak_flops: self.peak_flops.max(other.peak_flops),
        }
    }

    /// Measures what bounds `task`, and its baseline.
    pub(crate) fn of_task(
        &self,
        machine: &Machine,
        bay: &mut Bay<'_>,
        subject: Subject<'_>,
    ) -> Result<TaskRoof, BenchError> {
        let task = subject.task;
        let sizes = &task.function().sizes.timed;
        let work = task.work(sizes);
        let bytes = work.bytes.unwrap_or(0.0).min(footprint(task));
        let numbers = (bytes / 8.0).ceil() as i64;
        let stream = own(
            machine,
            include_str!("roof/stream.toml"),
            include_str!("roof/stream.c"),
            Some(numbers),
        )?;
        let shared = f64::from(machine.settings.how.threads);
        let traffic_s = best_of(machine, bay, &stream, self.null_s, shared)?;
        let arithmetic_s = work.flops.unwrap_or(0.0) / self.peak_flops;
        let memory_bound = traffic_s > arithmetic_s;
        let bound = TaskRoof {
            bound_s: arithmetic_s.max(traffic_s),
            memory_bound,
            baseline_s: None,
            quiet: true,
        };
        let baseline = self.baseline(
            machine,
            bay,
            subject,
            BaselineWork {
                memory_bound,
                rounds: ROUNDS,
            },
        )?;
        Ok(baseline.map_or(bound, |timing| bound.with(&timing)))
    }

    /// Times the library's version of `task`, if there is one, in so many rounds at most.
    pub(crate) fn baseline(
        &self,
        machine: &Machine,
        bay: &mut Bay<'_>,
        Subject { task, prepared }: Subject<'_>,
        BaselineWork {
            memory_bound,
            rounds,
        }: BaselineWork,
    ) -> Result<Option<Timing>, BenchError> {
        let (Some(object), Some(blas)) = (&prepared.baseline, &machine.openblas) else {
            return Ok(None);
        };
        let work = TimeWork {
            rounds,
            verified: true,
            ..work(self.null_s, 1, memory_bound)
        };
        let mut request = machine.request(task, prepared, object, bay.user, Work::Time(work));
        request.libraries.push(blas.path.clone());
        // A library is trusted to end. If it takes seconds, the machine is the reason.
        request.limit_s = request.limit_s.max(PATIENCE.as_secs_f64() / 3.0);
        timing(bay.slot, &request).map(Some)
    }
}

/// The kernel of the arithmetic peak, and the operations of one call of it.
fn peak(machine: &Machine) -> Result<(Own, f64), BenchError> {
    let peak = own(
        machine,
        include_str!("roof/peak.toml"),
        include_str!("roof/peak.c"),
        None,
    )?;
    let width = match machine::simd_level() {
        "avx512" => 8.0,
        "avx2" => 4.0,
        _ => 2.0,
    };
    let work = peak.task.work(&peak.task.function().sizes.timed);
    let threads = f64::from(machine.settings.how.threads);
    Ok((peak, work.flops.unwrap_or(0.0) * width * threads))
}

/// Bytes of all buffers of one call. A buffer that is read and written in place moves twice, but
/// only its own size must come from memory.
fn footprint(task: &Task) -> f64 {
    let sizes = &task.function().sizes.timed;
    let bytes = |arg: &Arg| {
        arg.elements(sizes)
            .map_or(0, |elements| elements * arg.kind.bytes())
    };
    task.function()
        .args
        .iter()
        .filter(|arg| arg.is_buffer())
        .map(bytes)
        .sum::<usize>() as f64
}

/// The fastest call of a roof with the bench's threads, or scaled from one core. Several cores are
/// rarely all quiet at once, and a roof that is too low would make honest candidates suspect. On
/// one core, traffic uses as many sets as the team's run, because fewer sets would be in a closer
/// cache than a team's.
///
/// `shared` is the number of parts of one thread's work that all threads share; 1 if each does its
/// own.
fn best_of(
    machine: &Machine,
    bay: &mut Bay<'_>,
    own: &Own,
    null_s: f64,
    shared: f64,
) -> Result<f64, BenchError> {
    let memory_bound = shared > 1.0;
    let mut at = |threads, calls| {
        let work = work(null_s, calls, memory_bound);
        let request = request(machine, own, threads, bay.user, Work::Time(work));
        timing(bay.slot, &request)
    };
    let threads = machine.settings.how.threads;
    if threads == 1 {
        return Ok(at(1, 1)?.min_s);
    }
    let together = at(threads, 1)?;
    let alone = at(1, if memory_bound { together.calls } else { 1 })?;
    Ok(together.min_s.min(alone.min_s / shared))
}

impl TaskRoof {
    /// The same with a baseline, its own included. One that met a busy moment would flatter every
    /// candidate until it is measured again.
    pub(crate) fn with(self, baseline: &Timing) -> Self {
        let Some(before_s) = self.baseline_s else {
            return Self {
                baseline_s: Some(baseline.min_s),
                quiet: baseline.quiet,
                ..self
            };
        };
        Self {
            baseline_s: Some(before_s.min(baseline.min_s)),
            quiet: self.quiet || baseline.quiet,
            ..self
        }
    }

    /// The better bound of two measurements with the later baseline.
    pub(crate) fn or_better(self, other: Self) -> Self {
        // A baseline that met a busy moment would flatter every candidate until it is measured
        // again.
        let baseline_s = self
            .baseline_s
            .into_iter()
            .chain(other.baseline_s)
            .reduce(f64::min);
        Self {
            bound_s: self.bound_s.min(other.bound_s),
            baseline_s,
            quiet: self.quiet || other.quiet,
            ..other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_moment_makes_neither_bound_nor_baseline_slower() {
        let quiet = TaskRoof {
            bound_s: 1.0,
            memory_bound: false,
            baseline_s: Some(1.2),
            quiet: true,
        };
        let busy = TaskRoof {
            bound_s: 1.7,
            memory_bound: true,
            baseline_s: Some(2.4),
            quiet: false,
        };
        let both = quiet.or_better(busy);
        assert_eq!(
            (both.bound_s, both.baseline_s, both.memory_bound, both.quiet),
            (1.0, Some(1.2), true, true)
        );
        let again = busy.with(&Timing {
            quiet: true,
            ..Timing::steady(1.1)
        });
        assert_eq!(
            (again.baseline_s, again.quiet, again.bound_s),
            (Some(1.1), true, 1.7),
            "only the baseline is new"
        );
        let slower = quiet.with(&Timing {
            quiet: false,
            ..Timing::steady(1.9)
        });
        assert_eq!((slower.baseline_s, slower.quiet), (Some(1.2), true));
        let without = TaskRoof {
            baseline_s: None,
            ..busy
        };
        assert_eq!(without.with(&Timing::steady(1.9)).baseline_s, Some(1.9));
        assert_eq!(quiet.or_better(without).baseline_s, Some(1.2));
        assert_eq!(without.or_better(quiet).baseline_s, Some(1.2));
    }
}
