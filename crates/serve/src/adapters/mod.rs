//! The protocols of trainers and environments that hotloop did not invent.
//!
//! Most of them know only numbers. For these, a machine's failure is a status that makes their
//! clients retry. A masked verdict (`suspect`, which is implausibly fast) gets the reward of the
//! task's seed, so it is neither rewarded nor punished.

pub(crate) mod kernelgym;
pub(crate) mod openenv;
pub(crate) mod openrlhf;
pub(crate) mod sandbox_fusion;
pub(crate) mod slime;

use std::sync::Arc;

use hotloop_flow::reward::RewardContext;
use hotloop_flow::{Judgement, Verdict};
use tokio::time::Instant;

use crate::asked::Submission;
use crate::fault::Fault;
use crate::judging::{Judging, Work};
use crate::searches::JudgedAnswer;
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

    /// How many times as fast as the task's seed, if it is correct.
    pub(crate) fn speedup(&self) -> Option<f64> {
        Some(self.context.seed_s? / self.verdict().correct()?.seconds)
    }
}

/// Judges one candidate.
pub(crate) async fn grade_one(
    judging: &Judging,
    one: Submission,
    id: Option<&str>,
    deadline: Instant,
) -> Result<Graded, Fault> {
    let graded = grade(judging, vec![one], id, deadline).await?;
    graded
        .into_iter()
        .next()
        .ok_or_else(|| Fault::bad("there is nothing to judge"))
}

/// Judges candidates. The reward of each does not depend on the others.
pub(crate) async fn grade(
    judging: &Judging,
    all: Vec<Submission>,
    id: Option<&str>,
    deadline: Instant,
) -> Result<Vec<Graded>, Fault> {
    let since = judging.desk.changes();
    let rewards: Vec<_> = all.iter().map(|one| one.what.reward).collect();
    let works = judging.make(all).await?;
    let outcomes = judging.judge(&works, deadline).await?;
    let mut told = Vec::with_capacity(works.len());
    for ((work, outcome), asked) in works.iter().zip(&outcomes).zip(rewards) {
        let judgement = outcome.as_ref().map_err(Fault::machine)?;
        let shape = judging.reward(asked.or(work.prompt.as_ref().map(|prompt| prompt.reward)));
        let seed = judging.worth.seed(&work.task, deadline).await?;
        let context = Worth::of(&seed);
        let of = |verdict: &Verdict| {
            shape
                .of(verdict, &context)
                .map_err(|error| Fault::conflict(error.to_string()))
        };
        let reward = match of(&judgement.verdict)? {
            Some(reward) => reward,
            None => of(&seed.verdict)?.unwrap_or(0.0),
        };
        told.push((Arc::clone(judgement), reward, context));
    }
    judging.desk.one_class(since)?;
    let answers =
        works
            .iter()
            .zip(&outcomes)
            .zip(&told)
            .map(|((work, outcome), (judgement, reward, _))| JudgedAnswer {
                prompt: work.prompt.as_ref(),
                made: &work.made,
                outcome,
                reward: Some(*reward)
                    .filter(|_| !matches!(judgement.verdict, Verdict::Suspect { .. })),
                id,
            });
    judging.searches.take_in(answers).await?;
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
