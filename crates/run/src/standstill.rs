//! Detects a standstill: many steps in a row that teach nothing and end the run.
//!
//! A policy learns only from differences between the rewards of a prompt's answers. A policy that
//! fails in the same way on every prompt cannot recover. If all answers are correct and earn the
//! same, nothing is left to learn. That is rare, because timings nearly always differ.
//!
//! Practised tasks count here, unlike in the other monitored values, because the policy learns from
//! them, too.

use std::collections::BTreeMap;

use hotloop_flow::{Label, count};

use crate::plan::Plan;
use crate::state::{Group, RunState};

/// Minimum number of steps in a row. This is more than two rounds of the eight fixed prompts, or of
/// the eight parents of an iteration.
const STEPS: usize = 20;
/// Minimum number of answers, which equals that many steps of the default group. If one answer in
/// fifty earned something else, the chance that none of these did would be 1 in 600.
const ANSWERS: usize = 320;

/// A run that stands still.
pub(crate) struct Standstill {
    /// Whether the policy is as good as the reward can show. Otherwise it has collapsed.
    pub(crate) is_sound: bool,
    /// What happened.
    pub(crate) why: String,
    /// What the user can do about it.
    pub(crate) remedy: String,
}

/// The standstill, if there is one, including the step that is about to end with these groups and
/// this share of distinct candidates.
pub(crate) fn of(
    plan: &Plan,
    state: &RunState,
    groups: &[Group],
    distinct: f64,
) -> Option<Standstill> {
    if !plan.learns() {
        return None;
    }
    let now = std::iter::once((groups.iter().collect(), distinct));
    let earlier = state
        .steps
        .iter()
        .rev()
        .map(|step| (step.all_groups().collect(), step.watched.distinct));
    let row = Row::of(now.chain(earlier));
    if row.steps < STEPS || row.answers < ANSWERS {
        return None;
    }
    let learned = state.steps.iter().any(|step| step.updated.is_some());
    Some(row.told(learned, plan.config.learning.beta))
}

/// What a group or a step shows about the answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    /// Two answers to a prompt earned different rewards.
    Apart,
    /// No two did.
    Alike,
    /// Nothing: the machine failed on most of them.
    Nothing,
}

fn of_group(group: &Group) -> Said {
    let mut rewards = group.members.iter().filter_map(|member| member.reward);
    let first = rewards.next();
    let differs = first.is_some_and(|first| rewards.any(|reward| reward.total_cmp(&first).is_ne()));
    // A suspect answer has no reward either, but that is the answer's fault.
    let judged = group
        .members
        .iter()
        .filter(|member| member.verdict.is_some())
        .count();
    match differs {
        true => Said::Apart,
        false if judged > 0 && judged * 2 >= group.members.len() => Said::Alike,
        false => Said::Nothing,
    }
}

fn of_step(groups: &[&Group]) -> Said {
    let said: Vec<Said> = groups.iter().map(|group| of_group(group)).collect();
    if said.contains(&Said::Apart) {
        Said::Apart
    } else if said.is_empty() || said.contains(&Said::Nothing) {
        Said::Nothing
    } else {
        Said::Alike
    }
}

/// Steps in a row in which all rewards were equal.
#[derive(Debug, Default)]
struct Row {
    steps: usize,
    /// Judged answers.
    answers: usize,
    verdicts: BTreeMap<Label, usize>,
    /// Sum over the steps of the share of distinct candidates.
    distinct: f64,
    /// Whether there were candidates at all.
    candidates: bool,
}

impl Row {
    /// The row of such steps that ends with the first of `steps`. They run backwards from the last
    /// one, each with its groups and its share of distinct candidates. Steps that show nothing are
    /// skipped.
    fn of<'a>(steps: impl Iterator<Item = (Vec<&'a Group>, f64)>) -> Self {
        let mut row = Self::default();
        for (groups, distinct) in steps {
            match of_step(&groups) {
                Said::Apart => break,
                Said::Alike => row.add(&groups, distinct),
                Said::Nothing => {}
            }
        }
        row
    }

    fn add(&mut self, groups: &[&Group], distinct: f64) {
        self.steps += 1;
        self.distinct += distinct;
        for member in groups.iter().flat_map(|group| &group.members) {
            let Some(verdict) = &member.verdict else {
                continue;
            };
            self.answers += 1;
            *self.verdicts.entry(verdict.label()).or_default() += 1;
            self.candidates |= member.hash.is_some();
        }
    }

    fn told(&self, learned: bool, beta: f64) -> Standstill {
        let of = |label: &Label| self.verdicts.get(label).copied().unwrap_or(0);
        let percent = |label: &Label| {
            format!(
                "{label} {:.0} %",
                100.0 * of(label) as f64 / self.answers as f64
            )
        };
        let steps = count(self.steps, "step");
        let distinct = format!(
            "distinct {:.0} %",
            100.0 * self.distinct / self.steps as f64
        );
        if of(&Label::Correct) == self.answers {
            return Standstill {
                is_sound: true,
                why: format!(
                    "nothing is left to learn: all answers of {steps} were correct, and no two to \
                     a prompt earned different rewards ({distinct})"
                ),
                remedy:
                    "a reward that distinguishes these answers, or another task, may teach more"
                        .to_owned(),
            };
        }
        let mut others: Vec<&Label> = self
            .verdicts
            .keys()
            .filter(|label| **label != Label::Correct)
            .collect();
        others.sort_by_key(|label| std::cmp::Reverse(of(label)));
        let shares: Vec<String> = std::iter::once(&Label::Correct)
            .chain(others)
            .map(percent)
            .collect();
        let distinct = if self.candidates {
            format!(", {distinct}")
        } else {
            String::new()
        };
        Standstill {
            is_sound: false,
            why: format!(
                "stopped: nothing was learned for {steps}: no two answers to a prompt earned \
                 different rewards ({}{distinct})",
                shares.join(", ")
            ),
            remedy: remedy(learned, beta).to_owned(),
        }
    }
}

