//! A candidate's time limit, in seconds during which its cores were available, not in wall-clock
//! seconds.
//!
//! A host that takes cores away stalls an innocent candidate, and so do other processes on its
//! cores. Neither must become a verdict.

use std::time::Duration;

use crate::cpu::supervisor::failure::Failure;
use crate::sys::{self, Pid, TICKS, Times};

/// The share of a limit after which the counters are first read. Nearly all runs are over by then
/// and cost nothing.
const FIRST_LOOK: f64 = 0.125;
/// The share of wall-clock time that a core may lack and still count as available, because counters
/// are coarse.
const COARSE_SHARE: f64 = 0.1;
const COARSE_S: f64 = 0.05;
/// Extra seconds for a candidate that hardly had a processor although its cores were available.
const STARVED_S: f64 = 0.9;
/// Maximum extension of a limit in seconds before it counts as the machine's failure.
const PUT_OFF_S: f64 = 20.0;

/// The limit of one run. It sets the alarm, and cancels it when dropped.
pub(crate) struct Limit {
    pid: Pid,
    cores: Vec<usize>,
    seconds: f64,
    first: Option<Look>,
}

/// The kernel's counters at one moment.
#[derive(Debug, Clone)]
struct Look {
    at: f64,
    /// Processor time of the candidate.
    processor_s: f64,
    /// The counters of each core; `None` if the kernel does not count.
    cores: Vec<Option<Counters>>,
}

/// A core's seconds since its start.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Counters {
    /// Seconds at work or idle. Nothing counts while the host has taken a busy core.
    there_s: f64,
    /// Seconds taken away by the host, counted once the core is back. For an idle core they also
    /// count above.
    stolen_s: f64,
}

impl Limit {
    /// Starts a limit for process `pid` on `cores`.
    pub(crate) fn start(pid: Pid, cores: &[usize], seconds: f64) -> Self {
        sys::set_alarm(Some(Duration::from_secs_f64(FIRST_LOOK * seconds)));
        Self {
            pid,
            cores: cores.to_vec(),
            seconds,
            first: None,
        }
    }

    /// Must be called whenever the alarm rings. Returns an error once the limit has passed.
    pub(crate) fn check(&mut self) -> Result<(), Failure> {
        let now = self.look();
        if let Some(first) = &self.first {
            return over(self.seconds, first, &now).map_or(Ok(()), Err);
        }
        // Even if the first alarm was late, because the supervisor itself had no core until then.
        self.first = Some(now);
        sys::set_alarm(Some(Duration::from_secs_f64(
            (1.0 - FIRST_LOOK) * self.seconds,
        )));
        Ok(())
    }

    fn look(&self) -> Look {
        let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        let cores = self
            .cores
            .iter()
            .map(|core| counters(&stat, *core))
            .collect();
        // A process without counters is not considered starved.
        let processor_s = Times::of(self.pid).map_or(f64::INFINITY, |times| times.own_s);
        Look {
            at: sys::now(),
            processor_s,
            cores,
        }
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        sys::set_alarm(None);
    }
}

/// The outcome of a limit between the first look and now; `None` while it has not passed.
fn over(limit_s: f64, first: &Look, now: &Look) -> Option<Failure> {
    let passed = now.at - first.at;
    // A team waits for its slowest thread, so the core that lacked most counts.
    let there = first
        .cores
        .iter()
        .zip(&now.cores)
        .filter_map(|(first, now)| {
            let (first, now) = (first.as_ref()?, now.as_ref()?);
            Some(f64::min(
                now.there_s - first.there_s,
                passed - (now.stolen_s - first.stolen_s),
            ))
        });
    let least = there.fold(passed, f64::min);
    let lacking = passed - least;
    let there = if lacking < f64::max(COARSE_SHARE * passed, COARSE_S) {
        passed
    } else {
        least
    };
    let left = (1.0 - FIRST_LOOK) * limit_s - there;
    let starved = now.processor_s - first.processor_s < 0.5 * there;
    if left <= 0.0 && !(starved && left > -STARVED_S) {
        return Some(Failure::TimedOut(limit_s));
    }
    let put_off = passed > limit_s + PUT_OFF_S;
    put_off.then(|| Failure::Machine("the host keeps taking the candidate's cores away".into()))
}

