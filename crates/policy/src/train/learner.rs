//! The learner: a network, what of it is trained, and one optimiser step at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::backend::{Backend, lock};
use super::loss::{self, Clip, GrpoToken, Normalisation, TokenLoss};
use super::optim::{self, AdamW, OptimConfig};
use super::schedule::Schedule;
use crate::cpu::{Adapted, Gradient, Network, Recompute, Scored};
use crate::cuda::{self, Stepping};
use crate::model::{Adapter, Tensor, Weights};
use crate::pack::{Pack, Sequence, split};

/// How the learner learns, whatever the loss.
#[derive(Debug, Clone, PartialEq)]
pub struct Training {
    /// `AdamW`'s constants.
    pub optim: OptimConfig,
    /// The learning rate.
    pub schedule: Schedule,
    /// Tokens that go through the network at once; a batch is the sum of as many passes as it needs.
    pub pack_tokens: usize,
    /// Whether layers are computed again in the backward pass.
    pub recompute: Recompute,
    /// Seed of dropout.
    pub seed: u64,
}

/// What is trained.
pub enum Trained {
    /// An adapter; the network's weights stay as they are.
    Lora(Adapter),
    /// All weights of the network.
    Full,
}

/// The frozen policy that GRPO stays close to.
pub enum Reference {
    /// None: the divergence is not computed.
    None,
    /// The network without adapter: right for an adapter that began fresh.
    Base,
    /// The network with a frozen adapter.
    Adapter(Adapter),
    /// A frozen copy of all weights.
    Copy(Box<Network>),
}

/// The settings of GRPO.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grpo {
    /// Clip range and weight of the divergence.
    pub clip: Clip,
    /// How tokens are averaged.
    pub normalisation: Normalisation,
    /// The temperature the answers were drawn at.
    pub temperature: f32,
    /// Optimiser steps on one batch.
    pub epochs: u32,
}

/// An answer with its advantage.
#[derive(Debug, Clone, PartialEq)]
pub struct Rollout {
    /// The prompt's tokens.
    pub prompt: Vec<u32>,
    /// The answer's tokens.
    pub answer: Vec<u32>,
    /// The sampler's logprob of each.
    pub logprobs: Vec<f32>,
    /// How much better than its group it was.
    pub advantage: f32,
}

/// What an update did, averaged over its epochs where not said otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Update {
    /// The loss of the first epoch.
    pub loss: f64,
    /// Norm of the last gradient before clipping.
    pub gradient_norm: f64,
    /// Mean divergence from the reference.
    pub kl: f64,
    /// Share of tokens whose ratio was clipped.
    pub clipped: f64,
    /// Mean entropy.
    pub entropy: f64,
    /// Mean distance between the trainer's and the sampler's logprobs; above 0.02 the sampler is suspect.
    pub sampler_gap: f64,
    /// Tokens scored.
    pub tokens: u64,
    /// Steps taken so far.
    pub step: u64,
}

/// The machine's or the user's fault; the weights are as before the step.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// Nothing to learn from.
    #[error("the batch has no scored token")]
    Empty,
    /// A token the model does not have.
    #[error(
        "token {token} is outside the vocabulary of {vocab}: is this the model's own tokenizer?"
    )]
    UnknownToken {
        /// The token.
        token: u32,
        /// Tokens there are.
        vocab: usize,
    },
    /// Logprobs and tokens do not pair up.
    #[error("answer {index} has {tokens} tokens but {logprobs} logprobs")]
    Unpaired {
        /// Which answer.
        index: usize,
        /// Its tokens.
        tokens: usize,
        /// Its logprobs.
        logprobs: usize,
    },
    /// The GPU failed, or has too little memory.
    #[error(transparent)]
    Device(#[from] cuda::Error),
    /// Someone asked to stop; of several epochs those that were done stay done.
    #[error("stopped on request")]
    Stopped,
    /// The loss or the gradient is not a number.
    #[error(
        "step {step}: loss {loss}, gradient norm {gradient_norm}; the step was not taken. Lower the learning rate or look at the batch"
    )]
    NotFinite {
        /// Steps taken before.
        step: u64,
        /// The loss.
        loss: f64,
        /// The gradient's norm.
        gradient_norm: f64,
    },
}

