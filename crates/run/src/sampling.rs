//! From prompts to candidates: the policy answers, and code is looked for in what it says.

use flow::policy::{Chat, Completion, Ending};
use flow::random::seed;
use flow::{Candidate, Task};

use crate::ctx::Ctx;
use crate::event::{Answer, Asked, Event, GroupSampled, Made, StepSampled};
use crate::interrupt::Interrupt;

/// The purposes of random numbers that draw answers.
const SAMPLING: u64 = 2;
const PROBING: u64 = 3;

/// Draws the answers of step `number` and records them, unless they are there already.
pub(crate) fn sample(ctx: &mut Ctx<'_>, number: u64, asks: Vec<Asked>) -> Result<(), Interrupt> {
    if ctx.state.open.contains_key(&number) {
        return Ok(());
    }
    let chats: Vec<Chat> = asks.iter().map(|asked| ctx.chat(asked)).collect::<Result<_, _>>()?;
    let temperature = ctx.state.temperature;
    let sampling = ctx.plan.sampling(temperature, seed(ctx.plan.config.seed, &[SAMPLING, number]));
    let group = ctx.plan.config.sampling.group;
    let completions = ctx.policy.sample(&chats, group, &sampling)?;
    let mut groups = Vec::with_capacity(asks.len());
    for ((asked, chat), answers) in asks.into_iter().zip(&chats).zip(completions.chunks(group as usize)) {
        let prompt_tokens = answers.first().map(|first| first.prompt_tokens.clone()).unwrap_or_default();
        let answers = answers.iter().map(|completion| answer(ctx, chat, completion)).collect::<Result<_, _>>()?;
        groups.push(GroupSampled { asked, prompt_tokens, answers });
    }
    let lag = number - ctx.state.finished();
    ctx.record(Event::StepSampled(Box::new(StepSampled { step: number, lag, temperature, groups })))
}

/// Draws the probe's answers to one stage's prompt: the same seed before and after.
pub(crate) fn sample_probe(ctx: &mut Ctx<'_>, asked: &Asked) -> Result<Vec<Made>, Interrupt> {
    let chat = ctx.chat(asked)?;
    let stage = asked.stage.map_or(0, |stage| u64::from(stage.number()));
    let temperature = ctx.plan.config.sampling.temperature;
    let sampling = ctx.plan.sampling(temperature, seed(ctx.plan.config.seed, &[PROBING, stage]));
    let count = ctx.plan.config.stepping.probe;
    let completions = ctx.policy.sample(std::slice::from_ref(&chat), count, &sampling)?;
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
