//! From prompts to candidates: the policy answers, and code is looked for in what it says.

use flow::policy::{Chat, Completion, Ending};
use flow::random::seed;
use flow::{Candidate, PolicyError, Role, Sampling, Task};

use crate::ctx::Ctx;
use crate::event::{Answer, Asked, Event, GroupSampled, Made, StepSampled};
use crate::interrupt::Interrupt;

/// The purposes of random numbers that draw answers.
const SAMPLING: u64 = 2;
const PROBING: u64 = 3;

/// Draws the answers of step `number` and records them, unless they are there already.
pub(crate) fn sample(ctx: &mut Ctx<'_>, number: u64, mut asks: Vec<Asked>) -> Result<(), Interrupt> {
    if ctx.state.open.contains_key(&number) {
        return Ok(());
    }
    let temperature = ctx.state.temperature;
    let sampling = ctx.plan.sampling(temperature, seed(ctx.plan.config.seed, &[SAMPLING, number]));
    let group = ctx.plan.config.sampling.group;
    let (chats, completions) = loop {
        let chats: Vec<Chat> = asks.iter().map(|asked| ctx.chat(asked)).collect::<Result<_, _>>()?;
        match draw(ctx, &chats, group, &sampling) {
            Err(Interrupt::Policy(PolicyError::ContextExceeded { .. })) if shorten(&mut asks, &chats) => {}
            drawn => break (chats, drawn?),
        }
    };
    let mut groups = Vec::with_capacity(asks.len());
    for ((asked, chat), answers) in asks.into_iter().zip(&chats).zip(completions.chunks(group as usize)) {
        let prompt_tokens = answers.first().map(|first| first.prompt_tokens.clone()).unwrap_or_default();
        let answers = answers.iter().map(|completion| answer(ctx, chat, completion)).collect::<Result<_, _>>()?;
        groups.push(GroupSampled { asked, prompt_tokens, answers });
    }
    let lag = number - ctx.state.finished();
    ctx.record(Event::StepSampled(Box::new(StepSampled { step: number, lag, temperature, groups })))
}

/// A parent too long for the policy must not stop the run: the seed is asked in its place.
/// False when there is no parent left to do without.
fn shorten(asks: &mut [Asked], chats: &[Chat]) -> bool {
    let length = |chat: &Chat| chat.messages.iter().map(|message| message.content.len()).sum::<usize>();
    let longest = asks.iter_mut().zip(chats).filter(|(asked, _)| asked.parent.is_some());
    let longest = longest.max_by_key(|(_, chat)| length(chat));
    longest.is_some_and(|(asked, _)| {
        asked.parent = None;
        asked.role = Role::Explore;
        true
    })
}

/// Asks the policy, and does not take its word for what it gave.
fn draw(ctx: &mut Ctx<'_>, chats: &[Chat], count: u32, sampling: &Sampling) -> Result<Vec<Completion>, Interrupt> {
    let completions = ctx.policy.sample(chats, count, sampling)?;
    let failed = |what: String| Err(Interrupt::Policy(PolicyError::Failed(what)));
    let wanted = chats.len() * count as usize;
    if completions.len() != wanted {
        return failed(format!("it gave {} answers, and {wanted} were wanted", completions.len()));
    }
    if completions.iter().flat_map(|completion| &completion.logprobs).any(|logprob| !logprob.is_finite()) {
        return failed("a logprob is not a number".to_owned());
    }
    Ok(completions)
}

/// Draws the probe's answers to one stage's prompt: the same seed before and after.
pub(crate) fn sample_probe(ctx: &mut Ctx<'_>, asked: &Asked) -> Result<Vec<Made>, Interrupt> {
    let chat = ctx.chat(asked)?;
    let stage = asked.stage.map_or(0, |stage| u64::from(stage.number()));
    let temperature = ctx.plan.config.sampling.temperature;
    let sampling = ctx.plan.sampling(temperature, seed(ctx.plan.config.seed, &[PROBING, stage]));
    let count = ctx.plan.config.stepping.probe;
    let completions = draw(ctx, std::slice::from_ref(&chat), count, &sampling)?;
    completions.iter().map(|completion| made(ctx, &chat, completion)).collect()
}

fn answer(ctx: &Ctx<'_>, chat: &Chat, completion: &Completion) -> Result<Answer, Interrupt> {
    Ok(Answer {
        tokens: completion.tokens.clone(),
        logprobs: completion.logprobs.clone(),
        ending: completion.ending,
        made: made(ctx, chat, completion)?,
    })
}

/// The candidate in a completion, kept under its hash.
fn made(ctx: &Ctx<'_>, chat: &Chat, completion: &Completion) -> Result<Made, Interrupt> {
    let candidate = match extract(chat, completion, &ctx.plan.task) {
        Ok(candidate) => candidate,
        Err(why) => return Ok(Made::Malformed { why }),
    };
    ctx.store.keep(&candidate)?;
    let normal = normal(&candidate);
    Ok(Made::Candidate { hash: candidate.hash, normal })
}

fn extract(chat: &Chat, completion: &Completion, task: &Task) -> Result<Candidate, String> {
    if completion.ending == Ending::Length {
        return Err("the answer was cut off at the token limit".to_owned());
    }
    let text = format!("{}{}", chat.begun, completion.text);
    Candidate::extract(&text, task).map_err(|malformed| malformed.why)
}

/// The hash of a candidate's normalised source.
pub(crate) fn normal(candidate: &Candidate) -> String {
    blake3::hash(candidate.normalised().as_bytes()).to_hex()[..32].to_owned()
}
