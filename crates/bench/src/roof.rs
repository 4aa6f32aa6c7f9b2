//! What this machine can do at best, measured through the same runner as candidates.

use std::path::PathBuf;
use std::time::Duration;

use flow::task::{Task, TaskFiles};
use flow::{BenchError, Timing};

use crate::machine::{self, Machine};
use crate::prepared::Prepared;
use crate::shim;
use crate::slot::Slot;
use crate::supervisor::protocol::{Answer, Request, TimeWork, Work};

const PATIENCE: Duration = Duration::from_secs(30);

/// The machine's own limits at the bench's number of threads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Roof {
    /// Seconds of a run that does nothing.
    pub(crate) null_s: f64,
    /// Floating-point operations per second at best.
    pub(crate) peak_flops: f64,
}

/// What bounds one task on this machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TaskRoof {
    /// Seconds that one call needs at least: arithmetic or traffic, whichever is slower.
    pub(crate) bound_s: f64,
    /// Whether traffic is the slower one.
    pub(crate) memory_bound: bool,
    /// Seconds of the library's version.
    pub(crate) baseline_s: Option<f64>,
}

/// A kernel of the bench's own.
struct Own {
    task: Task,
    object: PathBuf,
}

fn own(machine: &Machine, toml: &str, source: &str, timed: Option<i64>) -> Result<Own, BenchError> {
    let files = TaskFiles { toml: toml.to_owned(), ..TaskFiles::default() };
    let mut task = Task::parse(files).map_err(|error| BenchError::new(format!("built-in roof: {error}")))?;
    if let Some(n) = timed {
        task.spec.sizes.timed.insert("N".to_owned(), n.max(1));
    }
    let object = machine.builder.trusted("a built-in roof", &[source, &shim::candidate(&task.spec)])?;
    Ok(Own { task, object })
}

fn request(machine: &Machine, own: &Own, user: Option<u32>, work: Work) -> Request {
    let nothing = Prepared { shim: PathBuf::new(), trusted: PathBuf::new(), baseline: None };
    let mut request = machine.request(&own.task, &nothing, &own.object, user, work);
    request.trusted = None;
    request.limit_s = 5.0;
    request
}

fn work(null_s: f64, verified: bool, memory_bound: bool) -> Work {
    Work::Time(TimeWork { null_s, runs: 30, gated: true, memory_bound, verified })
}

fn timing(slot: &mut Slot, request: &Request) -> Result<Timing, BenchError> {
    match slot.ask(request, PATIENCE)? {
        Answer::Timed { timing, .. } => Ok(timing),
        other => Err(BenchError::new(format!("a baseline failed on this machine: {other:?}"))),
    }
}

impl Roof {
    /// Measures null round trip and arithmetic peak on `slot`.
    pub(crate) fn measure(machine: &Machine, slot: &mut Slot, user: Option<u32>) -> Result<Self, BenchError> {
        let null = own(machine, include_str!("roof/null.toml"), include_str!("roof/null.c"), None)?;
        let null_s = match slot.ask(&request(machine, &null, user, Work::Null), PATIENCE)? {
            Answer::Null(seconds) => seconds,
            other => return Err(BenchError::new(format!("the null round trip failed on this machine: {other:?}"))),
        };
        let peak = own(machine, include_str!("roof/peak.toml"), include_str!("roof/peak.c"), None)?;
        let timing = timing(slot, &request(machine, &peak, user, work(null_s, false, false)))?;
        let width = match machine::simd_level() {
            "avx512" => 8.0,
            "avx2" => 4.0,
            _ => 2.0,
        };
        let flops = peak.task.flops(&peak.task.spec.sizes.timed) * width * f64::from(machine.settings.threads);
        Ok(Self { null_s, peak_flops: flops / timing.min_s })
    }

    /// Measures what bounds `task`, and its baseline.
    pub(crate) fn of_task(
        &self,
        machine: &Machine,
        slot: &mut Slot,
        user: Option<u32>,
        task: &Task,
        prepared: &Prepared,
    ) -> Result<TaskRoof, BenchError> {
        let sizes = &task.spec.sizes.timed;
        let numbers = (task.bytes(sizes) / 8.0).ceil() as i64;
        let stream = own(machine, include_str!("roof/stream.toml"), include_str!("roof/stream.c"), Some(numbers))?;
        let traffic = timing(slot, &request(machine, &stream, user, work(self.null_s, false, true)))?;
        let arithmetic_s = task.flops(sizes) / self.peak_flops;
        let memory_bound = traffic.min_s > arithmetic_s;
        let baseline_s = match (&prepared.baseline, &machine.openblas) {
            (Some(object), Some(blas)) => {
                let mut request = machine.request(task, prepared, object, user, work(self.null_s, true, memory_bound));
                request.libraries.push(blas.path.clone());
                Some(timing(slot, &request)?.median_s)
            }
            (Some(_) | None, _) => None,
        };
        Ok(TaskRoof { bound_s: arithmetic_s.max(traffic.min_s), memory_bound, baseline_s })
    }
}
