//! The offset of every tensor of a model and of an adapter in its arena, in values. No device is
//! involved.
//!
//! Matrices come first and vectors after them, so that weight decay applies to one of two ranges.
//! q, k and v are adjacent, and so are gate and up, so that each group is one matrix for cuBLAS.

use crate::model::{Adapter, Config, LoraConfig, Module};

/// Groups begin at multiples of this many values: 128 bytes in bf16.
const ALIGN: usize = 64;

/// The place of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) offset: usize,
    pub(super) len: usize,
}

/// The four matrix products of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    /// q, k and v.
    Qkv,
    /// Output of attention.
    O,
    /// Gate and up of the MLP.
    GateUp,
    /// Down of the MLP.
    Down,
}

impl Group {
    pub(super) const ALL: [Self; 4] = [Self::Qkv, Self::O, Self::GateUp, Self::Down];

    pub(super) fn modules(self) -> &'static [Module] {
        match self {
            Self::Qkv => &[Module::Q, Module::K, Module::V],
            Self::O => &[Module::O],
            Self::GateUp => &[Module::Gate, Module::Up],
            Self::Down => &[Module::Down],
        }
    }

    /// Outputs and inputs of the whole group.
    pub(super) fn shape(self, config: &Config) -> (usize, usize) {
        let outputs = self
            .modules()
            .iter()
            .map(|module| module.shape(config).0)
            .sum();
        (outputs, self.modules()[0].shape(config).1)
    }
}

#[derive(Default)]
struct Layout {
    end: usize,
}

impl Layout {
    /// Allocates tensors of these sizes one after the other.
    fn group(&mut self, sizes: impl IntoIterator<Item = usize>) -> Vec<Place> {
        self.end = self.end.next_multiple_of(ALIGN);
        let mut places = Vec::new();
        for len in sizes {
            places.push(Place {
                offset: self.end,
                len,
            });
            self.end += len;
        }
        places
    }

    fn one(&mut self, len: usize) -> Place {
        self.group([len])[0]
    }
}

/// A layer's offsets.
#[derive(Debug, Clone)]
pub(super) struct LayerPlan {
    pub(super) input_norm: Place,
    pub(super) post_norm: Place,
    pub(super) q_norm: Option<Place>,
    pub(super) k_norm: Option<Place>,
    /// The groups' matrices, by module.
    pub(super) weights: [Vec<Place>; 4],
    /// The biases of q, k and v.
    pub(super) bias: Option<Vec<Place>>,
}

/// A model's offsets.
#[derive(Debug, Clone)]
pub(super) struct ModelPlan {
    pub(super) embed: Place,
    pub(super) head: Option<Place>,
    pub(super) norm: Place,
    pub(super) layers: Vec<LayerPlan>,
    /// Values in matrices, which decay.
    pub(super) matrices: usize,
    pub(super) total: usize,
}

impl ModelPlan {
    pub(super) fn new(config: &Config) -> Self {
        let mut layout = Layout::default();
        let table = config.vocab * config.hidden;
        let embed = layout.one(table);
        let head = (!config.tied).then(|| layout.one(table));
        let mut weights: Vec<[Vec<Place>; 4]> = Vec::with_capacity(config.layers);
        for _ in 0..config.layers {
            let group = |group: Group| {
                let sizes = group.modules().iter().map(|module| module.shape(config));
                layout.group(sizes.map(|(outputs, inputs)| outputs * inputs))
            };
            weights.push(Group::ALL.map(group));
        }
        layout.end = layout.end.next_multiple_of(ALIGN);
        let matrices = layout.end;
        let norm = layout.one(config.hidden);
        let mut layers = Vec::with_capacity(config.layers);
        for weights in weights {
            let (input_norm, post_norm) = (layout.one(config.hidden), layout.one(config.hidden));
            let mut head_norm = || config.qk_norm().then(|| layout.one(config.head_dim));
            let (q_norm, k_norm) = (head_norm(), head_norm());
            let widths = Group::Qkv
                .modules()
                .iter()
                .map(|module| module.shape(config).0);
            let bias = config.qkv_bias().then(|| layout.group(widths));
            layers.push(LayerPlan {
                input_norm,
                post_norm,
                q_norm,
                k_norm,
                weights,
                bias,
            });
        }
        let total = layout.end.next_multiple_of(ALIGN);
        Self {
            embed,
            head,
            norm,
            layers,
            matrices,
            total,
        }
    }

    /// Every tensor's place, in the order of `Weights::tensors`.
    pub(super) fn places(&self) -> Vec<Place> {
        let mut all = vec![self.embed];
        for layer in &self.layers {
            all.push(layer.input_norm);
            for (group, weights) in layer.weights.iter().enumerate() {
                for (nth, weight) in weights.iter().enumerate() {
                    all.push(*weight);
                    let bias = layer.bias.as_ref().filter(|_| group == 0);
                    all.extend(bias.map(|bias| bias[nth]));
                }
            }
            all.extend(layer.q_norm);
            all.extend(layer.k_norm);
            all.push(layer.post_norm);
        }
        all.push(self.norm);
        all.extend(self.head);
        all
    }
}

