//! Where prompts come from: the fixed prompts in turn, parents that the search chose, or both. If
//! there are practised tasks, a prompt of one of them is added.
//!
//! Each source answers one question: what does step `n` ask? The search may not know yet, because
//! the parents of an iteration depend on all verdicts of the previous one.

use hotloop_flow::Role;
use hotloop_flow::random::{Random, seed};
use hotloop_flow::search::Parent;

use crate::config::SourceKind;
use crate::contrast;
use crate::event::{Asked, Event};
use crate::plan::Plan;
use crate::state::RunState;

/// The purpose of random numbers that choose parents.
const CHOOSING: u64 = 1;

/// What a step asks.
#[derive(Debug, PartialEq)]
pub(crate) enum Next {
    /// These prompts, one for each group.
    Asks(Vec<Asked>),
    /// The search must choose parents first: record this and ask again.
    Choose(Box<Event>),
    /// It depends on verdicts that are still missing.
    Unknown,
    /// Nothing: the search is at its end.
    Nothing,
}

/// What step `number` asks.
pub(crate) fn next(plan: &Plan, state: &RunState, number: u64) -> Next {
    let own = match plan.config.prompts.source {
        SourceKind::Fixed => Next::Asks(fixed(plan, number)),
        SourceKind::Sqd => searched(plan, state, number),
        SourceKind::Both => searched(plan, state, number).and(fixed(plan, number)),
    };
    own.and(practised(plan, number))
}

impl Next {
    /// Adds prompts, if it is known what the step asks.
    fn and(self, more: impl IntoIterator<Item = Asked>) -> Self {
        match self {
            Self::Asks(asks) => Self::Asks(asks.into_iter().chain(more).collect()),
            other => other,
        }
    }
}

/// The practised tasks take turns, `prompts.practised` in each step, and each cycles through its
/// stages, always from its seed. The prompt depends only on the step's number, so it never waits
/// for a verdict.
fn practised(plan: &Plan, number: u64) -> Vec<Asked> {
    let count = plan.practised.len() as u64;
    let each = u64::from(plan.config.prompts.practised).min(count);
    let turns = number * each..(number + 1) * each;
    turns
        .map(|turn| {
            let task = &plan.practised[(turn % count) as usize];
            Asked {
                task: Some(task.spec.name.clone()),
                role: Role::Explore,
                stage: Some(task.spec.stages.cycle((turn / count) as usize)),
                parent: None,
                variant: 0,
                beside: Vec::new(),
            }
        })
        .collect()
}

fn fixed(plan: &Plan, number: u64) -> Vec<Asked> {
    let count = u64::from(plan.config.sampling.prompts_per_step);
    let variants = number * count..(number + 1) * count;
    variants
        .map(|variant| Asked {
            task: None,
            role: Role::Explore,
            stage: None,
            parent: None,
            variant: variant as usize,
            beside: Vec::new(),
        })
        .collect()
}

fn searched(plan: &Plan, state: &RunState, number: u64) -> Next {
    let per_step = plan.config.sampling.prompts_per_step as usize;
    let Some(last) = state.iterations.last() else {
        return choose(plan, state, 0);
    };
    let after = last.first_step + last.parents.len().div_ceil(per_step) as u64;
    if number < after {
        let first = (number - last.first_step) as usize * per_step;
        let parents = last.parents.iter().skip(first).take(per_step);
        let asks = parents.map(|parent| contrast::asked(plan, state, asked(parent)));
        return Next::Asks(asks.collect());
    }
    if state.finished() < after {
        return Next::Unknown;
    }
    choose(plan, state, number)
}

pub(crate) fn choose(plan: &Plan, state: &RunState, first_step: u64) -> Next {
    let iteration = state.iterations.len() as u32;
    let limit = plan.config.budget.iterations;
    if limit > 0 && iteration >= limit {
        return Next::Nothing;
    }
    let mut random = Random::new(seed(plan.config.seed, &[CHOOSING, u64::from(iteration)]));
    let settings = plan.search();
    let archive = state.archive(plan.config.search.archive);
    let parents = archive.select(state.root(), settings, &mut random);
    Next::Choose(Box::new(Event::ParentsChosen {
        iteration,
        first_step,
        parents,
        elites: settings.elites,
    }))
}

/// What the search asks of a parent.
pub(crate) fn asked(parent: &Parent) -> Asked {
    Asked {
        task: None,
        role: parent.role,
        stage: Some(parent.stage),
        parent: parent.hash.clone(),
        variant: 0,
        beside: Vec::new(),
    }
}
