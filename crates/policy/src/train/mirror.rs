//! Copies of a learner's state on the CPU: to save a state from a GPU, to send it back, and to keep
//! a snapshot.

use super::error::TrainError;
use super::learner::Learner;
use crate::cpu::Network;
use crate::model::{Tensor, Weights};
use crate::optim::Moments;
use crate::placed::{Place, Placed, Trained, lock};

impl Learner {
    /// A learner on the CPU with the state of the device, for saving; `None` if it already is on
    /// the CPU. With an adapter the base's weights are left out, because they do not change.
    pub fn mirror(&self) -> Result<Option<Self>, TrainError> {
        let Place::Cuda(engine) = &self.model.place else {
            return Ok(None);
        };
        let engine = lock(engine);
        let (weights, trained) = match &self.model.trained {
            Trained::Lora(adapter) => (no_weights(), Trained::Lora(adapter.clone())),
            Trained::Full => (self.model.network.weights.clone(), Trained::Full),
        };
        let mut mirror = self.holding(weights, trained);
        for (tensor, data) in mirror
            .model
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

    /// A copy of the adapter and the optimiser's state; `None` if all weights are trained, because
    /// a copy would double their memory.
    pub fn copy(&self) -> Result<Option<Self>, TrainError> {
        let Trained::Lora(adapter) = &self.model.trained else {
            return Ok(None);
        };
        if self.model.is_on_cuda() {
            return self.mirror();
        }
        let copy = self.holding(no_weights(), Trained::Lora(adapter.clone()));
        Ok(Some(Self {
            optimiser: self.optimiser.clone(),
            ..copy
        }))
    }

    /// Sends the state of a mirror to the device after loading changed it.
    pub fn restore(&mut self, mirror: Self) -> Result<(), TrainError> {
        let Place::Cuda(engine) = &self.model.place else {
            return Ok(());
        };
        let engine = lock(engine);
        engine.push_values(&mirror.model.parameters())?;
        let moments = &mirror.optimiser.moments;
        let means: Vec<&[f32]> = moments.iter().map(|moments| &moments.mean[..]).collect();
        let squares: Vec<&[f32]> = moments.iter().map(|moments| &moments.square[..]).collect();
        engine.push_moments(&means, &squares)?;
        drop(engine);
        self.optimiser.steps = mirror.optimiser.steps;
        if let (Trained::Lora(to), Trained::Lora(from)) =
            (&mut self.model.trained, mirror.model.trained)
        {
            *to = from;
        }
        Ok(())
    }

    /// A learner on the CPU that holds a state and has no gradients.
    fn holding(&self, weights: Weights, trained: Trained) -> Self {
        let network = Network::new(self.model.network.config.clone(), weights);
        Self::bare(Placed::on_cpu(network, trained), self.training.clone())
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
