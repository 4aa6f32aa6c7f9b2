//! Right answers as lessons.

use std::collections::{BTreeSet, HashSet};

use hotloop_flow::advantage::Fate;
use hotloop_flow::language::c::stages::SIX;
use hotloop_flow::policy::Ending;
use hotloop_flow::{Candidate, Device, Judgement, Prose, Role, Verdict};
use hotloop_run::event::{
    Answer, Asked, GroupFinished, GroupSampled, Made, Place, StepFinished, StepSampled, Watched,
};
use hotloop_run::{Event, RunState, Winner, winners};

use crate::fake::{correct, facts, plan, whole};

#[test]
fn every_correct_program_appears_once_per_prompt() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(
        folder.path(),
        &[
            "task=matmul, transpose",
            "budget.steps=20",
            "learning.rate=0",
        ],
    );
    let (_, state) = whole(&plan);
    let machine = &state.started.as_ref().unwrap().machine;
    let prose = Prose {
        wording: plan.wording.clone(),
        begin: true,
        device: machine.device.clone(),
    };
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
    let sources: HashSet<String> = right
        .iter()
        .map(|hash| hotloop_run::store::source(&plan.directory, hash).unwrap())
        .collect();
    assert_eq!(
        winners
            .iter()
            .map(|winner| winner.source.clone())
            .collect::<HashSet<_>>(),
        sources
    );
    let pair = |winner: &Winner| {
        (
            winner.asked.messages[1].content.clone(),
            winner.source.clone(),
        )
    };
    let pairs: HashSet<(String, String)> = winners.iter().map(pair).collect();
    assert_eq!(pairs.len(), winners.len(), "once for a prompt");
    assert_eq!(
        winners
            .iter()
            .map(|winner| winner.task.as_str())
            .collect::<BTreeSet<_>>(),
        ["matmul", "transpose"].into()
    );

    // The fake policy encodes a prompt's length as a token, so a rendered prompt must be as long as
    // the original.
    let asked: HashSet<u32> = facts(&plan.directory)
        .iter()
        .filter_map(|event| match event {
            hotloop_run::Event::StepSampled(sampled) => {
                Some(sampled.groups.iter().map(|group| group.prompt_tokens[0]))
            }
            _ => None,
        })
        .flatten()
        .collect();
    let length = |winner: &Winner| {
        winner
            .asked
            .messages
            .iter()
            .map(|message| message.content.len() as u32)
            .sum()
    };
    assert!(winners.iter().all(|winner| asked.contains(&length(winner))));
    let repairs = plan.wording.role(Role::Repair);
    assert!(
        winners
            .iter()
            .any(|winner| winner.asked.messages[1].content.contains(repairs))
    );
}

/// Adds a step with one answer to a state.
fn fold(state: &mut RunState, step: u64, asked: Asked, hash: &str, verdict: Verdict) {
    let made = Made::Candidate {
        hash: hash.to_owned(),
        normal: hash.to_owned(),
    };
    let answers = vec![Answer {
        tokens: vec![],
        logprobs: vec![],
        ending: Ending::Stop,
        made,
    }];
    let groups = vec![GroupSampled {
        asked,
        prompt_tokens: vec![],
        answers,
    }];
    let finished = GroupFinished {
        rewards: vec![None],
        advantages: vec![None],
        fate: Fate::Dropped,
        noise: 0.0,
    };
    let judgement = Judgement {
        verdict,
        seconds: hotloop_flow::bench::Seconds::default(),
    };
    let events = [
        Event::StepSampled(Box::new(StepSampled {
            step,
            lag: 0,
            temperature: 1.0,
            groups,
        })),
        Event::CandidateJudged {
            at: Place {
                step,
                group: 0,
                member: 0,
            },
            judgement,
        },
        Event::StepFinished(Box::new(StepFinished {
            step,
            groups: vec![finished],
            updated: None,
            watched: Watched {
                entropy: None,
                distinct: 1.0,
                live: 0.0,
                kl: None,
            },
            temperature: 1.0,
            warnings: Vec::new(),
            stop: None,
            enough: None,
            seconds: hotloop_run::event::StepSeconds::default(),
        })),
    ];
    for event in &events {
        state.apply(event, 0.0);
    }
}

#[test]
fn a_parent_is_shown_with_the_verdict_that_made_it_a_parent() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &[]);
    let seed = Candidate::from_source(plan.task.seed.as_bytes(), &plan.task).unwrap();
    fs_err::create_dir_all(folder.path().join("candidates")).unwrap();
    fs_err::write(
        folder
            .path()
            .join("candidates")
            .join(format!("{}.c", seed.hash())),
        seed.source(),
    )
    .unwrap();
    let ask = |role, stage| Asked {
        task: None,
        role,
        stage: Some(stage),
        parent: (role != Role::Explore).then(|| seed.hash().to_owned()),
        variant: 0,
        beside: Vec::new(),
    };
    let refused = |stage: u8| Verdict::Refused {
        why: format!("stage {stage} forbids prefetch"),
    };
    let steps = [
        (Role::Explore, SIX[4], correct(10.0)),
        (Role::Explore, SIX[3], refused(4)),
        (Role::Explore, SIX[2], refused(3)),
        (Role::Deepen, SIX[5], correct(20.0)),
        (Role::Repair, SIX[3], correct(30.0)),
        (Role::Improve, SIX[4], correct(40.0)),
    ];
    let mut state = RunState::default();
    for (step, (role, stage, verdict)) in (0..).zip(steps) {
        fold(&mut state, step, ask(role, stage), seed.hash(), verdict);
    }
    let prose = Prose {
        wording: plan.wording.clone(),
        begin: true,
        device: Device::with_vectors("avx2"),
    };
    let winners = winners(&plan, &state, &prose).unwrap();
    let shown = |gflops: f64| {
        let winner = winners
            .iter()
            .find(|winner| (winner.speed - gflops).abs() < 1e-9)
            .unwrap();
        let text = &winner.asked.messages[1].content;
        text.rsplit("```").next().unwrap().trim().to_owned()
    };
    assert_eq!(
        shown(20.0),
        "It is correct and reaches 10.0 GFLOPS, 10 % of the machine's peak."
    );
    assert_eq!(shown(30.0), "It breaks a rule: stage 4 forbids prefetch");
    assert_eq!(
        shown(40.0),
        "It is correct and reaches 30.0 GFLOPS, 30 % of the machine's peak.",
        "not its own child's"
    );
}