/// One adapted module of a group.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoraPart {
    pub(super) module: Module,
    /// First column of its outputs among the group's.
    pub(super) column: usize,
    pub(super) outputs: usize,
    pub(super) a: Place,
    pub(super) b: Place,
}

/// The adapted modules of a group, with their A matrices one after the other.
#[derive(Debug, Clone, Default)]
pub(super) struct LoraGroup {
    pub(super) parts: Vec<LoraPart>,
}

/// An adapter's offsets.
#[derive(Debug, Clone)]
pub(super) struct AdapterPlan {
    pub(super) config: LoraConfig,
    pub(super) layers: Vec<[LoraGroup; 4]>,
    pub(super) total: usize,
}

impl AdapterPlan {
    pub(super) fn new(model: &Config, config: &LoraConfig) -> Self {
        let mut layout = Layout::default();
        let rank = config.rank;
        let mut layers = Vec::with_capacity(model.layers);
        for _ in 0..model.layers {
            layers.push(Group::ALL.map(|group| {
                let mut column = 0;
                let mut parts = Vec::new();
                for &module in group.modules() {
                    let (outputs, inputs) = module.shape(model);
                    if config.targets.contains(&module) {
                        parts.push((module, column, outputs, rank * inputs));
                    }
                    column += outputs;
                }
                let a = layout.group(parts.iter().map(|part| part.3));
                let place = |(&(module, column, outputs, _), a): (
                    &(Module, usize, usize, usize),
                    Place,
                )| {
                    let b = layout.one(outputs * rank);
                    LoraPart {
                        module,
                        column,
                        outputs,
                        a,
                        b,
                    }
                };
                LoraGroup {
                    parts: parts.iter().zip(a).map(place).collect(),
                }
            }));
        }
        Self {
            config: config.clone(),
            layers,
            total: layout.end.next_multiple_of(ALIGN),
        }
    }

    pub(super) fn of(model: &Config, adapter: &Adapter) -> Self {
        Self::new(model, &adapter.config)
    }

    /// Every tensor's place, in the order of `Adapter::tensors`.
    pub(super) fn places(&self) -> Vec<Place> {
        let parts = self.layers.iter().flatten().flat_map(|group| &group.parts);
        parts.flat_map(|part| [part.a, part.b]).collect()
    }

    /// The largest group of low-rank values in a row.
    pub(super) fn widest(&self) -> usize {
        let groups = self.layers.iter().flatten();
        groups
            .map(|group| group.parts.len() * self.config.rank)
            .max()
            .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Family, Weights};

    fn config(family: Family, tied: bool) -> Config {
        Config {
            family,
            hidden: 24,
            layers: 2,
            heads: 4,
            kv_heads: 2,
            head_dim: 8,
            ffn: 40,
            vocab: 50,
            norm_eps: 1e-6,
            rope_theta: 1e4,
            rope_scaling: None,
            tied,
            context: 64,
            bos: None,
            eos: Vec::new(),
        }
    }

    fn disjoint(mut places: Vec<Place>, total: usize) {
        places.sort_by_key(|place| place.offset);
        for pair in places.windows(2) {
            assert!(
                pair[0].offset + pair[0].len <= pair[1].offset,
                "{pair:?} overlap"
            );
        }
        let last = places.last().unwrap();
        assert!(last.offset + last.len <= total);
    }

    #[test]
    fn every_tensor_has_a_place_of_its_size_and_its_own() {
        for (family, tied) in [
            (Family::Llama, true),
            (Family::Qwen2, false),
            (Family::Qwen3, false),
        ] {
            let config = config(family, tied);
            let plan = ModelPlan::new(&config);
            let weights = Weights::random(&config, 1);
            let tensors = weights.tensors();
            let places = plan.places();
            assert_eq!(places.len(), tensors.len());
            for (place, tensor) in places.iter().zip(tensors) {
                assert_eq!(place.len, tensor.data.len(), "{}", tensor.name);
                assert_eq!(
                    place.offset < plan.matrices,
                    tensor.shape.len() > 1,
                    "{} decays",
                    tensor.name
                );
            }
            disjoint(places, plan.total);
        }
    }

    #[test]
    fn adapters_keep_the_order_of_their_tensors_and_the_columns_of_their_group() {
        let config = config(Family::Qwen2, true);
        let targets = vec![Module::Q, Module::V, Module::Up, Module::Down];
        let lora = LoraConfig {
            rank: 4,
            alpha: 8.0,
            dropout: 0.0,
            targets,
        };
        let adapter = Adapter::fresh(&config, &lora, 1);
        let plan = AdapterPlan::of(&config, &adapter);
        let (places, tensors) = (plan.places(), adapter.tensors());
        assert_eq!(places.len(), tensors.len());
        for (place, tensor) in places.iter().zip(tensors) {
            assert_eq!(place.len, tensor.data.len(), "{}", tensor.name);
        }
        let qkv = &plan.layers[0][0].parts;
        assert_eq!((qkv[0].column, qkv[1].column), (0, 48));
        assert_eq!(
            qkv[1].a.offset,
            qkv[0].a.offset + qkv[0].a.len,
            "A matrices are one matrix"
        );
        assert_eq!(plan.widest(), 8);
        disjoint(places, plan.total);
    }
}
