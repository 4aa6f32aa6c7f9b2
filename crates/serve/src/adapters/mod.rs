//! The protocols of trainers and environments that hotloop did not invent.
//!
//! Most of them know numbers only. There a machine's failure is a status that their clients try
//! again at, and a masked verdict (`suspect`: too fast to be believed) is worth what the
//! task's seed is: it gains nothing, and is not punished either.

pub(crate) mod kernelgym;
pub(crate) mod openenv;
pub(crate) mod openrlhf;
pub(crate) mod sandbox_fusion;
pub(crate) mod slime;

use std::sync::Arc;

use hotloop_flow::reward::RewardContext;
use hotloop_flow::{Judgement, Verdict};
use tokio::time::Instant;

use crate::app::App;
use crate::asked::{Text, Unmade, What, Work};
use crate::fault::Fault;
use crate::searches::Told;
use crate::worth::Worth;

/// A candidate that was judged and has a number.
pub(crate) struct Graded {
    pub(crate) work: Work,
    pub(crate) judgement: Arc<Judgement>,
    pub(crate) reward: f64,
    pub(crate) context: RewardContext,
}

impl Graded {
    pub(crate) fn verdict(&self) -> &Verdict {
        &self.judgement.verdict
    }

    /// How many times as fast as the task's seed, when it is correct.
    pub(crate) fn speedup(&self) -> Option<f64> {
        Some(self.context.seed_s? / self.verdict().correct()?.seconds)
    }
}

/// Judges candidates; what each is worth does not depend on the others.
pub(crate) async fn grade(
    app: &Arc<App>,
    all: Vec<(What, Text)>,
    id: Option<&str>,
    deadline: Instant,
) -> Result<Vec<Graded>, Fault> {
    let since = app.desk.changes();
    let rewards: Vec<_> = all.iter().map(|(what, _)| what.reward).collect();
    let unmade = all
        .into_iter()
        .map(|(what, text)| Unmade {
            what,
            text,
            apart: None,
        })
        .collect();
    let works = app.make(unmade).await?;
    let outcomes = app.judge(&works, deadline).await?;
    let mut told = Vec::with_capacity(works.len());
    for ((work, outcome), asked) in works.iter().zip(&outcomes).zip(rewards) {
        let judgement = outcome.as_ref().map_err(Fault::machine)?;
        let shape = app.reward(asked.or(work.prompt.as_ref().map(|prompt| prompt.reward)));
        let seed = app.worth.seed(&app.desk, &work.task, deadline).await?;
        let context = Worth::of(&seed);
        let of = |verdict: &Verdict| {
            shape
                .of(verdict, &context)
                .map_err(|error| Fault::bad(error.to_string()))
        };
        let reward = match of(&judgement.verdict)? {
            Some(reward) => reward,
            None => of(&seed.verdict)?.unwrap_or(0.0),
        };
        told.push((Arc::clone(judgement), reward, context));
    }
    app.one_class(since)?;
    let answers =
        works
            .iter()
            .zip(&outcomes)
            .zip(&told)
            .map(|((work, outcome), (judgement, reward, _))| Told {
                work,
                outcome,
                reward: Some(*reward)
                    .filter(|_| !matches!(judgement.verdict, Verdict::Suspect { .. })),
                id,
            });
    app.searches.take_in(answers).await?;
    let graded = works.into_iter().zip(told);
    Ok(graded
        .map(|(work, (judgement, reward, context))| Graded {
            work,
            judgement,
            reward,
            context,
        })
        .collect())
}
