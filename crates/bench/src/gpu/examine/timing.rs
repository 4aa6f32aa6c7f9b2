//! From runs to a timing, and whether the marks can be believed.
//!
//! A run is clocked by marks in the runner's context, which holds the candidate too. So what they
//! say must agree with the examiner's own clock: a round takes what an idle one takes, and the run.

use hotloop_flow::Timing;
use hotloop_flow::statistics::{mean, median, variation};

use crate::gpu::examine::runner::Clocked;

/// What a runner saw of a round, and what the examiner saw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Run {
    pub(super) clocked: Clocked,
    pub(super) round_s: f64,
}

/// Runs of a short candidate, of one of usual length, and of a slow one.
const SHORT: (f64, usize) = (20e-6, 10);
const USUAL: (f64, usize) = (50e-3, 5);
const SLOW: usize = 3;
/// More runs are made while they vary more, and at most so many times as many.
const STEADY_SHORT: f64 = 0.03;
const STEADY: f64 = 0.02;
const MORE: usize = 3;
/// By how much a round may be longer than an idle one and the run: seconds, and parts of the run.
const ROUND_SLACK_S: f64 = 40e-6;
const RUN_SLACK: f64 = 0.15;
/// By how much a sweep may be longer than an idle one.
const SWEEP_SLACK_S: f64 = 20e-6;
const SWEEP_SLACK: f64 = 0.5;
/// What a process that waits for a processor loses. Others' work on the GPU comes in slices that
/// are longer, about 2 ms.
const WAKING_S: f64 = 0.4e-3;
/// A round that runs nothing takes so long only beside others.
const BUSY_S: f64 = 1e-3;

/// What a round costs that runs nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Idle {
    /// The shortest round.
    pub(super) least_s: f64,
    pub(super) middle_s: f64,
    pub(super) sweep_s: f64,
    /// Between the marks, around nothing.
    pub(super) seconds: f64,
}

impl Idle {
    pub(super) fn of(rounds: &[(Clocked, f64)]) -> Self {
        let all = |pick: fn(&(Clocked, f64)) -> f64| rounds.iter().map(pick).collect::<Vec<_>>();
        let round = all(|(_, round_s)| *round_s);
        Self {
            least_s: least(round.iter().copied()),
            middle_s: median(&round),
            sweep_s: median(&all(|(clocked, _)| clocked.sweep_s)),
            seconds: median(&all(|(clocked, _)| clocked.seconds)),
        }
    }
}

fn least(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::INFINITY, f64::min)
}

/// How many runs a candidate gets that takes so long.
pub(super) fn runs_of(seconds: f64) -> usize {
    match seconds {
        seconds if seconds < SHORT.0 => SHORT.1,
        seconds if seconds < USUAL.0 => USUAL.1,
        _ => SLOW,
    }
}

/// Whether the runs are enough to be believed.
pub(super) fn is_enough(runs: &[Run]) -> bool {
    let seconds: Vec<f64> = runs.iter().map(|run| run.clocked.seconds).collect();
    let middle = median(&seconds);
    let steady = if middle < SHORT.0 {
        STEADY_SHORT
    } else {
        STEADY
    };
    let wanted = runs_of(middle);
    runs.len() >= MORE * wanted || runs.len() >= wanted && variation(&seconds) <= steady
}

/// By how much a run's round was longer than the shortest idle one, the run, and what its sweep
/// took longer.
fn excess_s(run: &Run, idle: &Idle) -> f64 {
    let own = run.clocked.seconds - idle.seconds + run.clocked.sweep_s - idle.sweep_s;
    run.round_s - idle.least_s - own
}

fn slack_s(run: &Run) -> f64 {
    ROUND_SLACK_S + RUN_SLACK * run.clocked.seconds
}

/// By how much a run's sweep was longer than it may be.
fn sweep_excess_s(run: &Run, idle: &Idle) -> f64 {
    run.clocked.sweep_s - idle.sweep_s - SWEEP_SLACK_S - SWEEP_SLACK * idle.sweep_s
}

