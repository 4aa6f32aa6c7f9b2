//! From samples to a timing: the paper's estimator and the gated one, as pure functions.
//!
//! A shared machine alternates between undisturbed and contended states, so more samples alone do
//! not help. The gated estimator keeps a sample only if short probes before and after it ran near
//! the machine's floor. Enough of these show that the machine was undisturbed at times. Then the
//! fastest sample is the candidate's own time: disturbance only adds time, and every run is
//! verified on unpredictable inputs. Among undisturbed samples the fastest varies less than half as
//! much as the median (`docs/bench.md`).

use hotloop_flow::Timing;
use hotloop_flow::statistics::{mean, median, variation};

/// One timed run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sample {
    /// Seconds per call, without the null round trip.
    pub(crate) seconds: f64,
    /// The slower of the probes around it, relative to the machine's floor (1 is the floor).
    pub(crate) probe: f64,
}

/// Number of kept samples that show an undisturbed machine.
pub(crate) const ENOUGH: usize = 5;
/// Minimum number of samples, as long as they are short.
pub(crate) const LEAST: usize = 10;

/// How far above the floor a probe may be. Short probes say little about a long run, so a strict
/// gate would reject all of its samples.
pub(crate) fn gate(run_s: f64) -> f64 {
    match run_s {
        run_s if run_s < 10e-3 => 1.08,
        _ => 1.15,
    }
}

/// How many of the samples pass the gate.
pub(crate) fn kept(samples: &[Sample], gate: f64) -> usize {
    samples.iter().filter(|sample| sample.probe <= gate).count()
}

/// The timing from samples. `samples` holds at least one and no warm-ups.
pub(crate) fn timing(samples: &[Sample], gate: f64, calls: u32, threads: u32) -> Timing {
    let all: Vec<f64> = samples.iter().map(|sample| sample.seconds).collect();
    let clean: Vec<f64> = samples
        .iter()
        .filter(|s| s.probe <= gate)
        .map(|sample| sample.seconds)
        .collect();
    let quiet = clean.len() >= ENOUGH.min(samples.len());
    let basis = if quiet { &clean } else { &all };
    let paper = &all[..all.len().min(3)];
    Timing {
        min_s: all.iter().copied().fold(f64::INFINITY, f64::min),
        median_s: median(basis),
        paper_s: mean(paper),
        cv: variation(basis),
        samples: all.len() as u32,
        kept: clean.len() as u32,
        quiet,
        calls,
        threads: Some(threads),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(list: &[(f64, f64)]) -> Vec<Sample> {
        list.iter()
            .map(|(seconds, probe)| Sample {
                seconds: *seconds,
                probe: *probe,
            })
            .collect()
    }

    #[test]
    fn the_median_ignores_what_ran_beside_a_slow_probe() {
        let list = samples(&[
            (9.0, 1.6),
            (1.0, 1.0),
            (1.1, 1.0),
            (9.0, 1.7),
            (1.0, 1.01),
            (1.2, 1.02),
            (0.9, 1.0),
        ]);
        let timing = timing(&list, 1.05, 1, 1);
        assert!((timing.median_s - 1.0).abs() < 1e-12);
        assert!((timing.min_s - 0.9).abs() < 1e-12);
        assert_eq!((timing.samples, timing.kept, timing.quiet), (7, 5, true));
        assert!(
            (timing.paper_s - 11.1 / 3.0).abs() < 1e-12,
            "the paper takes the first three as they come"
        );
    }

    #[test]
    fn a_machine_that_was_never_quiet_says_so() {
        let list = samples(&[
            (1.0, 2.0),
            (3.0, 2.0),
            (2.0, 2.0),
            (5.0, 1.0),
            (4.0, 2.0),
            (6.0, 2.0),
        ]);
        let timing = timing(&list, 1.05, 1, 1);
        assert!(!timing.quiet);
        assert!((timing.min_s - 1.0).abs() < 1e-12);
        assert!((timing.median_s - 3.5).abs() < 1e-12);
        assert!(timing.cv > 0.4);
    }
}
