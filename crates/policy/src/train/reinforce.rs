//! Reinforcement learning by GRPO.

use hotloop_flow::policy::WeightedTokens;

use super::error::TrainError;
use super::learner::Learner;
use super::loss::{self, Clip, GrpoToken, Normalisation};
use super::update::{Sums, Update};
use crate::cpu::{Adapted, Network};
use crate::cuda::With;
use crate::model::Adapter;
use crate::pack::{Pack, Scored, Sequence};
use crate::placed::{Place, lock};

/// The frozen policy that GRPO stays close to.
pub enum Reference {
    /// No reference. The KL divergence is not computed.
    None,
    /// The network without an adapter, for an adapter that started fresh.
    Base,
    /// The network with a frozen adapter.
    Adapter(Adapter),
    /// A frozen copy of all weights.
    Copy(Box<Network>),
}

/// The settings of GRPO.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grpo {
    /// Clip range and weight of the KL divergence.
    pub clip: Clip,
    /// How tokens are averaged.
    pub normalisation: Normalisation,
    /// Optimiser steps on one batch.
    pub epochs: u32,
}

/// A token of an answer, and its share of the loss.
struct Weighed {
    token: GrpoToken,
    share: f32,
}

impl Learner {
    /// A GRPO update: answers with a positive advantage become more likely, the others less likely.
    pub fn reinforce(
        &mut self,
        batch: &[WeightedTokens],
        grpo: Grpo,
        reference: &Reference,
    ) -> Result<Update, TrainError> {
        let temperature = self.check_batch(batch)?;
        let sequences: Vec<_> = batch
            .iter()
            .map(|answer| Sequence::answer(&answer.prompt_tokens, &answer.tokens))
            .collect();
        let packs = self.packs(&sequences);
        // Targets are ordered by answer, so one running index finds each token's facts.
        let lengths: Vec<usize> = sequences.iter().map(scored_tokens).collect();
        let shares = grpo.normalisation.shares(&lengths);
        let mut tokens: Vec<Weighed> = Vec::with_capacity(lengths.iter().sum());
        for ((answer, &length), &share) in batch.iter().zip(&lengths).zip(&shares) {
            let skipped = answer.tokens.len() - length;
            tokens.extend(answer.logprobs[skipped..].iter().map(|&sampler| Weighed {
                token: GrpoToken {
                    current: 0.0,
                    trainer: 0.0,
                    sampler,
                    reference: None,
                    advantage: answer.advantage as f32,
                },
                share,
            }));
        }
        if tokens.is_empty() {
            return Err(TrainError::Empty);
        }
        self.place_reference(reference)?;
        let mut rest = &mut tokens[..];
        for pack in &packs {
            let (here, behind) = rest.split_at_mut(pack.targets.len());
            rest = behind;
            self.score_frozen(pack, temperature, reference, here)?;
            if grpo.epochs > 1 {
                self.score_trainer(pack, temperature, here)?;
            }
        }
        let mut total = Update::default();
        for epoch in 0..grpo.epochs.max(1) {
            let update = self.reinforce_once(&packs, grpo, temperature, &mut tokens)?;
            total = total.then(update, epoch);
        }
        let gap =
            |Weighed { token, .. }: &Weighed| f64::from((token.trainer - token.sampler).abs());
        total.sampler_gap = tokens.iter().map(gap).sum::<f64>() / tokens.len() as f64;
        Ok(total)
    }

    fn reinforce_once(
        &mut self,
        packs: &[Pack],
        grpo: Grpo,
        temperature: f32,
        tokens: &mut [Weighed],
    ) -> Result<Update, TrainError> {
        let mut sums = Sums::default();
        self.clear()?;
        let mut first = 0;
        for pack in packs {
            let here = &mut tokens[first..first + pack.targets.len()];
            first += pack.targets.len();
            let mut coefficient = |index: usize, scored: Scored| {
                let Weighed { token, share } = &mut here[index];
                token.current = scored.logprob;
                if grpo.epochs <= 1 {
                    // With a single epoch the trainer's logprob is the current one. The ratio is
                    // one, with its gradient there.
                    token.trainer = scored.logprob;
                }
                let out = loss::grpo(*token, grpo.clip);
                sums.add(out, *share, scored);
                out.slope * *share
            };
            self.learn(pack, temperature, None, &mut coefficient)?;
        }
        let gradient_norm = self.take_step(sums.loss)?;
        Ok(sums.update(gradient_norm, self.optimiser.steps))
    }

    /// Moves the reference to the device, once for all packs of an update.
    fn place_reference(&self, reference: &Reference) -> Result<(), TrainError> {
        let Place::Cuda(engine) = &self.model.place else {
            return Ok(());
        };
        match reference {
            Reference::None | Reference::Base => {}
            Reference::Adapter(adapter) => lock(engine).set_reference(adapter)?,
            Reference::Copy(network) => lock(engine).set_copy(&network.config, &network.weights)?,
        }
        Ok(())
    }

    /// Records the scores of the reference, if there is one.
    fn score_frozen(
        &self,
        pack: &Pack,
        temperature: f32,
        reference: &Reference,
        tokens: &mut [Weighed],
    ) -> Result<(), TrainError> {
        self.check_halt()?;
        let scores = match &self.model.place {
            Place::Cpu => {
                let own = &self.model.network;
                let (network, adapted) = match reference {
                    Reference::None => return Ok(()),
                    Reference::Base => (own, None),
                    Reference::Adapter(adapter) => (own, Some(Adapted::plain(adapter))),
                    Reference::Copy(network) => (&**network, None),
                };
                network.score(adapted, pack, temperature)
            }
            Place::Cuda(engine) => {
                let with = match reference {
                    Reference::None => return Ok(()),
                    Reference::Base => With::Nothing,
                    Reference::Adapter(_) => With::Reference,
                    Reference::Copy(_) => With::Copy,
                };
                lock(engine).score(with, pack, temperature)?
            }
        };
        for (weighed, scored) in tokens.iter_mut().zip(scores) {
            weighed.token.reference = Some(scored.logprob);
        }
        Ok(())
    }

    /// Records the trainer's scores at the start of the update, for ratios in several epochs.
    fn score_trainer(
        &self,
        pack: &Pack,
        temperature: f32,
        tokens: &mut [Weighed],
    ) -> Result<(), TrainError> {
        for (weighed, scored) in tokens.iter_mut().zip(self.score(pack, temperature)?) {
            weighed.token.trainer = scored.logprob;
        }
        Ok(())
    }

    /// Checks a batch and returns its sampling temperature.
    fn check_batch(&self, batch: &[WeightedTokens]) -> Result<f32, TrainError> {
        for (index, answer) in batch.iter().enumerate() {
            let tokens = answer.tokens.len();
            let logprobs = answer.logprobs.len();
            if tokens != logprobs {
                return Err(TrainError::Unpaired {
                    index,
                    tokens,
                    logprobs,
                });
            }
        }
        self.check_tokens(
            batch
                .iter()
                .flat_map(|answer| [&answer.prompt_tokens[..], &answer.tokens[..]]),
        )?;
        let temperature = batch.first().map_or(1.0, |first| first.temperature);
        let same = |answer: &WeightedTokens| answer.temperature.to_bits() == temperature.to_bits();
        if batch.iter().all(same) {
            Ok(temperature as f32)
        } else {
            Err(TrainError::Temperatures)
        }
    }
}

fn scored_tokens(sequence: &Sequence) -> usize {
    sequence
        .scored
        .iter()
        .skip(1)
        .filter(|scored| **scored)
        .count()
}