/// Whether both clocks agree on a run. Where they do not, the GPU did something else meanwhile, or
/// somebody moved the marks.
fn agrees(run: &Run, idle: &Idle) -> bool {
    excess_s(run, idle) <= slack_s(run).max(WAKING_S) && sweep_excess_s(run, idle) <= 0.0
}

/// Whether the GPU does something else beside rounds.
pub(super) fn is_busy(before: &Idle, now: &Idle) -> bool {
    now.least_s > before.least_s + WAKING_S || before.least_s - before.sweep_s > BUSY_S
}

/// Why the marks cannot be believed: every run took longer by the examiner's clock than by the
/// marks, although a round that runs nothing takes `now` what it took before. A busy processor or
/// GPU makes some runs longer; marks that are moved hide something in each.
pub(super) fn contradiction(runs: &[Run], before: &Idle, now: &Idle) -> Option<String> {
    if is_busy(before, now) {
        return None;
    }
    let usual = (before.middle_s - before.least_s).max(now.middle_s - now.least_s);
    let over = least(
        runs.iter()
            .map(|run| excess_s(run, before) - slack_s(run) - usual),
    );
    let swept = least(runs.iter().map(|run| sweep_excess_s(run, before)));
    let clock = least(runs.iter().map(|run| run.round_s - before.least_s));
    let marks = median(
        &runs
            .iter()
            .map(|run| run.clocked.seconds)
            .collect::<Vec<_>>(),
    );
    (over > 0.0 || swept > 0.0).then(|| {
        format!(
            "its marks say {:.1} us, and the examiner's clock says {:.1} us",
            1e6 * marks,
            1e6 * clock
        )
    })
}

/// Whether the examiner's clock confirms a run's marks without any allowance for waiting.
fn is_exact(run: &Run, idle: &Idle) -> bool {
    let usual = (idle.middle_s - idle.least_s).max(0.0);
    excess_s(run, idle) <= slack_s(run) + usual && sweep_excess_s(run, idle) <= 0.0
}

/// What a run took: by its marks where both clocks agree, and else by the examiner's, which nobody
/// can move and which also holds what the run waited for.
fn believed_s(run: &Run, idle: &Idle) -> f64 {
    if agrees(run, idle) {
        run.clocked.seconds
    } else {
        run.clocked.seconds.max(run.round_s - idle.least_s)
    }
}

/// The marks that the examiner's clock confirms. An allowance for waiting could hide marks that
/// were moved, so those of runs without any decide where the others say less.
fn confirmed(runs: &[Run], idle: &Idle) -> Vec<f64> {
    let marks = |confirms: fn(&Run, &Idle) -> bool| -> Vec<f64> {
        let runs = runs.iter().filter(|run| confirms(run, idle));
        runs.map(|run| run.clocked.seconds).collect()
    };
    let (agreeing, exact) = (marks(agrees), marks(is_exact));
    let say_less = !exact.is_empty() && median(&exact) > (1.0 + STEADY_SHORT) * median(&agreeing);
    if say_less { exact } else { agreeing }
}

