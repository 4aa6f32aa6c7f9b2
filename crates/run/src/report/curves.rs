//! A run's curves for a page: columns of numbers, with neighbouring steps joined in long runs.

use std::collections::BTreeMap;

use hotloop_flow::verdict::Label;
use serde::Serialize;

use super::points::{Point, mean, standard_error};
use crate::event::StepSeconds;

/// Maximum number of points of a curve. A screen shows no more, and a page must stay quick.
const POINTS: usize = 300;
/// Standard errors on each side of a 95 % interval.
const SIDE: f64 = 1.96;

/// The curves of a run. All columns have the same length.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Curves {
    /// The last step of each point, counted from 1.
    pub step: Vec<u64>,
    /// How many steps each point joins.
    pub joined: usize,
    pub reward: Vec<Option<f64>>,
    /// The 95 % interval of the mean reward, where it is known.
    pub reward_low: Vec<Option<f64>>,
    pub reward_high: Vec<Option<f64>>,
    /// Mean speed of all answers, failures counted as 0.
    pub speed: Vec<Option<f64>>,
    /// The fastest of the steps.
    pub fastest: Vec<Option<f64>>,
    /// The fastest so far.
    pub best: Vec<Option<f64>>,
    pub correct: Vec<Option<f64>>,
    pub entropy: Vec<Option<f64>>,
    pub distinct: Vec<Option<f64>>,
    pub kl: Vec<Option<f64>>,
    pub temperature: Vec<Option<f64>>,
    /// The share of answers with each verdict that occurs; `masked` for failures of the machine.
    pub verdicts: BTreeMap<String, Vec<f64>>,
    /// Seconds per step: what the policy did, and what the bench did.
    pub policy: BTreeMap<&'static str, Vec<f64>>,
    pub bench: BTreeMap<&'static str, Vec<f64>>,
}

impl Curves {
    /// The curves of a run's steps.
    pub(super) fn of(points: &[Point]) -> Self {
        let joined = points.len().div_ceil(POINTS).max(1);
        let mut curves = Self {
            joined,
            ..Self::default()
        };
        for part in points.chunks(joined) {
            curves.push(part);
        }
        let names = Label::ALL.map(|label| (label.name(), Some(label)));
        for (name, label) in names.into_iter().chain([("masked", None)]) {
            let share = |part: &[Point]| {
                let all: usize = part.iter().map(Point::answers).sum();
                let counted = part.iter().map(|point| match label {
                    Some(label) => point.verdicts.get(&label).copied().unwrap_or(0),
                    None => point.masked,
                });
                rounded(counted.sum::<usize>() as f64 / all.max(1) as f64)
            };
            let shares: Vec<f64> = points.chunks(joined).map(share).collect();
            if shares.iter().any(|share| *share > 0.0) {
                curves.verdicts.insert(name.to_owned(), shares);
            }
        }
        curves.seconds(points);
        curves
    }

    fn push(&mut self, part: &[Point]) {
        let mean = |of: fn(&Point) -> Option<f64>| {
            let values: Vec<f64> = part.iter().filter_map(of).collect();
            mean(&values).map(rounded)
        };
        let most = |of: fn(&Point) -> Option<f64>| part.iter().filter_map(of).reduce(f64::max);
        self.step
            .push(part.last().map_or(0, |point| point.step + 1));
        let reward = mean(|point| point.mean_reward);
        let side = error(part).map(|error| SIDE * error);
        let both = reward.zip(side);
        self.reward_low
            .push(both.map(|(mean, side)| rounded(mean - side)));
        self.reward_high
            .push(both.map(|(mean, side)| rounded(mean + side)));
        self.reward.push(reward);
        self.speed.push(mean(|point| point.mean_speed_all));
        self.fastest
            .push(most(|point| point.max_speed).map(rounded));
        self.best.push(most(|point| point.best_speed).map(rounded));
        self.correct
            .push(mean(|point| Some(point.share(Label::Correct))));
        self.entropy.push(mean(|point| point.entropy));
        self.distinct.push(mean(|point| Some(point.distinct)));
        self.kl.push(mean(|point| point.kl));
        self.temperature.push(mean(|point| Some(point.temperature)));
    }