/// A network that learns.
pub struct Learner {
    /// The network; its weights change only when all of them are trained.
    pub network: Network,
    /// What is trained.
    pub trained: Trained,
    /// The optimiser and its state.
    pub optimiser: AdamW,
    pub(super) training: Training,
    pub(super) gradient: Gradient,
    pub(super) backend: Backend,
    pub(super) halt: Arc<AtomicBool>,
}

/// Sums over the tokens of a batch.
#[derive(Default)]
struct Sums {
    loss: f64,
    kl: f64,
    clipped: f64,
    entropy: f64,
    tokens: u64,
}

impl Sums {
    fn add(&mut self, token: TokenLoss, share: f32, scored: Scored) {
        self.loss += f64::from(token.loss) * f64::from(share);
        self.kl += f64::from(token.kl);
        self.clipped += f64::from(u8::from(token.clipped));
        self.entropy += f64::from(scored.entropy);
        self.tokens += 1;
    }
}

impl Learner {
    /// A learner with a fresh optimiser.
    pub fn new(network: Network, trained: Trained, training: Training) -> Self {
        let gradient = match &trained {
            Trained::Lora(adapter) => Gradient::Lora(adapter.zeroed()),
            Trained::Full => Gradient::Full(network.weights.zeroed()),
        };
        let optimiser = AdamW::new(
            training.optim,
            gradient.tensors().iter().map(|tensor| tensor.data.len()),
        );
        Self {
            network,
            trained,
            optimiser,
            training,
            gradient,
            backend: Backend::Cpu,
            halt: Arc::default(),
        }
    }

    /// From now on answers and updates end with an error soon after this flag is set: between two tokens, or two packs.
    pub fn heed(&mut self, halt: Arc<AtomicBool>) {
        self.halt = halt;
    }

    /// That flag.
    pub fn halt(&self) -> &AtomicBool {
        &self.halt
    }

    /// Whether to go on.
    pub(super) fn check_halt(&self) -> Result<(), TrainError> {
        if self.halt.load(Ordering::Relaxed) {
            Err(TrainError::Stopped)
        } else {
            Ok(())
        }
    }

