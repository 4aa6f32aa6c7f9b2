//! Runs both sides of a pair as candidates of a harness's task, and says what that showed.

use std::sync::Arc;

use hotloop_flow::{Job, JobId, Label, Verdict};

use super::harness::Harness;
use super::ran::{Mark, Ran, RunSide, Speedup};
use super::record::Record;

/// Judges both sides `rounds` times, in turns, and compares their times. `judge` may fail for
/// reasons that say nothing of the pair.
pub fn run<E>(
    harness: &Harness,
    record: &Record,
    rounds: usize,
    (machine, device): (&str, &str),
    judge: &mut dyn FnMut(Job) -> Result<Verdict, E>,
) -> Result<Ran, E> {
    let candidates = harness.candidates(record);
    let mut sides = [Judged::default(), Judged::default()];
    for round in 0..rounds {
        // The side that is first in one round is second in the next one.
        for at in [round % 2, 1 - round % 2] {
            let verdict = match &candidates[at] {
                Ok(candidate) => judge(Job {
                    id: JobId((2 * round + at) as u64),
                    task: Arc::clone(&harness.task),
                    candidate: candidate.clone(),
                    stage: None,
                })?,
                Err(why) => Verdict::Malformed { why: why.clone() },
            };
            sides[at].take(verdict);
        }
        if sides.iter().any(|side| side.failed.is_some()) {
            break;
        }
    }
    let [slow, fast] = &sides;
    let speedup = speedup(slow, fast).filter(|_| slow.is_right() && fast.is_right());
    let mark = mark(slow, fast, speedup);
    Ok(Ran {
        harness: harness.name.clone(),
        mark,
        equal: match mark {
            Mark::Faster | Mark::AsFast | Mark::Slower => Some(true),
            Mark::Unequal => Some(false),
            Mark::Unproven => None,
        },
        speedup,
        slow: slow.told(),
        fast: fast.told(),
        machine: machine.to_owned(),
        device: device.to_owned(),
    })
}

/// The verdicts on one side so far.
#[derive(Default)]
struct Judged {
    seconds: Vec<f64>,
    quiet: Vec<bool>,
    error: f64,
    failed: Option<Verdict>,
}

impl Judged {
    fn take(&mut self, verdict: Verdict) {
        let Verdict::Correct(measured) = verdict else {
            self.failed = Some(verdict);
            return;
        };
        self.seconds.push(measured.seconds);
        self.quiet.push(measured.timing.quiet);
        self.error = self.error.max(measured.checks.error);
    }

    fn is_right(&self) -> bool {
        self.failed.is_none() && !self.seconds.is_empty()
    }

    fn told(&self) -> RunSide {
        let failed = self.failed.as_ref();
        RunSide {
            verdict: failed.map_or(Label::Correct, Verdict::label),
            detail: failed.map_or_else(String::new, Verdict::detail),
            seconds: (!self.seconds.is_empty()).then(|| median(&self.seconds)),
            error: (!self.seconds.is_empty()).then_some(self.error),
        }
    }
}

fn mark(slow: &Judged, fast: &Judged, speedup: Option<Speedup>) -> Mark {
    let failed = |side: &Judged| side.failed.as_ref().map(Verdict::label);
    match (failed(slow), failed(fast), speedup) {
        (None, None, Some(speedup)) if speedup.low > 1.0 => Mark::Faster,
        (None, None, Some(speedup)) if speedup.high < 1.0 => Mark::Slower,
        (None, None, Some(_)) => Mark::AsFast,
        // Only what ran says something of the pair.
        (None, Some(Label::Wrong | Label::Crashed | Label::TimedOut), _) => Mark::Unequal,
        _ => Mark::Unproven,
    }
}

fn speedup(slow: &Judged, fast: &Judged) -> Option<Speedup> {
    let pairs = slow.seconds.iter().zip(&fast.seconds);
    let mut ratios: Vec<f64> = pairs.map(|(slow, fast)| slow / fast).collect();
    ratios.sort_by(f64::total_cmp);
    let cut = outside(ratios.len());
    let quiet = slow.quiet.iter().zip(&fast.quiet);
    Some(Speedup {
        value: (!ratios.is_empty()).then(|| median(&ratios))?,
        low: *ratios.get(cut)?,
        high: *ratios.get(ratios.len().checked_sub(1 + cut)?)?,
        rounds: ratios.len(),
        quiet: quiet.filter(|(slow, fast)| **slow && **fast).count(),
    })
}

/// How many of `n` sorted values may be cut off at each end, so that the others still enclose the
/// true median with 95 %: a value lies below the median as often as a coin shows heads.
fn outside(n: usize) -> usize {
    let mut cut = 0;
    let mut ways = 1.0;
    let mut tail = 0.5f64.powi(n as i32);
    while cut < n {
        ways *= (n - cut) as f64 / (cut + 1) as f64;
        tail += ways * 0.5f64.powi(n as i32);
        if tail > 0.025 {
            break;
        }
        cut += 1;
    }
    cut
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    } else {
        sorted[middle]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_leaves_out_no_more_than_it_may() {
        let cut = [1, 5, 6, 8, 9, 11, 12, 20].map(outside);
        assert_eq!(cut, [0, 0, 0, 0, 1, 1, 2, 5]);
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_two() {
        let close = |values: &[f64], median: f64| (super::median(values) - median).abs() < 1e-12;
        assert!(close(&[3.0, 1.0, 2.0], 2.0) && close(&[4.0, 1.0, 2.0, 3.0], 2.5));
    }
}
