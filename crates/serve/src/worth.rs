//! The rewards of verdicts, and the seeds that they are relative to.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hotloop_flow::reward::RewardContext;
use hotloop_flow::{Judgement, Reward, Task, Verdict, noise, seed};
use tokio::time::Instant;

use crate::desk::{Desk, Wanted, outcome};
use crate::fault::Fault;

/// Computes rewards, and judges the seeds that they are relative to.
pub(crate) struct Worth {
    desk: Arc<Desk>,
    /// Seeds by task and by the number of changes of the bench's machine class.
    seeds: Mutex<BTreeMap<(u64, String), Arc<Judgement>>>,
}

/// The reward of one candidate.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Earned {
    pub(crate) reward: Option<f64>,
    pub(crate) noise: Option<f64>,
}

impl Worth {
    pub(crate) fn new(desk: Arc<Desk>) -> Self {
        Self {
            desk,
            seeds: Mutex::default(),
        }
    }

    /// The judgement of the task's seed on this bench.
    pub(crate) async fn seed(
        &self,
        task: &Arc<Task>,
        deadline: Instant,
    ) -> Result<Arc<Judgement>, Fault> {
        let lock = || self.seeds.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (self.desk.changes(), task.hash.clone());
        if let Some(seed) = lock().get(&key) {
            return Ok(Arc::clone(seed));
        }
        let name = &task.spec.name;
        let candidate =
            seed::candidate(task).map_err(|unusable| Fault::conflict(unusable.to_string()))?;
        let wait = Duration::from_secs(5);
        let wanted = Wanted {
            task,
            candidate: &candidate,
            stage: None,
            apart: None,
        };
        let mut tickets = self
            .desk
            .ask([wanted])
            .map_err(|_| Fault::later("the queue is full", wait))?;
        let judged = outcome(tickets.remove(0), deadline)
            .await
            .ok_or_else(|| Fault::later(format!("the seed of {name} is being judged"), wait))?;
        let judgement = judged.map_err(|error| Fault::machine(&error))?;
        if let Err(unusable) = seed::measured(task, &judgement.verdict) {
            // The seed is as it was when its task was made, so the machine is at fault, and its
            // failures are not kept. A disturbed timing may be all that was wrong.
            self.desk.forget(&wanted, &judgement);
            let fault = Fault::later(unusable.to_string(), wait);
            return Err(if Reward::Ladder.needs_seed(task) {
                fault
            } else {
                fault.hint("reward `ladder` needs no seed")
            });
        }
        let mut all = lock();
        all.retain(|(changes, _), _| *changes >= key.0);
        all.insert(key, Arc::clone(&judgement));
        Ok(judgement)
    }

    /// The numbers that a reward is relative to.
    pub(crate) async fn context(
        &self,
        reward: Reward,
        task: &Arc<Task>,
        deadline: Instant,
    ) -> Result<RewardContext, Fault> {
        if !reward.needs_seed(task) {
            return Ok(RewardContext::default());
        }
        Ok(Self::of(&*self.seed(task, deadline).await?))
    }

    /// The numbers that rewards are relative to, from the seed's judgement.
    pub(crate) fn of(seed: &Judgement) -> RewardContext {
        let measured = seed.verdict.correct();
        measured.map(RewardContext::of_seed).unwrap_or_default()
    }
}

/// The rewards of a group, in order; `None` stands for a machine's failure.
pub(crate) fn earned(
    reward: Reward,
    verdicts: &[Option<&Verdict>],
    context: &RewardContext,
) -> Result<Vec<Earned>, Fault> {
    let rewards = reward
        .of_group(verdicts, context)
        .map_err(|error| Fault::conflict(error.to_string()))?;
    let mut earned = Vec::with_capacity(rewards.len());
    for (verdict, reward_of) in verdicts.iter().zip(rewards) {
        let noise = match (verdict, reward_of) {
            (Some(_), Some(_)) => noise::of_group(reward, &[*verdict], context).ok(),
            _ => None,
        };
        earned.push(Earned {
            reward: reward_of,
            noise,
        });
    }
    Ok(earned)
}
