//! Right answers as lessons.

use std::collections::{BTreeSet, HashSet};

use flow::{Prose, Role, Verdict};
use run::{Winner, winners};

use crate::fake::{facts, plan, whole};

#[test]
fn every_right_program_stands_once_behind_the_prompt_that_asked_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &["task=matmul, transpose", "budget.steps=20", "learning.rate=0"]);
    let (_, state) = whole(&plan);
    let machine = &state.started.as_ref().unwrap().machine;
    let prose = Prose { wording: plan.wording.clone(), begin: true, simd: machine.simd.clone() };
    let winners = winners(&plan, &state, &prose).unwrap();

    let groups: Vec<_> = state
        .steps
        .iter()
        .flat_map(|step| step.groups.iter().chain(&step.practised))
        .map(|group| &group.members)
        .collect();
    let right: HashSet<&String> = groups
        .iter()
        .flat_map(|members| members.iter())
        .filter(|member| matches!(member.verdict, Some(Verdict::Correct(_))))
        .filter_map(|member| member.hash.as_ref())
        .collect();
    let sources: HashSet<String> =
        right.iter().map(|hash| run::store::source(&plan.directory, hash).unwrap()).collect();
    assert_eq!(winners.iter().map(|winner| winner.source.clone()).collect::<HashSet<_>>(), sources);
    let pairs: HashSet<(&str, &str)> =
        winners.iter().map(|winner| (winner.asked.messages[1].content.as_str(), winner.source.as_str())).collect();
    assert_eq!(pairs.len(), winners.len(), "once for a prompt");
    assert_eq!(
        winners.iter().map(|winner| winner.task.as_str()).collect::<BTreeSet<_>>(),
        ["matmul", "transpose"].into()
    );

    // The fake policy's prompts have their length as a token: what is rendered anew is as long as what it was asked.
    let asked: HashSet<u32> = facts(&plan.directory)
        .iter()
        .filter_map(|event| match event {
            run::Event::StepSampled(sampled) => Some(sampled.groups.iter().map(|group| group.prompt_tokens[0])),
            _ => None,
        })
        .flatten()
        .collect();
    let length = |winner: &Winner| winner.asked.messages.iter().map(|message| message.content.len() as u32).sum();
    assert!(winners.iter().all(|winner| asked.contains(&length(winner))));
    let repairs = plan.wording.role(Role::Repair);
    assert!(winners.iter().any(|winner| winner.asked.messages[1].content.contains(repairs)));
}
