//! From prompts to candidates: the policy answers, and the run extracts code from the answers.

use hotloop_flow::policy::{Chat, Completion};
use hotloop_flow::random::seed;
use hotloop_flow::{Candidate, PolicyError, Role, Stage, Task};

use crate::asking::{Asking, draw, extract};
use crate::ctx::Ctx;
use crate::event::{Answer, Asked, Event, GroupSampled, Made, StepSampled};
use crate::interrupt::Interrupt;
use crate::profiled;

/// The purpose of random numbers that draw a step's answers.
const SAMPLING: u64 = 2;

/// Draws the answers of step `number` and records them, unless the journal has them already.
pub(crate) fn sample(
    ctx: &mut Ctx<'_>,
    number: u64,
    mut asks: Vec<Asked>,
) -> Result<(), Interrupt> {
    if ctx.state.open.contains_key(&number) {
        return Ok(());
    }
    profiled::take(ctx, &asks)?;
    let temperature = ctx.state.temperature;
    let sampling = ctx
        .plan
        .config
        .draw(temperature, seed(ctx.plan.config.seed, &[SAMPLING, number]));
    let group = ctx.plan.config.sampling.group;
    let (chats, completions) = loop {
        let chats: Vec<Chat> = asks
            .iter()
            .map(|asked| ctx.chat(asked))
            .collect::<Result<_, _>>()?;
        match draw(ctx.policy, &chats, group, &sampling) {
            Err(PolicyError::ContextExceeded { .. }) if shorten(&mut asks, &chats) => {}
            drawn => break (chats, drawn?),
        }
    };
    let mut groups = Vec::with_capacity(asks.len());
    for ((asked, chat), answers) in asks
        .into_iter()
        .zip(&chats)
        .zip(completions.chunks(group as usize))
    {
        let task = ctx.plan.task_of(asked.task.as_deref());
        let prompt_tokens = answers
            .first()
            .map(|first| first.prompt_tokens.clone())
            .unwrap_or_default();
        let answers = answers
            .iter()
            .map(|completion| answer(ctx, task, chat, completion))
            .collect::<Result<_, _>>()?;
        groups.push(GroupSampled {
            asked,
            prompt_tokens,
            answers,
        });
    }
    let lag = number - ctx.state.finished();
    ctx.record(Event::StepSampled(Box::new(StepSampled {
        step: number,
        lag,
        temperature,
        groups,
    })))
}

/// Removes the programs beside the parent from prompts that are too long for the policy, and then
/// replaces the longest parent by the seed, so that it does not stop the run. Returns false if
/// nothing is left to shorten.
fn shorten(asks: &mut [Asked], chats: &[Chat]) -> bool {
    if asks.iter().any(|asked| !asked.beside.is_empty()) {
        for asked in asks {
            asked.beside.clear();
        }
        return true;
    }
    let length = |chat: &Chat| {
        chat.messages
            .iter()
            .map(|message| message.content.len())
            .sum::<usize>()
    };
    let longest = asks
        .iter_mut()
        .zip(chats)
        .filter(|(asked, _)| asked.parent.is_some());
    let longest = longest.max_by_key(|(_, chat)| length(chat));
    longest.is_some_and(|(asked, _)| {
        asked.parent = None;
        asked.role = Role::Explore;
        true
    })
}

/// Draws the probe's answers to one stage's prompt.
pub(crate) fn sample_probe(ctx: &mut Ctx<'_>, stage: Stage) -> Result<Vec<Made>, Interrupt> {
    let config = &ctx.plan.config;
    let seed = ctx.state.seed.as_ref().map(|seed| &seed.verdict);
    let asking = Asking {
        config,
        render: ctx.render,
        task: &ctx.plan.task,
        seed,
    };
    let answers = asking.answers(ctx.policy, stage, config.stepping.probe)?;
    answers
        .into_iter()
        .map(|answer| keep(ctx, answer.candidate))
        .collect()
}

fn answer(
    ctx: &Ctx<'_>,
    task: &Task,
    chat: &Chat,
    completion: &Completion,
) -> Result<Answer, Interrupt> {
    Ok(Answer {
        tokens: completion.tokens.clone(),
        logprobs: completion.logprobs.clone(),
        ending: completion.ending,
        made: keep(ctx, extract(chat, completion, task))?,
    })
}

/// Keeps a candidate under its hash.
fn keep(ctx: &Ctx<'_>, candidate: Result<Candidate, String>) -> Result<Made, Interrupt> {
    let candidate = match candidate {
        Ok(candidate) => candidate,
        Err(why) => return Ok(Made::Malformed { why }),
    };
    ctx.store.keep(&candidate)?;
    let normal = normal(&candidate);
    Ok(Made::Candidate {
        hash: candidate.hash().to_owned(),
        normal,
    })
}

/// The hash of a candidate's normalised source.
pub(crate) fn normal(candidate: &Candidate) -> String {
    blake3::hash(candidate.normalised().as_bytes()).to_hex()[..32].to_owned()
}
