//! The learner's work on a GPU: the same steps as on the CPU, with the truth kept on the device.
//!
//! What is trained lives on the device between steps. The host's tensors are brought up to date only to be saved
//! (`Learner::mirror`) and sent back after loading (`Learner::restore`).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::learner::{Learner, Reference, TrainError, Trained, Training};
use super::optim::{AdamW, Moments};
use crate::Precision;
use crate::cpu::{Adapted, Generation, Gradient, Network, Pass, Scored};
use crate::cuda::{self, Trains, With};
use crate::model::{Adapter, Tensor, Weights};
use crate::pack::Pack;
use crate::sample::{Answer, Ending};

/// Where a learner computes.
pub(super) enum Backend {
    Cpu,
    /// The lock is for reading methods, which use the device's scratch memory too.
    Cuda(Mutex<Box<cuda::Engine>>),
}

/// The engine, whatever happened to a thread that held it.
pub(super) fn lock(engine: &Mutex<Box<cuda::Engine>>) -> MutexGuard<'_, Box<cuda::Engine>> {
    engine.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Learner {
    /// A learner on the first GPU, in bf16 (or f32, for checks).
    pub fn on_cuda(
        network: Network,
        trained: Trained,
        training: Training,
        precision: Precision,
    ) -> Result<Self, cuda::Error> {
        let trains = match &trained {
            Trained::Lora(adapter) => Trains::Lora(adapter),
            Trained::Full => Trains::Full,
        };
        let engine = cuda::Engine::new(&network, trains, precision)?;
        // Gradients and moments live on the device alone.
        let optimiser = AdamW::new(training.optim, std::iter::empty());
        let backend = Backend::Cuda(Mutex::new(Box::new(engine)));
        Ok(Self {
            network,
            trained,
            optimiser,
            training,
            gradient: Gradient::Lora(no_adapter()),
            backend,
            halt: Arc::default(),
        })
    }

    /// Whether it computes on a GPU.
    pub fn is_on_cuda(&self) -> bool {
        matches!(self.backend, Backend::Cuda(_))
    }

    /// The engine on the GPU, if that is where it computes.
    pub fn cuda(&mut self) -> Option<&mut cuda::Engine> {
        match &mut self.backend {
            Backend::Cpu => None,
            Backend::Cuda(engine) => Some(engine.get_mut().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    /// Scores every target of a pack at that temperature, with what is trained.
    pub fn score(&self, pack: &Pack, temperature: f32) -> Result<Vec<Scored>, TrainError> {
        self.check_halt()?;
        match &self.backend {
            Backend::Cpu => Ok(self.network.score(self.adapted(), pack, temperature)),
            Backend::Cuda(engine) => Ok(lock(engine).score(With::Trained, pack, temperature)?),
        }
    }

    /// `count` answers to each prompt, prompt by prompt.
    pub fn generate(
        &self,
        prompts: &[Vec<u32>],
        count: usize,
        how: &Generation,
    ) -> Result<Vec<(Answer, Ending)>, TrainError> {
        let answers = match &self.backend {
            Backend::Cpu => self.network.generate(self.adapted(), prompts, count, how),
            Backend::Cuda(engine) => lock(engine).generate(With::Trained, prompts, count, how)?,
        };
        if how.halted() {
            Err(TrainError::Stopped)
        } else {
            Ok(answers)
        }
    }

    /// Brings the reference to where scores are computed, once for all packs of an update.
    pub(super) fn place_reference(&self, reference: &Reference) -> Result<(), TrainError> {
        let Backend::Cuda(engine) = &self.backend else {
            return Ok(());
        };
        match reference {
            Reference::None | Reference::Base => {}
            Reference::Adapter(adapter) => lock(engine).set_reference(adapter)?,
            Reference::Copy(network) => lock(engine).set_copy(network)?,
        }
        Ok(())
    }

    /// The scores of a pack by the reference that was placed; none without a reference.
    pub(super) fn score_reference(
        &self,
        reference: &Reference,
        pack: &Pack,
        temperature: f32,
    ) -> Result<Option<Vec<Scored>>, TrainError> {
        self.check_halt()?;
        let Backend::Cuda(engine) = &self.backend else {
            let (network, adapted) = match reference {
                Reference::None => return Ok(None),
                Reference::Base => (&self.network, None),
                Reference::Adapter(adapter) => (&self.network, Some(Adapted::plain(adapter))),
                Reference::Copy(network) => (&**network, None),
            };
            return Ok(Some(network.score(adapted, pack, temperature)));
        };
        let with = match reference {
            Reference::None => return Ok(None),
            Reference::Base => With::Nothing,
            Reference::Adapter(_) => With::Reference,
            Reference::Copy(_) => With::Copy,
        };
        Ok(Some(lock(engine).score(with, pack, temperature)?))
    }

    /// Forgets the gradient.
    pub(super) fn clear(&mut self) -> Result<(), TrainError> {
        match &self.backend {
            Backend::Cpu => self
                .gradient
                .tensors_mut()
                .into_iter()
                .for_each(|tensor| tensor.data.fill(0.0)),
            Backend::Cuda(engine) => lock(engine).clear_gradient()?,
        }
        Ok(())
    }

    /// Adds the gradient of one pack.
    pub(super) fn learn(
        &mut self,
        pack: &Pack,
        temperature: f32,
        dropout_seed: Option<u64>,
        coefficient: &mut dyn FnMut(usize, Scored) -> f32,
    ) -> Result<(), TrainError> {
        self.check_halt()?;
        let recompute = self.training.recompute;
        match &mut self.backend {
            Backend::Cpu => {
                let adapted = match &self.trained {
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
                self.network
                    .learn(pass, pack, coefficient, &mut self.gradient);
            }
            Backend::Cuda(engine) => {
                let learn = cuda::Learn {
                    temperature,
                    recompute,
                    dropout_seed,
                };
                engine
                    .get_mut()
                    .unwrap_or_else(PoisonError::into_inner)
                    .learn(learn, pack, coefficient)?;
            }
        }
        Ok(())
    }

    /// Trains this adapter from now on, with a fresh optimiser.
    pub fn adopt(&mut self, adapter: Adapter) -> Result<(), TrainError> {
        match &self.backend {
            Backend::Cpu => {
                self.gradient = Gradient::Lora(adapter.zeroed());
                let sizes = self
                    .gradient
                    .tensors()
                    .into_iter()
                    .map(|tensor| tensor.data.len());
                self.optimiser = AdamW::new(self.training.optim, sizes);
            }
            Backend::Cuda(engine) => {
                lock(engine).adopt(&adapter)?;
                self.optimiser = AdamW::new(self.training.optim, std::iter::empty());
            }
        }
        self.trained = Trained::Lora(adapter);
        Ok(())
    }

    /// A learner on the CPU with all that is on the device, for saving; none where it already is on the CPU.
    /// With an adapter the base's weights are left out: they are not what changes.
    pub fn mirror(&self) -> Result<Option<Self>, TrainError> {
        let Backend::Cuda(engine) = &self.backend else {
            return Ok(None);
        };
        let engine = lock(engine);
        let (weights, trained) = match &self.trained {
            Trained::Lora(adapter) => (no_weights(), Trained::Lora(adapter.clone())),
            Trained::Full => (self.network.weights.clone(), Trained::Full),
        };
        let network = Network::new(self.network.config.clone(), weights);
        let mut mirror = Self {
            network,
            trained,
            optimiser: AdamW::new(self.training.optim, std::iter::empty()),
            training: self.training.clone(),
            gradient: Gradient::Lora(no_adapter()),
            backend: Backend::Cpu,
            halt: Arc::default(),
        };
        for (tensor, data) in mirror
            .parameters_mut()
            .into_iter()
            .zip(engine.pull_values()?)
        {
            tensor.data = data.into();
        }
        let [means, squares] = engine.pull_moments()?;
        let moments = means
            .into_iter()
            .zip(squares)
            .map(|(mean, square)| Moments { mean, square });
        mirror.optimiser.moments = moments.collect();
        mirror.optimiser.steps = self.optimiser.steps;
        Ok(Some(mirror))
    }

    /// The adapter and the optimiser's state as they are now, in memory of their own; none where all weights are trained,
    /// which would take their memory again.
    pub fn copy(&self) -> Result<Option<Self>, TrainError> {
        let Trained::Lora(adapter) = &self.trained else {
            return Ok(None);
        };
        if self.is_on_cuda() {
            return self.mirror();
        }
        Ok(Some(Self {
            network: Network::new(self.network.config.clone(), no_weights()),
            trained: Trained::Lora(adapter.clone()),
            optimiser: self.optimiser.clone(),
            training: self.training.clone(),
            gradient: Gradient::Lora(no_adapter()),
            backend: Backend::Cpu,
            halt: Arc::default(),
        }))
    }

    /// Sends the state of a mirror, changed by loading, to the device.
    pub fn restore(&mut self, mirror: Self) -> Result<(), TrainError> {
        let Backend::Cuda(engine) = &self.backend else {
            return Ok(());
        };
        let engine = lock(engine);
        engine.push_values(&mirror.parameters())?;
        let moments = &mirror.optimiser.moments;
        let means: Vec<&[f32]> = moments.iter().map(|moments| &moments.mean[..]).collect();
        let squares: Vec<&[f32]> = moments.iter().map(|moments| &moments.square[..]).collect();
        engine.push_moments(&means, &squares)?;
        drop(engine);
        self.optimiser.steps = mirror.optimiser.steps;
        if let (Trained::Lora(to), Trained::Lora(from)) = (&mut self.trained, mirror.trained) {
            *to = from;
        }
        Ok(())
    }
}

fn no_adapter() -> Adapter {
    let config = crate::model::LoraConfig {
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

fn no_weights() -> Weights {
    let nothing = || Tensor {
        name: String::new(),
        shape: vec![0, 0],
        data: Vec::new().into(),
    };
    Weights {
        embed: nothing(),
        layers: Vec::new(),
        norm: nothing(),
        head: None,
    }
}
