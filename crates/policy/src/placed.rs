//! A model on its device, the CPU or a GPU, with its trained part.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::cpu::{Adapted, Network};
use crate::cuda::{self, Trains, With};
use crate::model::{Adapter, Tensor};
use crate::pack::{Pack, Scored};
use crate::precision::Precision;

/// The trained part of a model.
pub enum Trained {
    /// An adapter. The network's weights stay unchanged.
    Lora(Adapter),
    /// All weights of the network.
    Full,
}

/// Where a model computes.
pub(crate) enum Place {
    Cpu,
    /// The lock is for `&self` methods, which also use the device's scratch memory.
    Cuda(Mutex<Box<cuda::Engine>>),
}

/// Locks the engine, even if a thread panicked while it held the lock.
pub(crate) fn lock(engine: &Mutex<Box<cuda::Engine>>) -> MutexGuard<'_, Box<cuda::Engine>> {
    engine.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A model on its device.
pub struct Placed {
    /// The network. Its weights change only if all of them are trained.
    pub network: Network,
    /// The trained part of a model.
    pub trained: Trained,
    pub(crate) place: Place,
}

impl Placed {
    pub fn on_cpu(network: Network, trained: Trained) -> Self {
        Self {
            network,
            trained,
            place: Place::Cpu,
        }
    }

    /// On the first GPU, in bf16 (or f32, for checks).
    pub fn on_cuda(
        network: Network,
        trained: Trained,
        precision: Precision,
    ) -> Result<Self, cuda::Error> {
        let trains = match &trained {
            Trained::Lora(adapter) => Trains::Lora(adapter),
            Trained::Full => Trains::Full,
        };
        let engine = cuda::Engine::new(&network.config, &network.weights, trains, precision)?;
        Ok(Self {
            network,
            trained,
            place: Place::Cuda(Mutex::new(Box::new(engine))),
        })
    }

    /// Whether it computes on a GPU.
    pub fn is_on_cuda(&self) -> bool {
        matches!(self.place, Place::Cuda(_))
    }

    /// The engine on the GPU, if that is where it computes.
    pub fn cuda(&mut self) -> Option<&mut cuda::Engine> {
        match &mut self.place {
            Place::Cpu => None,
            Place::Cuda(engine) => Some(engine.get_mut().unwrap_or_else(PoisonError::into_inner)),
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

    /// The trained tensors, mutable, for loading a checkpoint.
    pub fn parameters_mut(&mut self) -> Vec<&mut Tensor> {
        match &mut self.trained {
            Trained::Lora(adapter) => adapter.tensors_mut(),
            Trained::Full => self.network.weights.tensors_mut(),
        }
    }

    /// Scores every target of a pack at that temperature, with the trained part.
    pub fn score(&self, pack: &Pack, temperature: f32) -> Result<Vec<Scored>, cuda::Error> {
        match &self.place {
            Place::Cpu => Ok(self.network.score(self.adapted(), pack, temperature)),
            Place::Cuda(engine) => lock(engine).score(With::Trained, pack, temperature),
        }
    }
}
