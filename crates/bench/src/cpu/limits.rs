//! The known limits of the machine, and their age.
//!
//! Measuring the roofs and the baseline of a task takes seconds, so a process keeps them in the
//! cache for the next one. That one makes a single short measurement first. If it disagrees with
//! the kept limits, everything is measured again.

use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

use hotloop_flow::BenchError;
use serde::{Deserialize, Serialize};

use crate::cpu::machine::Machine;
use crate::cpu::roof::{BaselineWork, Bay, Roof, Subject, TaskRoof};

/// Seconds for which limits are kept; those of a machine that was never quiet are kept for less.
const KEPT_S: f64 = 7.0 * 86_400.0;
const BUSY_KEPT_S: f64 = 600.0;
/// Seconds after which a baseline from a noisy machine is timed again, because it would flatter
/// every candidate.
const BUSY_AGE_S: f64 = 5.0;
/// Limits hold if a short measurement takes between these many times as long as they say. It takes
/// longer on a busy machine, which proves nothing.
const FASTER: f64 = 0.95;
const SLOWER: f64 = 1.1;

/// Seconds after which a roof and a baseline are measured again. At 0 they are measured at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ages {
    pub(crate) roof_s: f64,
    pub(crate) baseline_s: f64,
}

/// The machine's roof and what bounds one task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) roof: Roof,
    pub(crate) task: TaskRoof,
}

/// What a process knows about the machine's limits at one slot.
#[derive(Default)]
pub(crate) struct Limits {
    roof: Option<(f64, Roof)>,
    tasks: HashMap<String, Known>,
}

#[derive(Clone, Copy)]
struct Known {
    roof: TaskRoof,
    at_s: f64,
    baseline_at_s: f64,
}

/// What one process leaves to the next.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// Seconds since 1970.
    at_s: f64,
    peak_flops: f64,
    task: TaskRoof,
}

impl Limits {
    /// The machine's limits, measured again if they are older than `age_s`.
    pub(crate) fn roof(
        &mut self,
        machine: &Machine,
        bay: &mut Bay<'_>,
        age_s: f64,
    ) -> Result<Roof, BenchError> {
        let known = self.roof.filter(|(at, _)| crate::sys::now() - at < age_s);
        if let Some((_, roof)) = known {
            return Ok(roof);
        }
        let measured = Roof::measure(machine, bay)?;
        let roof = self
            .roof
            .map_or(measured, |(_, before)| before.or_better(measured));
        self.roof = Some((crate::sys::now(), roof));
        Ok(roof)
    }

    /// What bounds a task. Known limits that are too old are checked, and measured again if they
    /// do not hold; a baseline that is too old is timed again for a short while.
    pub(crate) fn bounds(
        &mut self,
        machine: &Machine,
        bay: &mut Bay<'_>,
        subject: Subject<'_>,
        ages: Ages,
    ) -> Result<Bounds, BenchError> {
        let now = crate::sys::now();
        let mut known = self.tasks.get(&subject.task.hash).copied();
        if known.is_none() && ages.roof_s > 0.0 {
            known = self.kept(machine, bay, subject)?;
        }
        if let Some(known) = known {
            let is_old = now - known.at_s >= ages.roof_s;
            let is_due = now - known.baseline_at_s >= ages.baseline_age(known.roof);
            if !is_old && !is_due {
                let roof = self.roof(machine, bay, ages.roof_s)?;
                return Ok(Bounds {
                    roof,
                    task: known.roof,
                });
            }
            if ages.roof_s > 0.0
                && let Some(bounds) = self.checked(machine, bay, subject, known)?
            {
                return Ok(bounds);
            }
        }
        let roof = self.roof(machine, bay, ages.roof_s)?;
        let measured = roof.of_task(machine, bay, subject)?;
        let task = known.map_or(measured, |known| known.roof.or_better(measured));
        self.tasks.insert(
            subject.task.hash.clone(),
            Known {
                roof: task,
                at_s: crate::sys::now(),
                baseline_at_s: crate::sys::now(),
            },
        );
        keep(machine, subject, roof, task);
        Ok(Bounds { roof, task })
    }

