//! A run's steps as points of curves.

use std::collections::BTreeMap;

use hotloop_flow::advantage::Fate;
use hotloop_flow::verdict::{Label, Verdict};
use serde::Serialize;

use crate::event::StepSeconds;
use crate::state::{Member, RunState, Step};

/// One step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// Its number, from 0.
    pub step: u64,
    /// The iteration of the search.
    pub iteration: Option<u32>,
    /// Mean reward of the unmasked answers.
    pub mean_reward: Option<f64>,
    /// Standard error of the mean reward, where there are several groups. Answers to one prompt
    /// resemble each other, so groups count.
    pub reward_error: Option<f64>,
    /// A tenth of the rewards lie below.
    pub low_reward: Option<f64>,
    /// A tenth of the rewards lie above.
    pub high_reward: Option<f64>,
    /// The highest reward.
    pub best_reward: Option<f64>,
    /// Mean speed of the correct answers.
    pub mean_speed: Option<f64>,
    /// Mean speed of all answers except masked and suspect ones, failures counted as 0.
    pub mean_speed_all: Option<f64>,
    /// The fastest of the step.
    pub max_speed: Option<f64>,
    /// The fastest so far.
    pub best_speed: Option<f64>,
    /// The number of answers with each verdict.
    pub verdicts: BTreeMap<Label, usize>,
    /// Answers that the machine failed to judge.
    pub masked: usize,
    /// Live groups as a share of all.
    pub live: f64,
    /// Distinct candidates as a share of all.
    pub distinct: f64,
    /// Mean entropy of the policy.
    pub entropy: Option<f64>,
    /// KL divergence from the reference policy, where it was measured.
    pub kl: Option<f64>,
    pub loss: Option<f64>,
    /// Mean distance between the trainer's and the sampler's logprobs.
    pub sampler_gap: Option<f64>,
    /// The sampling temperature.
    pub temperature: f64,
    /// How many updates behind the sampler was.
    pub lag: u64,
    /// Mean tokens of an answer.
    pub tokens: f64,
    /// Where the time went.
    pub seconds: StepSeconds,
}

impl Point {
    /// All answers of the step.
    pub fn answers(&self) -> usize {
        self.verdicts.values().sum::<usize>() + self.masked
    }

    /// The share of one verdict.
    pub fn share(&self, label: Label) -> f64 {
        let count = self.verdicts.get(&label).copied().unwrap_or(0);
        if self.answers() == 0 {
            0.0
        } else {
            count as f64 / self.answers() as f64
        }
    }
}

/// A run's sums.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Totals {
    pub steps: usize,
    pub answers: usize,
    pub updates: usize,
    /// Groups that taught nothing: all rewards were equal, noise drowned them, or they were
    /// dropped.
    pub lost_groups: BTreeMap<String, usize>,
    /// The number of answers with each verdict.
    pub verdicts: BTreeMap<Label, usize>,
    /// Answers that the machine failed to judge.
    pub masked: usize,
    /// Where the time went.
    pub seconds: StepSeconds,
    /// How often the run was resumed.
    pub resumed: u32,
}

pub(super) fn points(state: &RunState) -> Vec<Point> {
    let mut best: Option<f64> = None;
    let mut points = Vec::new();
    for step in &state.steps {
        let point = point(step, best);
        best = point.best_speed;
        points.push(point);
    }
    points
}