/// The counters of a core in the text of `/proc/stat`.
fn counters(stat: &str, core: usize) -> Option<Counters> {
    let name = format!("cpu{core}");
    let mut fields = stat
        .lines()
        .map(str::split_whitespace)
        .find_map(|mut fields| {
            let is_core = fields.next() == Some(&name);
            is_core.then_some(fields)
        })?;
    let mut seconds = || {
        fields
            .next()
            .and_then(|field| field.parse::<f64>().ok())
            .unwrap_or(0.0)
            / TICKS
    };
    // user, nice, system, idle, iowait, irq, softirq; then steal, and guests that are users already
    let there_s = (0..7).map(|_| seconds()).sum();
    (there_s > 0.0).then(|| Counters {
        there_s,
        stolen_s: seconds(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A look at cores with these available and stolen seconds.
    fn look(at: f64, processor_s: f64, cores: &[(f64, f64)]) -> Look {
        let cores = cores.iter().map(|(there_s, stolen_s)| {
            Some(Counters {
                there_s: *there_s,
                stolen_s: *stolen_s,
            })
        });
        Look {
            at,
            processor_s,
            cores: cores.collect(),
        }
    }

    #[test]
    fn a_busy_candidate_on_cores_that_are_there_has_its_limit_and_no_more() {
        let first = look(100.0, 3.0, &[(50.0, 9.0), (50.0, 9.0)]);
        assert_eq!(
            over(8.0, &first, &look(106.9, 9.9, &[(56.9, 9.0), (56.9, 9.0)])),
            None
        );
        let late = look(107.0, 10.0, &[(57.0, 9.0), (56.6, 9.2)]);
        assert_eq!(
            over(8.0, &first, &late),
            Some(Failure::TimedOut(8.0)),
            "what counters round off changes nothing"
        );
    }

    #[test]
    fn what_a_host_takes_from_one_core_does_not_count() {
        let first = look(0.0, 0.0, &[(5.0, 0.0), (5.0, 0.0)]);
        assert_eq!(
            over(8.0, &first, &look(9.0, 9.0, &[(14.0, 0.0), (8.0, 0.0)])),
            None,
            "it has it still"
        );
        assert_eq!(
            over(8.0, &first, &look(9.0, 9.0, &[(14.0, 0.0), (8.0, 6.0)])),
            None,
            "it gave it back"
        );
        assert_eq!(
            over(8.0, &first, &look(9.0, 9.0, &[(14.0, 0.0), (14.0, 6.0)])),
            None,
            "it was idle when taken"
        );
        let later = look(14.0, 12.0, &[(19.0, 0.0), (12.0, 7.0)]);
        assert_eq!(
            over(8.0, &first, &later),
            Some(Failure::TimedOut(8.0)),
            "seven seconds of both"
        );
    }

    #[test]
    fn a_host_that_never_gives_a_core_back_is_the_machines_failure() {
        let first = look(0.0, 0.0, &[(5.0, 0.0)]);
        assert_eq!(over(8.0, &first, &look(27.0, 0.0, &[(5.0, 0.0)])), None);
        let machine = over(8.0, &first, &look(29.0, 0.0, &[(5.0, 0.0)]));
        assert!(matches!(machine, Some(Failure::Machine(_))), "{machine:?}");
    }

    #[test]
    fn one_that_sleeps_or_is_kept_from_its_cores_has_most_of_a_second_more() {
        let first = look(0.0, 2.0, &[(5.0, 0.0)]);
        assert_eq!(over(8.0, &first, &look(7.8, 2.1, &[(12.8, 0.0)])), None);
        assert_eq!(
            over(8.0, &first, &look(7.95, 2.1, &[(12.95, 0.0)])),
            Some(Failure::TimedOut(8.0))
        );
    }

    #[test]
    fn where_nobody_counts_the_clock_does() {
        let look = |at| Look {
            at,
            processor_s: at,
            cores: vec![None, None],
        };
        assert_eq!(over(8.0, &look(0.0), &look(6.9)), None);
        assert_eq!(
            over(8.0, &look(0.0), &look(7.0)),
            Some(Failure::TimedOut(8.0))
        );
    }

    #[test]
    fn the_counters_of_a_core_are_read() {
        let stat = "cpu  10 0 0 0 0 0 0 77 0 0\ncpu0 100 2 3 400 5 6 7 30 9 9\ncpu1 0 0 0 0 0 0 0 0 0 0\ncpu10 9 9 9 9 9 9 9\n";
        let close = |counters: Option<Counters>, there_s: f64, stolen_s: f64| {
            counters.is_some_and(|c| {
                (c.there_s - there_s).abs() < 1e-9 && (c.stolen_s - stolen_s).abs() < 1e-9
            })
        };
        assert!(
            close(counters(stat, 0), 5.23, 0.3),
            "{:?}",
            counters(stat, 0)
        );
        assert!(
            close(counters(stat, 10), 0.63, 0.0),
            "an old kernel counts nothing stolen"
        );
        assert_eq!(
            counters(stat, 1),
            None,
            "a sandbox that shows zeros counts nothing"
        );
        assert_eq!(counters(stat, 3), None);
    }
}
