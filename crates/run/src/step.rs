//! One step: the seven arrows of the flow, top to bottom.
//!
//! ```text
//! prompt -> completion -> candidate -> verdict -> reward -> advantage -> update
//! ```
//!
//! A reviewer, if there is one, reads the candidates before the rewards are computed.
//!
//! Each arrow first uses what the journal already holds, so an interrupted step continues where it
//! was. Three usual parts are left out: a value model (the group is the baseline), several updates
//! per batch (so the ratio starts at 1, except for the lag), and reward shaping by length.

use hotloop_flow::advantage::Group;
use hotloop_flow::policy::Updated;
use hotloop_flow::{PolicyError, Verdict, WeightedTokens, noise};

use crate::ctx::Ctx;
use crate::event::{Event, GroupFinished, StepFinished, StepSeconds};
use crate::improver;
use crate::interrupt::Interrupt;
use crate::judging;
use crate::review::reviewing;
use crate::sampling;
use crate::source::{self, Next};
use crate::state::{self, OpenStep};
use crate::watch::{self, Closing};

/// Takes step `number`. Returns false if the source has nothing more to ask.
pub(crate) fn step(ctx: &mut Ctx<'_>, number: u64) -> Result<bool, Interrupt> {
    let began = ctx.now();
    // prompts -> completions -> candidates
    let mut sampling_s = match ask_and_sample(ctx, number)? {
        Asking::Sampled(seconds) => seconds,
        Asking::Unknown | Asking::Nothing => return Ok(false),
    };
    // candidates -> verdicts, while the next candidates are sampled
    let batch = judging::submit_step(ctx, number)?;
    if ctx.plan.config.stepping.overlap && !is_last(ctx, number) {
        match ask_and_sample(ctx, number + 1) {
            Ok(Asking::Sampled(seconds)) => sampling_s += seconds,
            // A policy that diverged is reported in the next step. This step's verdicts are still
            // valid.
            Ok(Asking::Unknown | Asking::Nothing)
            | Err(Interrupt::Policy(PolicyError::Diverged(_))) => {}
            Err(interrupt) => return Err(batch.abandon(ctx, interrupt)),
        }
    }
    let waiting = ctx.now();
    let judging_s = judging::gather_step(ctx, batch)?;
    let policy_idle = ctx.now() - waiting;
    reviewing::review_step(ctx, number)?;
    // verdicts -> rewards -> advantages
    let open = ctx
        .state
        .open
        .get(&number)
        .expect("it was sampled above")
        .clone();
    let groups = reward(ctx, &open)?;
    // advantages -> update
    let learning = ctx.now();
    let lesson: Vec<WeightedTokens> = open
        .sampled
        .groups
        .iter()
        .zip(&groups)
        .flat_map(|(group, done)| {
            state::weighted(group, open.sampled.temperature, &done.advantages)
        })
        .collect();
    let learned = learn(ctx, &lesson)?;
    let ended = ctx.now();
    let seconds = StepSeconds {
        wall: ended - began,
        sampling: sampling_s,
        judging: judging_s,
        updating: ended - learning,
        policy_idle,
        bench_idle: (ended - began - judging_s).max(0.0),
    };
    finish(ctx, &open, groups, learned, seconds)?;
    Ok(true)
}

/// The result of asking for a step's answers.
enum Asking {
    /// The answers are there. Drawing them took this many seconds.
    Sampled(f64),
    /// What to ask depends on verdicts that are still missing.
    Unknown,
    /// The search is at its end.
    Nothing,
}

fn ask_and_sample(ctx: &mut Ctx<'_>, number: u64) -> Result<Asking, Interrupt> {
    loop {
        match source::next(ctx.plan, &ctx.state, number) {
            Next::Choose(chosen) => ctx.record(*chosen)?,
            Next::Unknown => return Ok(Asking::Unknown),
            Next::Nothing => return Ok(Asking::Nothing),
            Next::Asks(asks) => {
                let began = ctx.now();
                sampling::sample(ctx, number, asks)?;
                return Ok(Asking::Sampled(ctx.now() - began));
            }
        }
    }
}

