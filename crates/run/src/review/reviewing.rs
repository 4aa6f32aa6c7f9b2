//! The reviewer in a run: it gives an opinion on each candidate once, and the reward takes it in.

use std::collections::BTreeSet;

use hotloop_flow::policy::Chat;
use hotloop_flow::random::seed;

use super::ask::ask;
use super::opinion::Opinion;
use super::wording::{WORDING, chat};
use crate::config::{Broken, Reviewer};
use crate::ctx::Ctx;
use crate::event::{CandidateReviewed, Event, GroupSampled, Made};
use crate::interrupt::Interrupt;
use crate::state::RunState;

/// The purpose of random numbers that draw opinions.
const REVIEWING: u64 = 5;

/// Asks for opinions on a step's candidates, unless the journal has them already.
pub(crate) fn review_step(ctx: &mut Ctx<'_>, number: u64) -> Result<(), Interrupt> {
    let Some(settings) = ctx.plan.config.reward.reviewer.clone() else {
        return Ok(());
    };
    let mut wanted: Vec<(Option<String>, String)> = Vec::new();
    let mut chats: Vec<Chat> = Vec::new();
    let mut seen = BTreeSet::new();
    let groups = ctx.state.open.get(&number).map(|open| &open.sampled.groups);
    for group in groups.into_iter().flatten() {
        for answer in &group.answers {
            let Made::Candidate { hash, .. } = &answer.made else {
                continue;
            };
            let key = (group.asked.task.clone(), hash.clone());
            if !ctx.state.opinions.contains_key(&key) && seen.insert(key.clone()) {
                let task = ctx.plan.task_of(key.0.as_deref());
                chats.push(chat(task, ctx.store.candidate(hash)?.source()));
                wanted.push(key);
            }
        }
    }
    let reviewer = ctx.reviewer.take();
    let policy = reviewer.expect("the program opens the reviewer that the plan names");
    let drawn = (
        settings.max_tokens,
        seed(ctx.plan.config.seed, &[REVIEWING, number]),
    );
    let asked = ask(policy, &chats, drawn, |at, opinion| {
        ctx.check_stop()?;
        let (task, hash) = wanted[at].clone();
        let (opinion, why) = match opinion {
            Ok(opinion) => (Some(opinion), None),
            Err(why) => (None, Some(why)),
        };
        ctx.record(Event::CandidateReviewed(Box::new(CandidateReviewed {
            wording: WORDING,
            task,
            hash,
            opinion,
            why,
        })))
    });
    ctx.reviewer = Some(policy);
    asked
}

/// The rewards of a group with the reviewer's part, if there is a reviewer.
pub(crate) fn added(
    reviewer: Option<&Reviewer>,
    state: &RunState,
    group: &GroupSampled,
    rewards: Vec<Option<f64>>,
) -> Vec<Option<f64>> {
    let Some(reviewer) = reviewer else {
        return rewards;
    };
    let parts = group.answers.iter().map(|answer| match &answer.made {
        // There is nothing to review, and that is the answer's fault.
        Made::Malformed { .. } => Some(0.0),
        Made::Candidate { hash, .. } => {
            let key = (group.asked.task.clone(), hash.clone());
            match state.opinions.get(&key) {
                Some(Some(opinion)) => Some(Opinion::mean(opinion)),
                Some(None) | None => match reviewer.broken {
                    Broken::Mask => None,
                    Broken::Zero => Some(0.0),
                },
            }
        }
    });
    rewards
        .into_iter()
        .zip(parts)
        .map(|(reward, part)| Some(reward? + reviewer.lambda * part?))
        .collect()
}
