//! Watches for a collapse of the policy, and reacts to it.
//!
//! Similar answers and groups of equal rewards teach nothing, so the temperature rises by 0.1.
//! Groups that the machine spoiled say nothing about the answers and do not count. A run ends if
//! the loss is NaN, if the policy diverges from its reference, or if a higher temperature does not
//! end a standstill.
//!
//! Only the run's own task is watched. Live groups of practised tasks would hide that its answers
//! become similar, and their turns would show in the curves. A standstill is determined from all
//! groups.

use std::collections::BTreeSet;

use hotloop_flow::advantage::{Fate, NOISE_FACTOR};
use hotloop_flow::policy::Updated;

use crate::event::{Answer, GroupFinished, GroupSampled, Made, StepSampled, Watched};
use crate::plan::Plan;
use crate::standstill::{self, Standstill};
use crate::state::{Group, RunState, Step};

/// Below this share of distinct candidates the temperature rises.
const LEAST_DISTINCT: f64 = 0.4;
/// Below this share of live groups the temperature rises.
const LEAST_LIVE: f64 = 0.5;
const RAISE: f64 = 0.1;
/// A KL divergence this many times the largest of the last steps is a jump.
const LEAP: f64 = 3.0;
/// The sampler is suspect if its logprobs differ from the trainer's by more than this on average.
const WIDEST_GAP: f64 = 0.02;
/// Above this temperature samples make no sense.
const HOTTEST: f64 = 1.5;
/// Steps that a share is computed from. A raise also gets this many steps to take effect.
const WINDOW: usize = 8;
/// A lasting warning is repeated after this many steps.
const AGAIN: usize = 20;
/// Added to the warning if the temperature cannot rise any further.
const AT_LIMIT: &str = ", and the temperature is at its limit";
/// A share needs at least this many groups in the window.
const LEAST_TELLING: u32 = 4;

/// What one step shows.
pub(crate) fn watched(
    sampled: &StepSampled,
    groups: &[GroupFinished],
    updated: Option<&Updated>,
) -> Watched {
    let own = || own(sampled, groups);
    let answers = || own().flat_map(|(group, _)| &group.answers);
    let normals: BTreeSet<&str> = answers()
        .filter_map(|answer| match &answer.made {
            Made::Candidate { normal, .. } => Some(normal.as_str()),
            Made::Malformed { .. } => None,
        })
        .collect();
    let candidates = answers()
        .filter(|answer| matches!(answer.made, Made::Candidate { .. }))
        .count();
    let live = own().filter(|(_, done)| done.fate == Fate::Live).count();
    let updated = updated.filter(|updated| is_finite(updated));
    Watched {
        // The same estimate at every step, with or without an update.
        entropy: surprise(answers()).or(updated.map(|updated| updated.entropy)),
        // Malformed answers are not copies of each other.
        distinct: if candidates == 0 {
            1.0
        } else {
            normals.len() as f64 / candidates as f64
        },
        live: live as f64 / own().count().max(1) as f64,
        kl: updated.and_then(|updated| updated.kl),
    }
}

/// The groups of the run's own task.
fn own<'a>(
    sampled: &'a StepSampled,
    groups: &'a [GroupFinished],
) -> impl Iterator<Item = (&'a GroupSampled, &'a GroupFinished)> {
    sampled
        .groups
        .iter()
        .zip(groups)
        .filter(|(group, _)| group.asked.task.is_none())
}

/// The mean of `-logprob` over sampled tokens, which is an unbiased estimate of the entropy.
fn surprise<'a>(answers: impl Iterator<Item = &'a Answer>) -> Option<f64> {
    let logprobs: Vec<f64> = answers
        .flat_map(|answer| &answer.logprobs)
        .map(|logprob| -f64::from(*logprob))
        .filter(|surprise| surprise.is_finite())
        .collect();
    (!logprobs.is_empty()).then(|| logprobs.iter().sum::<f64>() / logprobs.len() as f64)
}

/// The reaction to a step.
pub(crate) struct Action {
    pub(crate) temperature: f64,
    pub(crate) warnings: Vec<String>,
    pub(crate) stop: Option<String>,
    pub(crate) enough: Option<String>,
}

/// A step that is about to end.
pub(crate) struct Closing<'a> {
    pub(crate) lag: u64,
    /// All of its groups.
    pub(crate) groups: &'a [Group],
    pub(crate) watched: &'a Watched,
    pub(crate) updated: Option<&'a Updated>,
}

