//! The rewards of verdicts, and what they are relative to.

use std::collections::BTreeMap;

use hotloop_flow::reward::RewardContext;
use hotloop_flow::seed::{self, SeedError};
use hotloop_flow::{BenchError, ErrorKind, JobId, Judgement, Reward};

use super::items::Item;
use super::judged::Judged;
use crate::failure::Failure;
use crate::judging::Judging;
use crate::progress::Progress;

/// The shape of the reward and, for each task, what it is relative to.
pub(crate) struct Worth {
    reward: Reward,
    contexts: BTreeMap<String, RewardContext>,
    /// Why the seed of a task could not be judged.
    failures: BTreeMap<String, BenchError>,
}

impl Worth {
    /// Judges the seeds of all tasks, if the shape of the reward needs them.
    pub(crate) fn prepare(
        reward: Reward,
        items: &[Item],
        judging: &mut Judging,
        progress: &Progress,
    ) -> Result<Self, Failure> {
        let mut contexts = BTreeMap::new();
        let mut failures = BTreeMap::new();
        for item in items {
            let task = &item.task;
            if !reward.needs_seed(task)
                || contexts.contains_key(&task.hash)
                || failures.contains_key(&task.hash)
            {
                continue;
            }
            let name = &task.spec.name;
            progress.message(format!(
                "judging the seed of {name}, which the reward is relative to"
            ));
            let unusable = |error: SeedError| {
                let other = if Reward::Ladder.needs_seed(task) {
                    "ladder-group"
                } else {
                    "ladder"
                };
                Failure::user(format!(
                    "reward `{}` cannot be computed: {error}",
                    reward.name()
                ))
                .hint(format!(
                    "`hotloop task check {name}` says more; --reward {other} needs no seed"
                ))
            };
            let job = seed::job(JobId(0), task).map_err(unusable)?;
            let judgement = match judging.replies(vec![job])?.pop().map(|reply| reply.judged) {
                Some(Ok(judgement)) => judgement,
                // Only a candidate that was measured is compared with the seed.
                Some(Err(error)) if error.kind == ErrorKind::Machine => {
                    failures.insert(task.hash.clone(), error);
                    continue;
                }
                Some(Err(error)) => return Err(error.into()),
                None => return Err(Failure::interrupted()),
            };
            let measured = seed::measured(task, &judgement.verdict).map_err(unusable)?;
            contexts.insert(task.hash.clone(), RewardContext::of_seed(measured));
        }
        Ok(Self {
            reward,
            contexts,
            failures,
        })
    }

    fn context(&self, item: &Item) -> RewardContext {
        self.contexts
            .get(&item.task.hash)
            .copied()
            .unwrap_or_default()
    }

    /// The reward of one judgement; `None` if it is masked, or if the group's rewards are shared
    /// out at the end.
    pub(crate) fn of(
        &self,
        item: &Item,
        judgement: Option<&Judgement>,
    ) -> Result<Option<f64>, Failure> {
        let Some(judgement) = judgement.filter(|_| self.reward != Reward::LadderGroup) else {
            return Ok(None);
        };
        if let Some(error) = self.failures.get(&item.task.hash)
            && judgement.verdict.measured().is_some()
        {
            return Err(error.clone().into());
        }
        self.reward
            .of(&judgement.verdict, &self.context(item))
            .map_err(|error| Failure::user(error.to_string()))
    }

    /// The rewards of all judgements as one group for each task.
    pub(crate) fn share_out(&self, all: &mut [Judged<'_>]) -> Result<(), Failure> {
        let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, judged) in all.iter().enumerate() {
            groups
                .entry(judged.item.task.hash.clone())
                .or_default()
                .push(index);
        }
        for indices in groups.into_values() {
            let verdicts: Vec<_> = indices
                .iter()
                .map(|index| {
                    all[*index]
                        .reply
                        .as_ref()
                        .ok()
                        .map(|judged| &judged.verdict)
                })
                .collect();
            let context = self.context(all[indices[0]].item);
            let rewards = self
                .reward
                .of_group(&verdicts, &context)
                .map_err(|error| Failure::user(error.to_string()))?;
            for (index, reward) in indices.into_iter().zip(rewards) {
                all[index].reward = reward;
            }
        }
        Ok(())
    }
}