/// The point of a step. The line that a step prints uses it, too.
pub(super) fn point(step: &Step, best_before: Option<f64>) -> Point {
    let mut rewards: Vec<f64> = step.members().filter_map(|member| member.reward).collect();
    rewards.sort_by(f64::total_cmp);
    let quantile = |share: f64| {
        let last = rewards.len().checked_sub(1)?;
        rewards.get((last as f64 * share).round() as usize).copied()
    };
    let speeds: Vec<f64> = step.members().filter_map(|member| member.speed).collect();
    let max_speed = speeds.iter().copied().reduce(f64::max);
    let mut verdicts = BTreeMap::new();
    for verdict in step.members().filter_map(|member| member.verdict.as_ref()) {
        *verdicts.entry(verdict.label()).or_insert(0) += 1;
    }
    let judged: usize = verdicts.values().sum();
    let members = step.members().count();
    let tokens: usize = step.members().map(|member| member.tokens).sum();
    Point {
        step: step.number,
        iteration: step.iteration,
        mean_reward: mean(&rewards),
        reward_error: reward_error(step),
        low_reward: quantile(0.1),
        high_reward: quantile(0.9),
        best_reward: rewards.last().copied(),
        mean_speed: mean(&speeds),
        mean_speed_all: mean(&step.members().filter_map(counted).collect::<Vec<f64>>()),
        max_speed,
        best_speed: [max_speed, best_before]
            .into_iter()
            .flatten()
            .reduce(f64::max),
        masked: members - judged,
        verdicts,
        live: step.watched.live,
        distinct: step.watched.distinct,
        entropy: step.watched.entropy,
        kl: step.watched.kl,
        loss: step.updated.as_ref().map(|updated| updated.loss),
        sampler_gap: step.updated.as_ref().map(|updated| updated.sampler_gap),
        temperature: step.temperature,
        lag: step.lag,
        tokens: if members == 0 {
            0.0
        } else {
            tokens as f64 / members as f64
        },
        seconds: step.seconds,
    }
}

fn reward_error(step: &Step) -> Option<f64> {
    let means = step.groups.iter().filter_map(|group| {
        let rewards = group.members.iter().filter_map(|member| member.reward);
        mean(&rewards.collect::<Vec<f64>>())
    });
    standard_error(&means.collect::<Vec<f64>>())
}

/// The standard error of a mean; `None` of fewer than two values.
pub(super) fn standard_error(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|_| values.len() > 1)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let count = values.len() as f64;
    Some((squares / (count - 1.0) / count).sqrt())
}

/// A member's speed in statistics: 0 if it failed, `None` if it is masked.
fn counted(member: &Member) -> Option<f64> {
    match member.verdict.as_ref()? {
        Verdict::Suspect { .. } => None,
        _ => Some(member.speed.unwrap_or(0.0)),
    }
}

pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

pub(super) fn totals(points: &[Point], state: &RunState) -> Totals {
    let mut verdicts = BTreeMap::new();
    let mut seconds = StepSeconds::default();
    for point in points {
        for (label, count) in &point.verdicts {
            *verdicts.entry(*label).or_insert(0) += count;
        }
        seconds.wall += point.seconds.wall;
        seconds.sampling += point.seconds.sampling;
        seconds.judging += point.seconds.judging;
        seconds.updating += point.seconds.updating;
        seconds.policy_idle += point.seconds.policy_idle;
        seconds.bench_idle += point.seconds.bench_idle;
    }
    let mut lost_groups = BTreeMap::new();
    for group in state.steps.iter().flat_map(|step| &step.groups) {
        let name = match group.fate {
            Fate::Live => continue,
            Fate::Dead => "dead",
            Fate::Drowned => "drowned",
            Fate::Dropped => "dropped",
        };
        *lost_groups.entry(name.to_owned()).or_insert(0) += 1;
    }
    Totals {
        steps: points.len(),
        answers: points.iter().map(Point::answers).sum(),
        updates: state
            .steps
            .iter()
            .filter(|step| step.updated.is_some())
            .count(),
        lost_groups,
        verdicts,
        masked: points.iter().map(|point| point.masked).sum(),
        seconds,
        resumed: state.resumed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{asked, correct, group, step, suspect, wrong};

    #[test]
    fn a_failure_counts_as_0_and_a_suspect_not_at_all() {
        let all = |verdicts: Vec<hotloop_flow::Verdict>| {
            let group = group(
                asked(None, hotloop_flow::language::c::stages::ALL),
                "a",
                verdicts,
            );
            point(&step(0, vec![group]), None).mean_speed_all
        };
        assert_eq!(all(vec![correct(10.0), suspect(1e6)]), Some(10.0));
        assert_eq!(all(vec![correct(10.0), wrong()]), Some(5.0));
        assert_eq!(all(vec![suspect(1e6)]), None);
    }
}
