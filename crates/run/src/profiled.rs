//! Profiles of parents: what a bench says about a program without running it. They go into prompts
//! and nowhere else, because whatever earns a reward is gamed.

use std::sync::Arc;

use hotloop_flow::{Job, JobId};

use crate::ctx::Ctx;
use crate::event::{Asked, Event};
use crate::interrupt::Interrupt;

/// Takes the profiles that these prompts lack. A failed profile is an empty one: the prompt is
/// asked without it, as nothing else depends on it.
pub(crate) fn take(ctx: &mut Ctx<'_>, asks: &[Asked]) -> Result<(), Interrupt> {
    if !ctx.plan.config.prompts.profile {
        return Ok(());
    }
    for asked in asks.iter().filter(|asked| asked.wants_profile()) {
        let Some(hash) = &asked.parent else { continue };
        if ctx.state.profiles.contains_key(hash) {
            continue;
        }
        ctx.check_stop()?;
        ctx.jobs += 1;
        let job = Job {
            id: JobId(ctx.jobs),
            task: Arc::clone(&ctx.plan.task),
            candidate: ctx.store.candidate(hash)?,
            stage: asked.stage,
        };
        let profile = ctx.bench.profile(&job).ok().flatten();
        ctx.record(Event::ParentProfiled {
            hash: hash.clone(),
            profile: profile.unwrap_or_default(),
        })?;
    }
    Ok(())
}