/// Whether no step follows, as far as is known before this one is judged.
fn is_last(ctx: &Ctx<'_>, number: u64) -> bool {
    let budget = &ctx.plan.config.budget;
    let open = ctx.state.open.get(&number);
    let own = open.into_iter().flat_map(|open| &open.sampled.groups);
    let own = own.filter(|group| group.asked.task.is_none());
    let answers = own.map(|group| group.answers.len() as u64).sum::<u64>();
    (budget.steps > 0 && number + 1 >= budget.steps)
        || (budget.answers > 0 && ctx.state.judged_answers() + answers >= budget.answers)
}

fn reward(ctx: &Ctx<'_>, open: &OpenStep) -> Result<Vec<GroupFinished>, Interrupt> {
    let config = &ctx.plan.config;
    let mut groups = Vec::with_capacity(open.sampled.groups.len());
    for (at, sampled) in (0..).zip(&open.sampled.groups) {
        let verdicts: Vec<Option<&Verdict>> = (0..sampled.answers.len() as u32)
            .map(|member| Some(&open.judged.get(&(at, member))?.as_ref()?.verdict))
            .collect();
        let context = improver::context(&ctx.state, &sampled.asked);
        let mut rewards = config.reward.shape.of_group(&verdicts, &context)?;
        let noise = noise::of_group(config.reward.shape, &verdicts, &context)?;
        improver::penalise(
            &ctx.state,
            sampled,
            &verdicts,
            config.copy_penalty,
            &mut rewards,
        );
        let reviewer = config.reward.reviewer.as_ref();
        let rewards = reviewing::added(reviewer, &ctx.state, sampled, rewards);
        let copies = sampled.copies(&rewards);
        let speed = |verdict: Option<&Verdict>| verdict?.correct()?.speed(context.pace);
        let speeds: Vec<Option<f64>> = verdicts.iter().copied().map(speed).collect();
        let advantages = config.learning.advantage.of(
            &Group {
                rewards: &rewards,
                copies: &copies,
                speeds: &speeds,
                noise,
            },
            &config.learning.numbers(ctx.spent_share()),
        );
        groups.push(GroupFinished {
            rewards,
            advantages: advantages.values,
            fate: advantages.fate,
            noise,
        });
    }
    Ok(groups)
}

/// The result of learning.
enum Learned {
    /// There was nothing to learn from.
    Nothing,
    /// An update.
    Updated(Updated),
    /// The policy diverged, for this reason.
    Diverged(String),
}

fn learn(ctx: &mut Ctx<'_>, lesson: &[WeightedTokens]) -> Result<Learned, Interrupt> {
    if !ctx.plan.learns() || lesson.is_empty() {
        return Ok(Learned::Nothing);
    }
    match ctx.policy.update(lesson) {
        Ok(updated) => Ok(Learned::Updated(updated)),
        Err(PolicyError::Diverged(why)) => Ok(Learned::Diverged(why)),
        Err(error) => Err(error.into()),
    }
}

fn finish(
    ctx: &mut Ctx<'_>,
    open: &OpenStep,
    groups: Vec<GroupFinished>,
    learned: Learned,
    seconds: StepSeconds,
) -> Result<(), Interrupt> {
    let (updated, diverged) = match learned {
        Learned::Nothing => (None, None),
        Learned::Updated(updated) => (Some(updated), None),
        Learned::Diverged(why) => (None, Some(format!("stopped: {why}"))),
    };
    let watched = watch::watched(&open.sampled, &groups, updated.as_ref());
    let judged = state::groups(&ctx.state, open, &groups);
    let closing = Closing {
        lag: open.sampled.lag,
        groups: &judged,
        watched: &watched,
        updated: updated.as_ref(),
    };
    let action = watch::act(ctx.plan, &ctx.state, &closing);
    ctx.record(Event::StepFinished(Box::new(StepFinished {
        step: open.sampled.step,
        groups,
        // NaN and infinity cannot be written to the journal. `stop` reports them.
        updated: updated.filter(watch::is_finite),
        watched,
        temperature: action.temperature,
        warnings: action.warnings,
        stop: diverged.or(action.stop),
        enough: action.enough,
        seconds,
    })))
}