    fn seconds(&mut self, points: &[Point]) {
        type Part = (&'static str, fn(&StepSeconds) -> f64);
        let policy: [Part; 4] = [
            ("sampling", |seconds| seconds.sampling),
            ("updating", |seconds| seconds.updating),
            ("waiting", |seconds| seconds.policy_idle),
            ("other", |seconds| {
                seconds.wall - seconds.sampling - seconds.updating - seconds.policy_idle
            }),
        ];
        let bench: [Part; 2] = [
            ("judging", |seconds| seconds.judging.min(seconds.wall)),
            ("waiting", |seconds| seconds.bench_idle),
        ];
        let column = |of: fn(&StepSeconds) -> f64| -> Vec<f64> {
            let each = |part: &[Point]| {
                let values: Vec<f64> = part
                    .iter()
                    .map(|point| of(&point.seconds).max(0.0))
                    .collect();
                rounded(mean(&values).unwrap_or(0.0))
            };
            points.chunks(self.joined).map(each).collect()
        };
        self.policy = policy.map(|(name, of)| (name, column(of))).into();
        self.bench = bench.map(|(name, of)| (name, column(of))).into();
    }
}

/// The standard error of the mean reward of some steps. Answers to one prompt resemble each other,
/// so groups count, or steps where a step has a single group.
fn error(part: &[Point]) -> Option<f64> {
    let within: Option<Vec<f64>> = part.iter().map(|point| point.reward_error).collect();
    if let Some(within) = within.filter(|within| !within.is_empty()) {
        let squares: f64 = within.iter().map(|error| error * error).sum();
        return Some(squares.sqrt() / within.len() as f64);
    }
    let means: Vec<f64> = part.iter().filter_map(|point| point.mean_reward).collect();
    standard_error(&means)
}

/// Four digits, which is more than a figure shows.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10f64.powi(3 - value.abs().log10().floor() as i32);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use hotloop_flow::language::c::stages;

    use super::super::points;
    use super::*;
    use crate::fixture::{asked, correct, group, step, wrong};
    use crate::state::RunState;

    fn of(steps: u64) -> Curves {
        let mut state = RunState::default();
        for number in 0..steps {
            let mut groups = Vec::new();
            for reward in [1.0, 3.0] {
                let asked = asked(None, stages::ALL);
                let mut group = group(asked, "a", [correct(number as f64 + 1.0), wrong()]);
                for member in &mut group.members {
                    member.reward = Some(reward);
                }
                groups.push(group);
            }
            state.steps.push(step(number, groups));
        }
        Curves::of(&points::points(&state))
    }

    #[test]
    fn short_runs_keep_every_step_and_long_ones_are_joined() {
        let short = of(3);
        assert_eq!((short.joined, &short.step[..]), (1, &[1, 2, 3][..]));
        assert_eq!(short.best, [Some(1.0), Some(2.0), Some(3.0)]);
        assert_eq!(short.verdicts["wrong"], [0.5; 3]);
        let long = of(1000);
        assert_eq!((long.joined, long.step.len()), (4, 250));
        assert_eq!((long.step[0], long.step[249]), (4, 1000));
        assert_eq!(long.fastest[0], Some(4.0));
        assert_eq!(long.policy["sampling"].len(), 250);
    }

    #[test]
    fn the_interval_counts_groups_and_narrows_with_joined_steps() {
        // Two groups with means 1 and 3: the standard error is sqrt(2) / sqrt(2) = 1.
        let short = of(3);
        assert_eq!(short.reward[0], Some(2.0));
        assert_eq!(
            (short.reward_low[0], short.reward_high[0]),
            (Some(0.04), Some(3.96))
        );
        // Four such steps: half of it.
        let long = of(1000);
        assert_eq!(
            (long.reward_low[0], long.reward_high[0]),
            (Some(1.02), Some(2.98))
        );
        assert_eq!(standard_error(&[1.0]), None);
    }

    #[test]
    fn numbers_keep_four_digits() {
        for (value, told) in [
            (123_456.0, 123_500.0),
            (0.012_345_6, 0.012_35),
            (0.0, 0.0),
            (-2.0, -2.0),
        ] {
            assert!((rounded(value) - told).abs() < 1e-9, "{value}");
        }
        assert_eq!(rounded(f64::NAN).to_bits(), 0);
    }
}
