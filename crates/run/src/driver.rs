//! Takes steps until the budget is spent, starting from the state in the journal.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hotloop_flow::{Bench, Policy, PolicyError, Render, Task, seed};

use crate::confirm;
use crate::ctx::Ctx;
pub use crate::ctx::Observer;
use crate::event::{Event, Line, Made, Practised, RunStarted, When};
use crate::interrupt::Interrupt;
use crate::judging::{Batch, Entry};
use crate::plan::Plan;
use crate::probe;
use crate::report::tensorboard::Tensorboard;
use crate::sampling;
use crate::state::RunState;
use crate::step::step;
use crate::store::Store;

/// How a call of [`drive`] ended.
#[derive(Debug)]
pub enum Ended {
    /// The run is over, for this reason.
    Done(String),
    /// The run waits. Nothing is lost, and driving it again continues it.
    Paused(Interrupt),
}

/// Everything besides the plan that driving a run needs.
pub struct Parts<'a> {
    /// The policy, as configured and before any learning.
    pub policy: &'a mut dyn Policy,
    pub bench: &'a mut dyn Bench,
    /// The policy that reviews answers, if the plan names one.
    pub reviewer: Option<&'a mut dyn Policy>,
    /// Puts prompts into the policy's language.
    pub render: &'a dyn Render,
    /// Receives every event.
    pub observer: &'a mut Observer<'a>,
    /// Seconds since 1970, for the times in the journal.
    pub clock: &'a dyn Fn() -> f64,
    /// Monotonic seconds for durations. They stand still while the machine sleeps.
    pub stopwatch: &'a dyn Fn() -> f64,
    /// When set, the run pauses at the next opportunity.
    pub stop: &'a AtomicBool,
}

/// Drives a run to its end or its next pause. `lines` come from [`Store::open`].
pub fn drive(
    plan: &Plan,
    parts: Parts<'_>,
    store: &mut Store,
    lines: &[Line],
) -> (Ended, RunState) {
    let Parts {
        policy,
        reviewer,
        bench,
        render,
        observer,
        clock,
        stopwatch,
        stop,
    } = parts;
    let reviewer = reviewer.map(|reviewer| reviewer as &mut dyn Policy);
    let state = RunState::of(lines);
    // TensorBoard curves are optional, so a failure to write them does not stop the run.
    let directory = store.directory().to_owned();
    let mut board: Option<Tensorboard> = None;
    let mut tell = |event: &Event, state: &RunState| {
        if matches!(event, Event::StepFinished(_)) {
            board = match board.take() {
                Some(mut board) => state
                    .steps
                    .last()
                    .and_then(|step| board.append(step).ok())
                    .map(|()| board),
                None => Tensorboard::create(&directory, state).ok(),
            };
        }
        observer(event, state);
    };
    let mut ctx = Ctx {
        plan,
        policy,
        reviewer,
        bench,
        render,
        store,
        state,
        observer: &mut tell,
        clock,
        stopwatch,
        stop,
        jobs: 0,
    };
    let ended = match go(&mut ctx) {
        Ok(why) => Ended::Done(why),
        Err(interrupt) => {
            // If the journal itself failed, the pause cannot be recorded.
            if !matches!(interrupt, Interrupt::Store(_))
                && let Err(worse) = ctx.record(Event::RunPaused {
                    why: match interrupt.hint() {
                        Some(hint) => format!("{interrupt}; {hint}"),
                        None => interrupt.to_string(),
                    },
                })
            {
                return (Ended::Paused(worse), ctx.state);
            }
            Ended::Paused(interrupt)
        }
    };
    (ended, ctx.state)
}

fn go(ctx: &mut Ctx<'_>) -> Result<String, Interrupt> {
    if let Some(why) = &ctx.state.ended {
        return Ok(why.clone());
    }
    begin(ctx)?;
    judge_seeds(ctx)?;
    check_reward(ctx)?;
    probe::take(ctx, When::Before)?;
    let ran = take_steps(ctx)?;
    if matches!(ran, Ran::Through(_)) {
        checkpoint(ctx, true)?;
    }
    confirm::fastest(ctx)?;
    let why = match ran {
        Ran::Through(why) => match probe::take(ctx, When::After) {
            Ok(()) => why,
            Err(interrupt) => fell_apart(interrupt)?,
        },
        // A diverged policy gets no checkpoint and no probe. Candidates that it found earlier stay
        // valid.
        Ran::Apart(why) => why,
    };
    ctx.record(Event::RunEnded { why: why.clone() })?;
    Ok(why)
}

/// How the steps of a run ended, and why.
enum Ran {
    /// As planned.
    Through(String),
    /// The policy diverged.
    Apart(String),
}

fn take_steps(ctx: &mut Ctx<'_>) -> Result<Ran, Interrupt> {
    loop {
        if let Some(why) = ctx.state.stopped.clone() {
            return Ok(Ran::Apart(why));
        }
        if let Some(why) = ctx.state.enough.clone().or_else(|| spent(ctx)) {
            return Ok(Ran::Through(why));
        }
        let finished = ctx.state.finished();
        // Few checkpoints are kept. Those of a policy that no longer learns would replace the
        // earlier, useful ones.
        let due = finished.is_multiple_of(ctx.plan.config.stepping.checkpoint_every)
            && !ctx.state.replay.is_empty();
        checkpoint(ctx, due)?;
        ctx.check_stop()?;
        match step(ctx, finished) {
            Ok(true) => {}
            Ok(false) => return Ok(Ran::Through("all iterations are done".to_owned())),
            Err(interrupt) => return fell_apart(interrupt).map(Ran::Apart),
        }
    }
}

