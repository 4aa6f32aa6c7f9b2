//! Chooses the programs that a prompt shows beside the parent, as CUDA-L1 (arXiv 2507.14111) does:
//! slow and fast ones with their speeds, so that the policy can see what makes the difference.

use std::collections::BTreeSet;

use crate::event::Asked;
use crate::plan::Plan;
use crate::state::{Group, Member, RunState};

/// Adds `prompts.contrast` programs to a prompt of the search: the slowest, the fastest, and those
/// evenly between them by rank. A program appears once in whatever layout, and the parent does not
/// appear again. With fewer than two, none is shown, because one shows no difference.
pub(crate) fn asked(plan: &Plan, state: &RunState, mut asked: Asked) -> Asked {
    let wanted = plan.config.prompts.contrast;
    if wanted > 0 {
        let ranked = ranked(state, &asked);
        let count = wanted.min(ranked.len());
        if count >= 2 {
            let at = |one: usize| one * (ranked.len() - 1) / (count - 1);
            asked.beside = (0..count).map(|one| ranked[at(one)].clone()).collect();
        }
    }
    asked
}

/// The hashes of the distinct correct programs that the prompt's stage allows, slowest first.
fn ranked(state: &RunState, asked: &Asked) -> Vec<String> {
    let allowed = |group: &&Group| match (group.asked.stage, asked.stage) {
        (Some(theirs), Some(ours)) => theirs <= ours,
        _ => false,
    };
    let groups = state.steps.iter().flat_map(|step| &step.groups);
    let members = groups.filter(allowed).flat_map(|group| &group.members);
    let mut correct: Vec<(f64, &Member)> = members
        .filter_map(|member| Some((member.speed?, member)))
        .collect();
    correct.sort_by(|a, b| a.0.total_cmp(&b.0));
    let parent = asked.parent.as_deref();
    let mut seen: BTreeSet<&str> = correct
        .iter()
        .filter(|(_, member)| parent.is_some() && member.hash.as_deref() == parent)
        .filter_map(|(_, member)| member.normal.as_deref())
        .collect();
    seen.insert(state.root().normal);
    correct
        .into_iter()
        .filter(|(_, member)| member.normal.as_deref().is_some_and(|one| seen.insert(one)))
        .filter_map(|(_, member)| member.hash.clone())
        .collect()
}
