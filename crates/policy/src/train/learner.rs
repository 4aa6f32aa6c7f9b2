//! The learner: a model on its device that takes one optimiser step at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::TrainError;
use super::loss;
use super::schedule::Schedule;
use super::update::{Sums, Update};
use crate::cpu::{Adapted, Gradient, Network, Pass};
use crate::cuda::{self, Stepping};
use crate::memory::Recompute;
use crate::model::{Adapter, LoraConfig};
use crate::optim::{self, AdamW, OptimConfig};
use crate::pack::{Coefficient, Pack, Scored, Sequence, split};
use crate::placed::{Place, Placed, Trained, lock};
use crate::precision::Precision;

/// Training settings that are independent of the loss.
#[derive(Debug, Clone, PartialEq)]
pub struct Training {
    /// `AdamW`'s constants.
    pub optim: OptimConfig,
    /// The learning rate.
    pub schedule: Schedule,
    /// Tokens per pass through the network. A batch is the sum of as many passes as it needs.
    pub pack_tokens: usize,
    /// Whether backward recomputes layers.
    pub recompute: Recompute,
    /// Seed of dropout.
    pub seed: u64,
}

/// A model that learns.
///
/// On a GPU the trained part stays on the device between steps. The host's tensors are updated only
/// for saving (`mirror`), and copied back after loading (`restore`).
pub struct Learner {
    /// The model on its device.
    pub model: Placed,
    /// The optimiser and its state.
    pub optimiser: AdamW,
    pub(super) training: Training,
    pub(super) gradient: Gradient,
    pub(super) halt: Arc<AtomicBool>,
}