/// The reason, if the policy diverged, which ends the run. Other interrupts only pause it.
fn fell_apart(interrupt: Interrupt) -> Result<String, Interrupt> {
    match interrupt {
        Interrupt::Policy(PolicyError::Diverged(why)) => Ok(format!("stopped: {why}")),
        other => Err(other),
    }
}

/// Starts the run, or restores the policy to the state in the journal.
fn begin(ctx: &mut Ctx<'_>) -> Result<(), Interrupt> {
    let (machine, policy) = (ctx.bench.facts(), ctx.policy.capabilities());
    if ctx.plan.learns() && !policy.learns {
        return Err(Interrupt::Unteachable(policy.model));
    }
    let task = &ctx.plan.task;
    let Some(started) = &ctx.state.started else {
        let seed = seed::candidate(task)?;
        let started = RunStarted {
            task: task.spec.name.clone(),
            task_hash: task.hash.clone(),
            practised: ctx
                .plan
                .practised
                .iter()
                .map(|task| practised(task))
                .collect(),
            stages: task.spec.stages.len(),
            seed_normal: sampling::normal(&seed),
            machine,
            policy,
            temperature: ctx.plan.config.sampling.temperature,
            config: Some(ctx.plan.journaled()),
        };
        ctx.store.keep_config(&ctx.plan.config.to_toml(), task)?;
        return ctx.record(Event::RunStarted(Box::new(started)));
    };
    let same = |what: &str, was: &str, is: &str| {
        let said = |value: &str| format!("{what} {value}");
        if was == is {
            Ok(())
        } else {
            Err(Interrupt::Foreign {
                was: said(was),
                is: said(is),
            })
        }
    };
    ctx.plan.continues(started)?;
    same("task", &started.task_hash, &task.hash)?;
    same("machine class", &started.machine.class, &machine.class)?;
    same("model", &started.policy.model, &policy.model)?;
    ctx.record(Event::RunResumed {
        step: ctx.state.finished(),
    })?;
    if let Some(step) = ctx.state.checkpoint {
        ctx.policy.load(&ctx.store.checkpoint(step))?;
    }
    ctx.replay()
}

fn practised(task: &Task) -> Practised {
    Practised {
        task: task.spec.name.clone(),
        task_hash: task.hash.clone(),
    }
}

/// Judges the seed of every task first, because rewards are relative to it: all at once, since
/// there may be hundreds.
fn judge_seeds(ctx: &mut Ctx<'_>) -> Result<(), Interrupt> {
    let plan = ctx.plan;
    let mut unjudged = plan
        .tasks()
        .filter(|(name, _)| ctx.state.seed_of(*name).is_none())
        .collect::<Vec<_>>();
    // The run's own seed comes first: if that fails, nothing else matters.
    if unjudged.first().is_some_and(|(name, _)| name.is_none()) {
        judge_all(ctx, &[unjudged.remove(0)])?;
    }
    judge_all(ctx, &unjudged)
}

fn judge_all(ctx: &mut Ctx<'_>, tasks: &[(Option<&str>, &Arc<Task>)]) -> Result<(), Interrupt> {
    let mut batch = Batch::submit(ctx, [])?;
    for (at, (_, task)) in tasks.iter().enumerate() {
        let seed = seed::candidate(task)?;
        ctx.store.keep(&seed)?;
        let made = Made::Candidate {
            normal: sampling::normal(&seed),
            hash: seed.hash().to_owned(),
        };
        let entry = Entry {
            made,
            task: Arc::clone(task),
            stage: None,
        };
        batch.add(ctx, [(at, entry)])?;
    }
    batch.gather(ctx, |ctx, at, judged| {
        let (name, task) = tasks[at];
        let judgement = judged?;
        seed::measured(task, &judgement.verdict)?;
        ctx.record(Event::SeedJudged {
            task: name.map(str::to_owned),
            judgement,
        })
    })
}

/// Reports a reward that needs something this machine cannot measure, before anything is sampled.
fn check_reward(ctx: &Ctx<'_>) -> Result<(), Interrupt> {
    for (name, _) in ctx.plan.tasks() {
        if let Some(seed) = ctx.state.seed_of(name) {
            ctx.plan
                .config
                .reward
                .shape
                .of(&seed.verdict, &ctx.state.context_of(name))?;
        }
    }
    Ok(())
}

/// Why the budget is spent, if it is.
fn spent(ctx: &Ctx<'_>) -> Option<String> {
    let budget = &ctx.plan.config.budget;
    let finished = ctx.state.finished();
    if budget.steps > 0 && finished >= budget.steps {
        return Some(match finished {
            1 => "the only step is done".to_owned(),
            _ => format!("all {finished} steps are done"),
        });
    }
    let judged = ctx.state.judged_answers();
    if budget.answers > 0 && judged >= budget.answers {
        return Some(format!("{judged} answers are judged"));
    }
    let seconds = ctx.state.stepping_s();
    (budget.seconds > 0.0 && seconds >= budget.seconds)
        .then(|| format!("{seconds:.0} s of stepping are spent"))
}

/// Saves the policy if it is `due` and this step has no checkpoint yet.
fn checkpoint(ctx: &mut Ctx<'_>, due: bool) -> Result<(), Interrupt> {
    let step = ctx.state.finished();
    if !due || step == 0 || ctx.state.checkpoint == Some(step) || !ctx.plan.learns() {
        return Ok(());
    }
    ctx.policy.save(&ctx.store.checkpoint(step))?;
    ctx.record(Event::CheckpointSaved { step })?;
    ctx.store.prune_checkpoints();
    Ok(())
}
