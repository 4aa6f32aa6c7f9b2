//! The improver's part of the reward: what the parent ran at, and what copies lose.
//!
//! Gains over the parent come from Kernel-Smith (arXiv 2603.28342), and the penalty for handing in
//! the parent or a stored program from `ThetaEvolve` (arXiv 2511.23473).

use std::collections::BTreeSet;

use hotloop_flow::Verdict;
use hotloop_flow::reward::RewardContext;

use crate::event::{Asked, GroupSampled, Made};
use crate::state::{RunState, Step};

/// What the rewards of a prompt's answers are relative to.
pub(crate) fn context(state: &RunState, asked: &Asked) -> RewardContext {
    let mut context = state.context_of(asked.task.as_deref());
    let parent = state.verdict(asked, state.finished());
    if let Some(measured) = parent.and_then(Verdict::correct) {
        context.parent_s = Some(measured.seconds);
    }
    context
}

/// Subtracts `penalty` from correct answers that copy the seed, the parent, or any correct program
/// of an earlier step, in whatever layout. Copies within the group are none: they were drawn
/// together.
pub(crate) fn penalise(
    state: &RunState,
    group: &GroupSampled,
    verdicts: &[Option<&Verdict>],
    penalty: f64,
    rewards: &mut [Option<f64>],
) {
    if penalty <= 0.0 || group.asked.task.is_some() {
        return;
    }
    let known = known(state);
    let members = group.answers.iter().zip(verdicts).zip(rewards);
    for ((answer, verdict), reward) in members {
        let Made::Candidate { normal, .. } = &answer.made else {
            continue;
        };
        let is_correct = verdict.is_some_and(|verdict| verdict.correct().is_some());
        if let Some(reward) = reward.as_mut().filter(|_| is_correct)
            && known.contains(normal.as_str())
        {
            *reward -= penalty;
        }
    }
}

/// The normalised hashes of the seed and of all correct programs so far.
fn known(state: &RunState) -> BTreeSet<&str> {
    let correct = state.steps.iter().flat_map(Step::members);
    let correct = correct.filter(|member| member.speed.is_some());
    let seed = state
        .started
        .iter()
        .map(|started| started.seed_normal.as_str());
    correct
        .filter_map(|member| member.normal.as_deref())
        .chain(seed)
        .collect()
}