/// The timing from at least one run. `alone` says whether nobody else is known to use the GPU.
pub(super) fn timing(runs: &[Run], idle: &Idle, alone: bool) -> Timing {
    let all: Vec<f64> = runs.iter().map(|run| believed_s(run, idle)).collect();
    let kept = confirmed(runs, idle);
    let marked: Vec<f64> = runs.iter().map(|run| run.clocked.seconds).collect();
    let quiet = alone && kept.len() >= runs_of(median(&marked)).min(all.len());
    // Marks count only where a run confirms them.
    let basis = if kept.is_empty() { &all } else { &kept };
    Timing {
        min_s: least(basis.iter().copied()),
        median_s: median(basis),
        paper_s: mean(&all[..all.len().min(3)]),
        cv: variation(basis),
        samples: all.len() as u32,
        kept: kept.len() as u32,
        quiet,
        calls: 1,
        threads: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Idle = Idle {
        least_s: 150e-6,
        middle_s: 152e-6,
        sweep_s: 70e-6,
        seconds: 2e-6,
    };

    fn run(seconds: f64, round_s: f64) -> Run {
        let sweep_s = IDLE.sweep_s;
        Run {
            clocked: Clocked { seconds, sweep_s },
            round_s,
        }
    }

    fn honest(seconds: f64) -> Run {
        run(seconds, IDLE.least_s + seconds)
    }

    #[test]
    fn short_candidates_get_more_runs() {
        assert_eq!([5e-6, 20e-6, 1e-3, 0.2].map(runs_of), [10, 5, 5, 3]);
        assert!(!is_enough(&[honest(1e-3); 4]));
        assert!(is_enough(&[honest(1e-3); 5]));
        let noisy: Vec<Run> = (0..15)
            .map(|at| honest(1e-3 + f64::from(at % 2) * 1e-4))
            .collect();
        assert!(!is_enough(&noisy[..14]));
        assert!(is_enough(&noisy), "there is an end to it");
    }

    #[test]
    fn marks_that_were_moved_contradict_the_clock() {
        let honest = [honest(1e-3); 5];
        assert_eq!(contradiction(&honest, &IDLE, &IDLE), None);
        let moved = [run(0.1e-3, IDLE.least_s + 1e-3); 5];
        let why = contradiction(&moved, &IDLE, &IDLE).unwrap();
        assert!(
            why.contains("100.0 us") && why.contains("1000.0 us"),
            "{why}"
        );
        let busy = Idle {
            least_s: 3e-3,
            ..IDLE
        };
        assert_eq!(
            contradiction(&moved, &IDLE, &busy),
            None,
            "others use the GPU"
        );
        let mut waited = moved;
        waited[2] = honest[2];
        assert_eq!(
            contradiction(&waited, &IDLE, &IDLE),
            None,
            "one run shows that the others waited"
        );
        let mut later = honest;
        for run in &mut later {
            run.clocked.sweep_s += 0.5e-3;
        }
        assert!(
            contradiction(&later, &IDLE, &IDLE).is_some(),
            "the first mark was moved"
        );
    }

    #[test]
    fn the_median_of_runs_that_both_clocks_agree_on_counts() {
        let runs: Vec<Run> = [1.0, 1.1, 1.2, 1.3, 1.4].map(|ms| honest(ms * 1e-3)).into();
        let quiet = timing(&runs, &IDLE, true);
        assert!((quiet.median_s - 1.2e-3).abs() < 1e-12 && quiet.quiet);
        assert!((quiet.paper_s - 1.1e-3).abs() < 1e-12);
        assert_eq!((quiet.samples, quiet.kept, quiet.threads), (5, 5, None));
        assert!(!timing(&runs, &IDLE, false).quiet, "others use the GPU");
        let mut disturbed = runs;
        disturbed[0].round_s += 5e-3;
        let loud = timing(&disturbed, &IDLE, true);
        assert_eq!((loud.kept, loud.quiet), (4, false));
        assert!((loud.median_s - 1.25e-3).abs() < 1e-12, "of the four");
    }

    #[test]
    fn one_honest_run_confirms_no_moved_marks() {
        let truth = 420e-6;
        let mut runs = vec![run(22e-6, IDLE.least_s + truth); 14];
        runs.push(honest(truth));
        let timed = timing(&runs, &IDLE, true);
        assert!(timed.median_s > 0.9 * truth && !timed.quiet, "{timed:?}");
    }

    #[test]
    fn marks_that_no_run_confirms_do_not_count() {
        let moved = [run(0.1e-3, IDLE.least_s + 1e-3); 5];
        let timed = timing(&moved, &IDLE, false);
        assert_eq!((timed.kept, timed.quiet), (0, false));
        for seconds in [timed.median_s, timed.min_s, timed.paper_s] {
            assert!((seconds - 1e-3).abs() < 1e-12, "{timed:?}");
        }
        let mut some = moved;
        some[4] = honest(1e-3);
        let timed = timing(&some, &IDLE, true);
        assert_eq!((timed.kept, timed.quiet), (1, false));
        assert!((timed.median_s - 1e-3).abs() < 1e-12, "{timed:?}");
    }
}