/// Decides what to do after this step and the last ones.
pub(crate) fn act(plan: &Plan, state: &RunState, now: &Closing<'_>) -> Action {
    let mut action = Action {
        temperature: state.temperature,
        warnings: Vec::new(),
        stop: None,
        enough: None,
    };
    if let Some(updated) = now.updated {
        action.stop = stop(plan.config.stepping.max_kl, updated, state);
        action.warnings.extend(gap(now.lag, updated, state));
    }
    // Only steps since the last change of temperature say something about the current one.
    let recent = state.steps.iter().rev().take(WINDOW - 1);
    let settled: Vec<&Step> = recent
        .take_while(|step| (step.temperature - state.temperature).abs() < 1e-9)
        .collect();
    if settled.len() + 1 < WINDOW {
        return action;
    }
    if let Some((share, of)) = alike(&settled, now, plan.config.learning.std_floor) {
        let why = format!("only {:.0} % of the {of}", share * 100.0);
        let hotter = (state.temperature + RAISE).min(HOTTEST.max(state.temperature));
        if hotter > state.temperature {
            action.temperature = hotter;
            action
                .warnings
                .push(format!("{why}: the temperature rises to {hotter:.2}"));
            return action;
        }
        if !was_told(state, AGAIN, &format!("{of}{AT_LIMIT}")) {
            action.warnings.push(format!("{why}{AT_LIMIT}"));
        }
    }
    if let Some(Standstill {
        is_sound,
        why,
        remedy,
    }) = standstill::of(plan, state, now.groups, now.watched.distinct)
    {
        action.warnings.push(remedy);
        *(if is_sound {
            &mut action.enough
        } else {
            &mut action.stop
        }) = Some(why);
    }
    action
}

/// The share that is too low to learn from, and its name, if there is one.
fn alike(settled: &[&Step], now: &Closing<'_>, floor: f64) -> Option<(f64, &'static str)> {
    let distinct = settled
        .iter()
        .map(|step| step.watched.distinct)
        .sum::<f64>()
        + now.watched.distinct;
    let distinct = distinct / WINDOW as f64;
    if distinct < LEAST_DISTINCT {
        return Some((distinct, "candidates are distinct"));
    }
    let earlier = settled.iter().flat_map(|step| &step.groups);
    let own = earlier.chain(now.groups.iter().filter(|group| group.asked.task.is_none()));
    let live = live_share(own.map(|group| (group.fate, group.noise)), floor)?;
    (live < LEAST_LIVE).then_some((live, "groups are live"))
}

/// Whether one of the last `within - 1` steps gave this warning. A lasting problem is reported when
/// it begins and occasionally after that, not at every step.
fn was_told(state: &RunState, within: usize, words: &str) -> bool {
    let recent = state.steps.iter().rev().take(within - 1);
    recent
        .flat_map(|step| &step.warnings)
        .any(|warning| warning.contains(words))
}

/// Warns once if the sampler differs from the policy that learns, because that biases every update.
/// Answers that were sampled ahead differ by one update anyway and do not count.
fn gap(lag: u64, updated: &Updated, state: &RunState) -> Option<String> {
    const WORDS: &str = "the sampler's logprobs differ from the trainer's by";
    let is_wide = lag == 0 && updated.sampler_gap > WIDEST_GAP;
    (is_wide && !was_told(state, usize::MAX, WORDS)).then(|| {
        format!(
            "{WORDS} {:.3} on average, and more than {WIDEST_GAP} is suspect: weights of 16 bits \
             or fewer may be the reason",
            updated.sampler_gap
        )
    })
}

/// Live groups as a share of the groups that say something about the answers; `None` if these are
/// few. Each group comes with its fate and noise. A dropped group only shows that the machine
/// failed. The same holds for a drowned group whose noise exceeds what the floor of the standard
/// deviation makes harmless. A group that drowned on a quiet machine has similar answers.
fn live_share(fates: impl Iterator<Item = (Fate, f64)>, floor: f64) -> Option<f64> {
    let (mut live, mut alike) = (0, 0);
    for (fate, noise) in fates {
        match fate {
            Fate::Live => live += 1,
            Fate::Dead => alike += 1,
            Fate::Drowned if NOISE_FACTOR * noise <= floor => alike += 1,
            Fate::Drowned | Fate::Dropped => {}
        }
    }
    let telling = live + alike;
    (telling >= LEAST_TELLING).then(|| f64::from(live) / f64::from(telling))
}

/// A KL divergence that grows step by step is learning. One that jumps means that the policy
/// diverges.
fn stop(max_kl: f64, updated: &Updated, state: &RunState) -> Option<String> {
    if !is_finite(updated) {
        return Some("stopped: the update contains NaN or infinity".to_owned());
    }
    let recent = state
        .steps
        .iter()
        .rev()
        .filter_map(|step| step.watched.kl)
        .take(WINDOW);
    let usual = recent.fold(0.0, f64::max);
    let kl = updated
        .kl
        .filter(|kl| max_kl > 0.0 && *kl > max_kl && *kl > LEAP * usual)?;
    Some(format!(
        "stopped: the KL divergence from the reference jumped from {usual:.2} to {kl:.2}, above \
         {max_kl}"
    ))
}

/// Whether all of an update's numbers are finite.
pub(crate) fn is_finite(updated: &Updated) -> bool {
    let Updated {
        loss,
        gradient_norm,
        kl,
        clipped,
        entropy,
        ..
    } = *updated;
    [loss, gradient_norm, clipped, entropy]
        .into_iter()
        .chain(kl)
        .all(f64::is_finite)
}