    /// The adapter as sampling uses it.
    pub fn adapted(&self) -> Option<Adapted<'_>> {
        match &self.trained {
            Trained::Lora(adapter) => Some(Adapted::plain(adapter)),
            Trained::Full => None,
        }
    }

    /// The trained tensors.
    pub fn parameters(&self) -> Vec<&Tensor> {
        match &self.trained {
            Trained::Lora(adapter) => adapter.tensors(),
            Trained::Full => self.network.weights.tensors(),
        }
    }

    /// The trained tensors, to be changed: for loading a checkpoint.
    pub fn parameters_mut(&mut self) -> Vec<&mut Tensor> {
        parameters_mut(&mut self.trained, &mut self.network.weights)
    }

    /// Changes how fast it learns from the next step on.
    pub fn set_schedule(&mut self, schedule: Schedule) {
        self.training.schedule = schedule;
    }

    /// The gradient of the last step.
    pub fn gradient(&self) -> &Gradient {
        &self.gradient
    }

    /// One step of supervised learning: the mean cross-entropy of the scored tokens goes down.
    pub fn supervise(&mut self, batch: &[Sequence]) -> Result<Update, TrainError> {
        self.check_tokens(batch.iter().map(|sequence| &sequence.tokens[..]))?;
        let packs = self.packs(batch);
        let tokens: usize = packs.iter().map(|pack| pack.targets.len()).sum();
        if tokens == 0 {
            return Err(TrainError::Empty);
        }
        let share = 1.0 / tokens as f32;
        let mut sums = Sums::default();
        self.clear()?;
        for (nth, pack) in packs.iter().enumerate() {
            // The seed moves with the step and the pass, so that no two passes drop the same inputs.
            let moved = self
                .optimiser
                .steps
                .wrapping_mul(1 << 20)
                .wrapping_add(nth as u64);
            let seed = self.training.seed.wrapping_add(moved);
            let mut coefficient = |_: usize, scored: Scored| {
                let token = loss::cross_entropy(scored.logprob);
                sums.add(token, share, scored);
                token.slope * share
            };
            self.learn(pack, 1.0, Some(seed), &mut coefficient)?;
        }
        let gradient_norm = self.take_step(sums.loss)?;
        Ok(Update {
            loss: sums.loss,
            gradient_norm,
            ..self.facts(&sums)
        })
    }

    /// The mean cross-entropy of the scored tokens.
    pub fn loss(&self, batch: &[Sequence]) -> Result<f64, TrainError> {
        self.check_tokens(batch.iter().map(|sequence| &sequence.tokens[..]))?;
        let (mut sum, mut tokens) = (0.0, 0);
        for pack in self.packs(batch) {
            let scores = self.score(&pack, 1.0)?;
            sum -= scores
                .iter()
                .map(|scored| f64::from(scored.logprob))
                .sum::<f64>();
            tokens += scores.len();
        }
        if tokens == 0 {
            Err(TrainError::Empty)
        } else {
            Ok(sum / tokens as f64)
        }
    }

    /// An update by GRPO: answers with positive advantage become likelier, the others less so.
    pub fn reinforce(
        &mut self,
        batch: &[Rollout],
        grpo: Grpo,
        reference: &Reference,
    ) -> Result<Update, TrainError> {
        self.check_rollouts(batch)?;
        let sequences: Vec<_> = batch
            .iter()
            .map(|r| Sequence::answer(&r.prompt, &r.answer))
            .collect();
        let packs = self.packs(&sequences);
        // Targets run answer by answer, so each token's facts are found by one running index.
        let lengths: Vec<usize> = sequences.iter().map(scored_tokens).collect();
        let shares = grpo.normalisation.shares(&lengths);
        let mut tokens: Vec<(GrpoToken, f32)> = Vec::with_capacity(lengths.iter().sum());
        for ((rollout, &length), &share) in batch.iter().zip(&lengths).zip(&shares) {
            let skipped = rollout.answer.len() - length;
            for &sampler in &rollout.logprobs[skipped..] {
                let advantage = rollout.advantage;
                let token = GrpoToken {
                    current: 0.0,
                    trainer: 0.0,
                    sampler,
                    reference: None,
                    advantage,
                };
                tokens.push((token, share));
            }
        }
        if tokens.is_empty() {
            return Err(TrainError::Empty);
        }
        self.score_frozen(&packs, grpo, reference, &mut tokens)?;
        let mut total = Update::default();
        for epoch in 0..grpo.epochs.max(1) {
            let update = self.reinforce_once(&packs, grpo, &mut tokens)?;
            total = total.then(update, epoch);
        }
        let gap = |(token, _): &(GrpoToken, f32)| f64::from((token.trainer - token.sampler).abs());
        total.sampler_gap = tokens.iter().map(gap).sum::<f64>() / tokens.len() as f64;
        Ok(total)
    }

    fn reinforce_once(
        &mut self,
        packs: &[Pack],
        grpo: Grpo,
        tokens: &mut [(GrpoToken, f32)],
    ) -> Result<Update, TrainError> {
        let mut sums = Sums::default();
        self.clear()?;
        let mut first = 0;
        for pack in packs {
            let here = &mut tokens[first..first + pack.targets.len()];
            first += pack.targets.len();
            let mut coefficient = |index: usize, scored: Scored| {
                let (token, share) = &mut here[index];
                token.current = scored.logprob;
                if grpo.epochs <= 1 {
                    // A single epoch begins where the update begins: the ratio is one, with the gradient it has there.
                    token.trainer = scored.logprob;
                }
                let out = loss::grpo(*token, grpo.clip);
                sums.add(out, *share, scored);
                out.slope * *share
            };
            self.learn(pack, grpo.temperature, None, &mut coefficient)?;
        }
        let gradient_norm = self.take_step(sums.loss)?;
        Ok(Update {
            loss: sums.loss,
            gradient_norm,
            ..self.facts(&sums)
        })
    }

    /// Scores by the reference, and by the trainer as the update begins where several epochs follow.
    fn score_frozen(
        &self,
        packs: &[Pack],
        grpo: Grpo,
        reference: &Reference,
        tokens: &mut [(GrpoToken, f32)],
    ) -> Result<(), TrainError> {
        self.place_reference(reference)?;
        let mut left = tokens;
        for pack in packs {
            let (here, rest) = left.split_at_mut(pack.targets.len());
            left = rest;
            if let Some(scores) = self.score_reference(reference, pack, grpo.temperature)? {
                here.iter_mut()
                    .zip(scores)
                    .for_each(|((token, _), scored)| token.reference = Some(scored.logprob));
            }
            if grpo.epochs > 1 {
                let scores = self.score(pack, grpo.temperature)?;
                here.iter_mut()
                    .zip(scores)
                    .for_each(|((token, _), scored)| token.trainer = scored.logprob);
            }
        }
        Ok(())
    }

    fn packs(&self, sequences: &[Sequence]) -> Vec<Pack> {
        let lengths: Vec<usize> = sequences
            .iter()
            .map(|sequence| sequence.tokens.len())
            .collect();
        let runs = split(&lengths, self.training.pack_tokens);
        let packs = runs.into_iter().map(|run| Pack::new(&sequences[run]));
        packs.filter(|pack| !pack.targets.is_empty()).collect()
    }

    /// Takes the step, unless loss or gradient are not finite. Returns the gradient's norm.
    fn take_step(&mut self, loss: f64) -> Result<f64, TrainError> {
        let step = self.optimiser.steps;
        let rate = self.training.schedule.rate(step);
        let gradients = self.gradient.tensors();
        let gradient_norm = match &self.backend {
            Backend::Cpu => optim::norm(&gradients),
            Backend::Cuda(engine) => lock(engine).gradient_norm()?,
        };
        if !loss.is_finite() || !gradient_norm.is_finite() {
            return Err(TrainError::NotFinite {
                step,
                loss,
                gradient_norm,
            });
        }
        match &self.backend {
            Backend::Cpu => {
                let values = parameters_mut(&mut self.trained, &mut self.network.weights);
                self.optimiser.step(rate, gradient_norm, values, &gradients);
            }
            Backend::Cuda(engine) => {
                let config = self.optimiser.config;
                lock(engine).step(Stepping {
                    config,
                    step: step + 1,
                    rate,
                    norm: gradient_norm,
                })?;
                self.optimiser.steps += 1;
            }
        }
        Ok(gradient_norm)
    }

    fn facts(&self, sums: &Sums) -> Update {
        let mean = |sum: f64| sum / sums.tokens.max(1) as f64;
        Update {
            kl: mean(sums.kl),
            clipped: mean(sums.clipped),
            entropy: mean(sums.entropy),
            tokens: sums.tokens,
            step: self.optimiser.steps,
            ..Update::default()
        }
    }

    fn check_tokens<'a>(
        &self,
        sequences: impl Iterator<Item = &'a [u32]>,
    ) -> Result<(), TrainError> {
        let vocab = self.network.config.vocab;
        for &token in sequences.flatten() {
            if token as usize >= vocab {
                return Err(TrainError::UnknownToken { token, vocab });
            }
        }
        Ok(())
    }

    fn check_rollouts(&self, batch: &[Rollout]) -> Result<(), TrainError> {
        for (index, rollout) in batch.iter().enumerate() {
            let (tokens, logprobs) = (rollout.answer.len(), rollout.logprobs.len());
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
                .flat_map(|rollout| [&rollout.prompt[..], &rollout.answer[..]]),
        )
    }
}

impl Update {
    /// This epoch's facts after those before it.
    fn then(self, next: Self, epoch: u32) -> Self {
        let mean = |old: f64, new: f64| (old * f64::from(epoch) + new) / f64::from(epoch + 1);
        Self {
            loss: if epoch == 0 { next.loss } else { self.loss },
            kl: mean(self.kl, next.kl),
            clipped: mean(self.clipped, next.clipped),
            entropy: mean(self.entropy, next.entropy),
            ..next
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

fn parameters_mut<'a>(trained: &'a mut Trained, weights: &'a mut Weights) -> Vec<&'a mut Tensor> {
    match trained {
        Trained::Lora(adapter) => adapter.tensors_mut(),
        Trained::Full => weights.tensors_mut(),
    }
}
