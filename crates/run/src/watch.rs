//! What is watched lest the policy collapse, and what is done about it.
//!
//! Answers that become alike, or groups in which nothing differs, teach nothing: the
//! temperature rises by a tenth. A loss that is no number, or a policy that ran away from
//! its reference, ends the run.
//!
//! Only the run's own task is watched: lively groups of practised ones would hide that its
//! answers become alike, and every turn of theirs would show in the curves.

use std::collections::BTreeSet;

use flow::advantage::Fate;
use flow::policy::Updated;

use crate::event::{Answer, GroupFinished, Made, StepSampled, Watched};
use crate::plan::Plan;
use crate::state::RunState;

/// Below this share of distinct candidates the temperature rises.
const LEAST_DISTINCT: f64 = 0.4;
/// Below this share of live groups the temperature rises.
const LEAST_LIVE: f64 = 0.5;
const RAISE: f64 = 0.1;
/// A divergence so many times the largest of the last steps is a leap.
const LEAP: f64 = 3.0;
/// Above this nothing sensible is sampled any more.
const HOTTEST: f64 = 1.5;
/// Steps that a share is told from; a raise is given as many to show its effect.
const WINDOW: usize = 8;

/// What one step shows.
pub(crate) fn watched(sampled: &StepSampled, groups: &[GroupFinished], updated: Option<&Updated>) -> Watched {
    let own = || sampled.groups.iter().zip(groups).filter(|(group, _)| group.asked.task.is_none());
    let answers = || own().flat_map(|(group, _)| &group.answers);
    let normals: BTreeSet<&str> = answers()
        .filter_map(|answer| match &answer.made {
            Made::Candidate { normal, .. } => Some(normal.as_str()),
            Made::Malformed { .. } => None,
        })
        .collect();
    let candidates = answers().filter(|answer| matches!(answer.made, Made::Candidate { .. })).count();
    let live = own().filter(|(_, done)| done.fate == Fate::Live).count();
    let updated = updated.filter(|updated| is_finite(updated));
    Watched {
        // The same estimate at every step, whether or not it was learned from.
        entropy: surprise(answers()).or(updated.map(|updated| updated.entropy)),
        // Malformed answers are no copies of each other.
        distinct: if candidates == 0 { 1.0 } else { normals.len() as f64 / candidates as f64 },
        live: live as f64 / own().count().max(1) as f64,
        kl: updated.map(|updated| updated.kl),
    }
}

/// The mean of `-logprob` over sampled tokens: an unbiased look at the entropy.
fn surprise<'a>(answers: impl Iterator<Item = &'a Answer>) -> Option<f64> {
    let logprobs: Vec<f64> = answers
        .flat_map(|answer| &answer.logprobs)
        .map(|logprob| -f64::from(*logprob))
        .filter(|surprise| surprise.is_finite())
        .collect();
    (!logprobs.is_empty()).then(|| logprobs.iter().sum::<f64>() / logprobs.len() as f64)
}

/// What is done about what was seen.
pub(crate) struct Action {
    pub(crate) temperature: f64,
    pub(crate) warnings: Vec<String>,
    pub(crate) stop: Option<String>,
}

/// Decides from this step and the last ones.
pub(crate) fn act(plan: &Plan, state: &RunState, now: &Watched, updated: Option<&Updated>) -> Action {
    let mut action = Action { temperature: state.temperature, warnings: Vec::new(), stop: None };
    if let Some(updated) = updated {
        action.stop = stop(plan.config.stepping.max_kl, updated, state);
    }
    // Only steps since the last change of temperature tell of the present one.
    let recent = state.steps.iter().rev().take(WINDOW - 1);
    let settled = recent.take_while(|step| (step.temperature - state.temperature).abs() < 1e-9);
    let window: Vec<Watched> = settled.map(|step| step.watched).chain([*now]).collect();
    if window.len() < WINDOW {
        return action;
    }
    let mean = |of: fn(&Watched) -> f64| window.iter().map(of).sum::<f64>() / window.len() as f64;
    let (distinct, live) = (mean(|watched| watched.distinct), mean(|watched| watched.live));
    let why = if distinct < LEAST_DISTINCT {
        format!("only {:.0} % of the candidates are distinct", distinct * 100.0)
    } else if live < LEAST_LIVE {
        format!("only {:.0} % of the groups are live", live * 100.0)
    } else {
        return action;
    };
    let hotter = (state.temperature + RAISE).min(HOTTEST.max(state.temperature));
    if hotter > state.temperature {
        action.temperature = hotter;
        action.warnings.push(format!("{why}: the temperature rises to {hotter:.2}"));
    } else {
        action.warnings.push(format!("{why}, and the temperature is at its limit"));
    }
    action
}

/// A divergence that grew step by step is learning; one that leaps is a policy falling apart.
fn stop(max_kl: f64, updated: &Updated, state: &RunState) -> Option<String> {
    if !is_finite(updated) {
        return Some("stopped: the update is not a number".to_owned());
    }
    let recent = state.steps.iter().rev().filter_map(|step| step.watched.kl).take(WINDOW);
    let usual = recent.fold(0.0, f64::max);
    (max_kl > 0.0 && updated.kl > max_kl && updated.kl > LEAP * usual).then(|| {
        format!("stopped: the divergence from the reference leapt from {usual:.2} to {:.2}, above {max_kl}", updated.kl)
    })
}

/// Whether all of an update's numbers are numbers.
pub(crate) fn is_finite(updated: &Updated) -> bool {
    [updated.loss, updated.gradient_norm, updated.kl, updated.clipped, updated.entropy].into_iter().all(f64::is_finite)
}