fn remedy(learned: bool, beta: f64) -> &'static str {
    match learned {
        // The standstill began with the first step, so no update caused it.
        false => {
            "the model cannot do this task yet: start a new run from a warm start (a fine-tuned \
             adapter), with larger groups or with an easier task"
        }
        true if beta > 0.0 => {
            "the policy has collapsed: start a new run with a lower learning.rate, or a larger \
             learning.beta"
        }
        true => {
            "the policy has collapsed: start a new run with a lower learning.rate, or with \
             learning.beta above 0, which keeps it near the reference"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{asked, correct, group, suspect, wrong};
    use hotloop_flow::Verdict;

    /// A group with these verdicts and rewards; without a verdict the machine failed.
    fn judged(members: impl IntoIterator<Item = (Option<Verdict>, Option<f64>)>) -> Group {
        let members: Vec<_> = members.into_iter().collect();
        let mut group = group(
            asked(None, hotloop_flow::language::c::stages::SIX[0]),
            "hash",
            members.iter().map(|_| wrong()),
        );
        for (member, (verdict, reward)) in group.members.iter_mut().zip(members) {
            (member.verdict, member.reward) = (verdict, reward);
        }
        group
    }

    fn failing(members: usize) -> Group {
        judged(vec![(Some(wrong()), Some(-1.0)); members])
    }

    fn lively() -> Group {
        judged([(Some(correct(1.0)), Some(1.0)), (Some(wrong()), Some(-1.0))])
    }

    fn spoiled() -> Group {
        judged([(Some(wrong()), Some(-1.0)), (None, None), (None, None)])
    }

    #[test]
    fn a_group_is_classified_by_the_rewards_of_its_answers() {
        assert_eq!(of_group(&failing(4)), Said::Alike);
        assert_eq!(of_group(&lively()), Said::Apart);
        assert_eq!(of_group(&spoiled()), Said::Nothing);
        assert_eq!(of_group(&judged([])), Said::Nothing);
        let masked = (Some(suspect(9.0)), None);
        assert_eq!(
            of_group(&judged(vec![masked.clone(); 3])),
            Said::Alike,
            "what is suspect is the answers' doing"
        );
        let few = [
            masked.clone(),
            masked.clone(),
            masked,
            (Some(correct(1.0)), Some(1.0)),
            (Some(wrong()), Some(-1.0)),
        ];
        assert_eq!(of_group(&judged(few)), Said::Apart);
    }

    #[test]
    fn one_group_with_different_rewards_is_enough_for_a_step() {
        let (failing, lively, spoiled) = (failing(2), lively(), spoiled());
        assert_eq!(of_step(&[&failing, &failing, &lively]), Said::Apart);
        assert_eq!(of_step(&[&failing, &spoiled, &lively]), Said::Apart);
        assert_eq!(of_step(&[&failing, &failing]), Said::Alike);
        assert_eq!(of_step(&[&failing, &spoiled]), Said::Nothing, "who knows");
        assert_eq!(of_step(&[]), Said::Nothing);
    }

    #[test]
    fn a_row_skips_steps_without_judgements_and_ends_where_something_was_learned() {
        let (failing, lively, spoiled) = (failing(4), lively(), spoiled());
        let back = [
            [&failing, &failing],
            [&spoiled, &failing],
            [&failing, &failing],
            [&failing, &lively],
            [&failing; 2],
        ];
        let row = Row::of(back.into_iter().map(|groups| (groups.to_vec(), 0.25)));
        assert_eq!((row.steps, row.answers), (2, 16));
        assert!((row.distinct - 0.5).abs() < 1e-12);
        assert_eq!(row.verdicts, BTreeMap::from([(Label::Wrong, 16)]));
    }

    #[test]
    fn verdicts_are_listed_with_the_commonest_failure_first() {
        let crashed = || (Some(Verdict::Crashed { how: String::new() }), Some(-2.0));
        let (few, many, right) = (
            judged([crashed()]),
            failing(2),
            judged([(Some(correct(1.0)), Some(1.0))]),
        );
        let told = Row::of([(vec![&few, &many, &right], 0.5)].into_iter()).told(true, 0.0);
        assert!(!told.is_sound);
        assert_eq!(
            told.why,
            "stopped: nothing was learned for 1 step: no two answers to a prompt earned different \
             rewards (correct 25 %, wrong 50 %, crashed 25 %, distinct 50 %)"
        );
    }
}