impl Learner {
    /// A learner on the CPU with a fresh optimiser.
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
            model: Placed::on_cpu(network, trained),
            optimiser,
            training,
            gradient,
            halt: Arc::default(),
        }
    }

    /// A learner on the first GPU, in bf16 (or f32, for checks).
    pub fn on_cuda(
        network: Network,
        trained: Trained,
        training: Training,
        precision: Precision,
    ) -> Result<Self, cuda::Error> {
        let model = Placed::on_cuda(network, trained, precision)?;
        Ok(Self::bare(model, training))
    }

    /// A learner without gradients and moments, because those of a model on a GPU live there.
    pub(super) fn bare(model: Placed, training: Training) -> Self {
        Self {
            model,
            optimiser: AdamW::new(training.optim, std::iter::empty()),
            training,
            gradient: Gradient::Lora(no_adapter()),
            halt: Arc::default(),
        }
    }

    /// Once this flag is set, answers and updates end with an error between two tokens or two
    /// packs.
    pub fn stop_on(&mut self, halt: Arc<AtomicBool>) {
        self.halt = halt;
    }

    /// The stop flag.
    pub fn halt(&self) -> &AtomicBool {
        &self.halt
    }

    /// Fails if the stop flag is set.
    pub(super) fn check_halt(&self) -> Result<(), TrainError> {
        if self.halt.load(Ordering::Relaxed) {
            Err(TrainError::Stopped)
        } else {
            Ok(())
        }
    }

    /// Changes the learning rate schedule from the next step on.
    pub fn set_schedule(&mut self, schedule: Schedule) {
        self.training.schedule = schedule;
    }

    /// The gradient of the last step.
    pub fn gradient(&self) -> &Gradient {
        &self.gradient
    }

    /// Scores every target of a pack at that temperature, with the trained part.
    pub fn score(&self, pack: &Pack, temperature: f32) -> Result<Vec<Scored>, TrainError> {
        self.check_halt()?;
        Ok(self.model.score(pack, temperature)?)
    }

    /// Takes one step of supervised learning on the mean cross-entropy of the scored tokens.
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
            // The seed changes with the step and the pass, so that no two passes drop the same
            // inputs.
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
        Ok(sums.update(gradient_norm, self.optimiser.steps))
    }

    /// The mean cross-entropy of the scored tokens.
    pub fn loss(&self, batch: &[Sequence]) -> Result<f64, TrainError> {
        self.check_tokens(batch.iter().map(|sequence| &sequence.tokens[..]))?;
        let mut sum = 0.0;
        let mut tokens = 0;
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

    /// Trains this adapter from now on, with a fresh optimiser.
    pub fn adopt(&mut self, adapter: Adapter) -> Result<(), TrainError> {
        match &self.model.place {
            Place::Cpu => {
                self.gradient = Gradient::Lora(adapter.zeroed());
                let sizes = self
                    .gradient
                    .tensors()
                    .into_iter()
                    .map(|tensor| tensor.data.len());
                self.optimiser = AdamW::new(self.training.optim, sizes);
            }
            Place::Cuda(engine) => {
                lock(engine).adopt(&adapter)?;
                self.optimiser = AdamW::new(self.training.optim, std::iter::empty());
            }
        }
        self.model.trained = Trained::Lora(adapter);
        Ok(())
    }

    pub(super) fn packs(&self, sequences: &[Sequence]) -> Vec<Pack> {
        let lengths: Vec<usize> = sequences
            .iter()
            .map(|sequence| sequence.tokens.len())
            .collect();
        let runs = split(&lengths, self.training.pack_tokens);
        let packs = runs.into_iter().map(|run| Pack::new(&sequences[run]));
        packs.filter(|pack| !pack.targets.is_empty()).collect()
    }

    /// Sets the gradient to zero.
    pub(super) fn clear(&mut self) -> Result<(), TrainError> {
        match &self.model.place {
            Place::Cpu => self
                .gradient
                .tensors_mut()
                .into_iter()
                .for_each(|tensor| tensor.data.fill(0.0)),
            Place::Cuda(engine) => lock(engine).clear_gradient()?,
        }
        Ok(())
    }

    /// Adds the gradient of one pack.
    pub(super) fn learn(
        &mut self,
        pack: &Pack,
        temperature: f32,
        dropout_seed: Option<u64>,
        coefficient: &mut Coefficient,
    ) -> Result<(), TrainError> {
        self.check_halt()?;
        let recompute = self.training.recompute;
        if let Some(engine) = self.model.cuda() {
            let learn = cuda::Learn {
                temperature,
                recompute,
                dropout_seed,
            };
            return Ok(engine.learn(learn, pack, coefficient)?);
        }
        let adapted = match &self.model.trained {
            Trained::Lora(adapter) => Some(Adapted {
                adapter,
                dropout_seed,
            }),
            Trained::Full => None,
        };
        let pass = Pass {
            adapted,
            temperature,
            recompute,
        };
        self.model
            .network
            .learn(pass, pack, coefficient, &mut self.gradient);
        Ok(())
    }

    /// Takes the step, unless loss or gradient are not finite. Returns the gradient's norm.
    pub(super) fn take_step(&mut self, loss: f64) -> Result<f64, TrainError> {
        let step = self.optimiser.steps;
        let rate = self.training.schedule.rate(step);
        let gradients = self.gradient.tensors();
        let gradient_norm = match &self.model.place {
            Place::Cpu => optim::norm(&gradients),
            Place::Cuda(engine) => lock(engine).gradient_norm()?,
        };
        if !loss.is_finite() || !gradient_norm.is_finite() {
            return Err(TrainError::NotFinite {
                step,
                loss,
                gradient_norm,
            });
        }
        match &self.model.place {
            Place::Cpu => {
                let values = self.model.parameters_mut();
                self.optimiser.step(rate, gradient_norm, values, &gradients);
            }
            Place::Cuda(engine) => {
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

    pub(super) fn check_tokens<'a>(
        &self,
        sequences: impl Iterator<Item = &'a [u32]>,
    ) -> Result<(), TrainError> {
        let vocab = self.model.network.config.vocab;
        for &token in sequences.flatten() {
            if token as usize >= vocab {
                return Err(TrainError::UnknownToken { token, vocab });
            }
        }
        Ok(())
    }
}

fn no_adapter() -> Adapter {
    let config = LoraConfig {
        rank: 1,
        alpha: 1.0,
        dropout: 0.0,
        targets: Vec::new(),
    };
    Adapter {
        config,
        layers: Vec::new(),
    }
}