    /// Limits that do not hold any more are forgotten, and `None`.
    fn checked(
        &mut self,
        machine: &Machine,
        bay: &mut Bay<'_>,
        subject: Subject<'_>,
        known: Known,
    ) -> Result<Option<Bounds>, BenchError> {
        let Some((_, roof)) = self.roof else {
            return Ok(None);
        };
        let work = BaselineWork {
            memory_bound: known.roof.memory_bound,
            rounds: 1,
        };
        let baseline = roof.baseline(machine, bay, subject, work)?;
        let (timing, expected_s) = match (&baseline, known.roof.baseline_s) {
            (Some(timing), Some(expected_s)) => (timing.clone(), expected_s),
            _ => roof.peak_again(machine, bay)?,
        };
        let times = timing.min_s / expected_s;
        let is_slower = times > SLOWER && timing.quiet && known.roof.quiet;
        if times < FASTER || is_slower {
            self.roof = None;
            self.tasks.remove(&subject.task.hash);
            return Ok(None);
        }
        let task = baseline.map_or(known.roof, |timing| known.roof.with(&timing));
        let now = crate::sys::now();
        self.roof = Some((now, roof));
        let known = Known {
            roof: task,
            at_s: now,
            baseline_at_s: now,
        };
        self.tasks.insert(subject.task.hash.clone(), known);
        Ok(Some(Bounds { roof, task }))
    }

    /// What an earlier process left in the cache. It is old from the start, so that it is checked.
    fn kept(
        &mut self,
        machine: &Machine,
        bay: &mut Bay<'_>,
        subject: Subject<'_>,
    ) -> Result<Option<Known>, BenchError> {
        let Some(kept) = read(machine, subject) else {
            return Ok(None);
        };
        // A round trip is measured anew: it is taken off every run, so that one which was kept from
        // a busy machine would flatter every candidate.
        let roof = match self.roof {
            Some((_, roof)) => roof,
            None => Roof {
                null_s: Roof::null(machine, bay)?,
                peak_flops: kept.peak_flops,
            },
        };
        self.roof = Some((crate::sys::now(), roof));
        Ok(Some(Known {
            roof: kept.task,
            at_s: f64::NEG_INFINITY,
            baseline_at_s: f64::NEG_INFINITY,
        }))
    }
}

impl Ages {
    fn baseline_age(self, roof: TaskRoof) -> f64 {
        if roof.quiet {
            self.baseline_s
        } else {
            self.baseline_s.min(BUSY_AGE_S)
        }
    }
}

fn name(machine: &Machine, subject: Subject<'_>) -> String {
    let how = machine.settings.how;
    let mut hasher = blake3::Hasher::new();
    for part in [
        env!("CARGO_PKG_VERSION"),
        &machine.facts.class,
        how.opt.name(),
        &how.threads.to_string(),
        &machine.settings.team_run_s.to_string(),
        &subject.task.hash,
    ] {
        hasher.update(part.as_bytes());
        hasher.update(b"\0");
    }
    if let Some(blas) = &machine.openblas {
        hasher.update(blas.core.as_bytes());
        hasher.update(blas.path.as_os_str().as_encoded_bytes());
    }
    format!("limits-{}.json", &hasher.finalize().to_hex()[..24])
}

fn read(machine: &Machine, subject: Subject<'_>) -> Option<Kept> {
    if !machine.settings.reuse {
        return None;
    }
    let bytes = std::fs::read(machine.cache.path(&name(machine, subject))).ok()?;
    let kept: Kept = serde_json::from_slice(&bytes).ok()?;
    let age_s = seconds_since_1970() - kept.at_s;
    let most_s = if kept.task.quiet { KEPT_S } else { BUSY_KEPT_S };
    (0.0..most_s).contains(&age_s).then_some(kept)
}

/// Leaves limits to the next process, unless better ones are there.
fn keep(machine: &Machine, subject: Subject<'_>, roof: Roof, task: TaskRoof) {
    let better = read(machine, subject).is_some_and(|kept| kept.task.quiet && !task.quiet);
    if !machine.settings.reuse || better {
        return;
    }
    let kept = Kept {
        at_s: seconds_since_1970(),
        peak_flops: roof.peak_flops,
        task,
    };
    if let Ok(bytes) = serde_json::to_vec(&kept) {
        // A cache that cannot be written only costs time.
        drop(machine.cache.replace(&name(machine, subject), &bytes));
    }
}

fn seconds_since_1970() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}
