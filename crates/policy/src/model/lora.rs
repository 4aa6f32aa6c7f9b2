//! Low-rank adapters: `y = W x + (alpha / rank) B A x` on selected projections.

use super::config::Config;
use super::module::Module;
use super::weights::Tensor;

/// The settings of an adapter.
#[derive(Debug, Clone, PartialEq)]
pub struct LoraConfig {
    /// Rank of the update.
    pub rank: usize,
    /// The update is scaled by `alpha / rank`.
    pub alpha: f32,
    /// Share of the adapter's inputs dropped in supervised training; 0 in reinforcement learning.
    pub dropout: f32,
    /// The projections with an adapter.
    pub targets: Vec<Module>,
}

impl LoraConfig {
    /// The factor of the update.
    pub fn scale(&self) -> f32 {
        self.alpha / self.rank as f32
    }
}

/// The two factors on one projection.
#[derive(Debug, Clone, PartialEq)]
pub struct LoraPair {
    /// (rank, inputs).
    pub a: Tensor,
    /// (outputs, rank).
    pub b: Tensor,
}

/// The pairs of one layer, in [`Module`]'s order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LayerAdapter {
    /// `None` if the projection is not a target.
    pub pairs: [Option<LoraPair>; 7],
}

/// A low-rank adapter of a whole model.
#[derive(Debug, Clone, PartialEq)]
pub struct Adapter {
    pub config: LoraConfig,
    /// One entry per layer.
    pub layers: Vec<LayerAdapter>,
}

impl Adapter {
    /// An adapter of that shape, each tensor filled by `fill(name, shape)`.
    pub fn build<E>(
        model: &Config,
        config: &LoraConfig,
        mut fill: impl FnMut(&str, &[usize]) -> Result<Vec<f32>, E>,
    ) -> Result<Self, E> {
        let mut layers = Vec::with_capacity(model.layers);
        for index in 0..model.layers {
            let mut layer = LayerAdapter::default();
            for &module in &config.targets {
                let (outputs, inputs) = module.shape(model);
                let mut tensor = |part: &str, shape: Vec<usize>| -> Result<Tensor, E> {
                    let name = format!(
                        "base_model.model.model.layers.{index}.{}.{part}.weight",
                        module.path()
                    );
                    let data = fill(&name, &shape)?;
                    assert_eq!(
                        data.len(),
                        shape.iter().product::<usize>(),
                        "{name} was filled with another size"
                    );
                    Ok(Tensor {
                        name,
                        shape,
                        data: data.into(),
                    })
                };
                let a = tensor("lora_A", vec![config.rank, inputs])?;
                let b = tensor("lora_B", vec![outputs, config.rank])?;
                layer.pairs[module as usize] = Some(LoraPair { a, b });
            }
            layers.push(layer);
        }
        Ok(Self {
            config: config.clone(),
            layers,
        })
    }

    /// A fresh adapter. A is uniform within 1/sqrt(inputs), as in PEFT, and B is zero, so that it
    /// has no effect yet.
    #[must_use]
    pub fn fresh(model: &Config, config: &LoraConfig, seed: u64) -> Self {
        let mut nth = 0u64;
        let built = Self::build::<std::convert::Infallible>(model, config, |name, shape| {
            nth += 1;
            let size = shape.iter().product();
            if name.ends_with("lora_B.weight") {
                return Ok(vec![0.0; size]);
            }
            let bound = 1.0 / (shape[1] as f32).sqrt();
            let draw =
                |i| (crate::noise::uniform(seed ^ (nth << 32), i as u64) * 2.0 - 1.0) * bound;
            Ok((0..size).map(draw).collect())
        });
        match built {
            Ok(adapter) => adapter,
        }
    }

    /// Zeros of the same shape, as an empty gradient.
    #[must_use]
    pub fn zeroed(&self) -> Self {
        let mut zeros = self.clone();
        for tensor in zeros.tensors_mut() {
            tensor.data.fill(0.0);
        }
        zeros
    }

    /// Every tensor in a fixed order.
    pub fn tensors(&self) -> Vec<&Tensor> {
        self.layers
            .iter()
            .flat_map(|layer| &layer.pairs)
            .flatten()
            .flat_map(|pair| [&pair.a, &pair.b])
            .collect()
    }

    /// Every tensor in the same order, mutable.
    pub fn tensors_mut(&mut self) -> Vec<&mut Tensor> {
        let pairs = self
            .layers
            .iter_mut()
            .flat_map(|layer| &mut layer.pairs)
            .flatten();
        pairs.flat_map(|pair| [&mut pair.a, &mut pair.b]).collect()
    }
}
