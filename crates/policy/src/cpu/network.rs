//! The whole network: forward over packed sequences, scores of their tokens, and gradients.

use super::layer::{LayerGradient, LayerLora, LayerPass, Saved};
use super::matrix;
use super::memory;
use super::projection::Dropout;
use super::rope::{Angles, Rope};
use crate::math;
use crate::memory::Recompute;
use crate::model::{Adapter, Config, Tensor, Weights};
use crate::pack::{Coefficient, Pack, Scored};

/// A model on the CPU.
pub struct Network {
    /// Its shape.
    pub config: Config,
    pub weights: Weights,
    pub(super) rope: Rope,
}

/// An adapter as one pass uses it.
#[derive(Clone, Copy)]
pub struct Adapted<'a> {
    pub adapter: &'a Adapter,
    /// Seed of this pass's dropout; `None` switches it off.
    pub dropout_seed: Option<u64>,
}

impl<'a> Adapted<'a> {
    /// The adapter without dropout, as sampling and reinforcement learning use it.
    pub fn plain(adapter: &'a Adapter) -> Self {
        Self {
            adapter,
            dropout_seed: None,
        }
    }
}

/// Settings of a learning pass.
#[derive(Clone, Copy)]
pub struct Pass<'a> {
    /// The adapter, if there is one.
    pub adapted: Option<Adapted<'a>>,
    /// The temperature for scoring tokens.
    pub temperature: f32,
    /// Whether backward recomputes layers.
    pub recompute: Recompute,
}

/// Gradients of what is trained.
pub enum Gradient {
    /// Of every weight.
    Full(Weights),
    Lora(Adapter),
}

impl Gradient {
    /// Every tensor, in the order of the parameters.
    pub fn tensors(&self) -> Vec<&Tensor> {
        match self {
            Self::Full(weights) => weights.tensors(),
            Self::Lora(adapter) => adapter.tensors(),
        }
    }

    /// The same, mutable.
    pub fn tensors_mut(&mut self) -> Vec<&mut Tensor> {
        match self {
            Self::Full(weights) => weights.tensors_mut(),
            Self::Lora(adapter) => adapter.tensors_mut(),
        }
    }

    fn layer(&mut self, index: usize) -> LayerGradient<'_> {
        match self {
            Self::Full(weights) => LayerGradient {
                full: Some(&mut weights.layers[index]),
                lora: None,
            },
            Self::Lora(adapter) => LayerGradient {
                full: None,
                lora: Some(&mut adapter.layers[index]),
            },
        }
    }
}

/// What a forward pass keeps for one layer.
struct Kept {
    input: Vec<f32>,
    saved: Option<Saved>,
}

impl Network {
    /// A model of that shape with these weights.
    pub fn new(config: Config, weights: Weights) -> Self {
        let rope = Rope::new(&config);
        Self {
            config,
            weights,
            rope,
        }
    }

    pub(super) fn embed(&self, tokens: &[u32]) -> Vec<f32> {
        matrix::rows(&self.weights.embed, tokens)
    }

    pub(super) fn layer_pass<'a>(
        &'a self,
        index: usize,
        adapted: Option<Adapted<'a>>,
        angles: &'a Angles,
    ) -> LayerPass<'a> {
        let lora = adapted.map(
            |Adapted {
                 adapter,
                 dropout_seed,
             }| {
                let key = |seed: u64| seed.wrapping_mul(4096).wrapping_add(index as u64);
                let rate = adapter.config.dropout;
                let dropout = dropout_seed.filter(|_| rate > 0.0).map(|seed| Dropout {
                    rate,
                    key: key(seed),
                });
                LayerLora {
                    adapter: &adapter.layers[index],
                    scale: adapter.config.scale(),
                    dropout,
                }
            },
        );
        LayerPass {
            config: &self.config,
            layer: &self.weights.layers[index],
            lora,
            angles,
        }
    }

    /// Hidden states after the last layer. `keep` sees every layer's input and inner values.
    fn hidden(
        &self,
        adapted: Option<Adapted>,
        pack: &Pack,
        mut keep: impl FnMut(Vec<f32>, Saved),
    ) -> Vec<f32> {
        let angles = self.rope.angles(pack.positions());
        let mut x = self.embed(&pack.tokens);
        for index in 0..self.config.layers {
            let (out, saved) = self
                .layer_pass(index, adapted, &angles)
                .forward(&x, &pack.starts);
            keep(std::mem::replace(&mut x, out), saved);
        }
        x
    }

    /// Logits of every row, for tests and small models.
    pub fn logits(&self, adapted: Option<Adapted>, pack: &Pack) -> Vec<f32> {
        self.head_logits(&self.hidden(adapted, pack, |_, _| ()))
    }

    /// Hidden states after the last layer; `each` sees the keys and values of every layer in turn.
    pub(super) fn hidden_with_cache(
        &self,
        adapted: Option<Adapted>,
        pack: &Pack,
        mut each: impl FnMut(Vec<f32>, Vec<f32>),
    ) -> Vec<f32> {
        self.hidden(adapted, pack, |_, saved| {
            each(saved.projected.k, saved.projected.v);
        })
    }

    /// Scores every target of the pack at that temperature.
    pub fn score(&self, adapted: Option<Adapted>, pack: &Pack, temperature: f32) -> Vec<Scored> {
        let hidden = self.hidden(adapted, pack, |_, _| ());
        self.head_scores(&hidden, &pack.targets, temperature)
    }

    /// Scores every target, gets d loss / d logprob from `coefficient`, and adds the gradient of
    /// the loss.
    pub fn learn(
        &self,
        pass: Pass,
        pack: &Pack,
        coefficient: &mut Coefficient,
        gradient: &mut Gradient,
    ) {
        let Pass {
            adapted,
            temperature,
            recompute,
        } = pass;
        let keeps = memory::keeps(recompute, &self.config, pack.rows());
        let mut kept: Vec<Kept> = Vec::with_capacity(self.config.layers);
        let hidden = self.hidden(adapted, pack, |input, saved| {
            let saved = keeps.then_some(saved);
            kept.push(Kept { input, saved });
        });
        let mut d = self.head_gradient(&hidden, &pack.targets, temperature, coefficient, gradient);
        drop(hidden);
        let angles = self.rope.angles(pack.positions());
        while let Some(Kept { input, saved }) = kept.pop() {
            let index = kept.len();
            let pass = self.layer_pass(index, adapted, &angles);
            let saved = saved.unwrap_or_else(|| pass.forward(&input, &pack.starts).1);
            pass.backward(&input, saved, &pack.starts, &mut d, gradient.layer(index));
        }
        if let Gradient::Full(full) = gradient {
            let width = self.config.hidden;
            for (&token, d) in pack.tokens.iter().zip(d.chunks_exact(width)) {
                math::add(&mut full.embed.data[token as usize * width..][..width], d);
            }
        }
    }
}
