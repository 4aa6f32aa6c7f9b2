//! The weights of a model on the host, and their names.
//!
//! A gradient has the same type as its weights, so that optimiser, clipping, saving and tests
//! iterate over both in the same way.

use super::config::Config;
use super::module::Module;
use super::values::Values;

/// A named array in row-major order.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// Its name in a Hugging Face checkpoint.
    pub name: String,
    pub shape: Vec<usize>,
    pub data: Values,
}

impl Tensor {
    /// The same tensor filled with zeros.
    #[must_use]
    pub fn zeroed(&self) -> Self {
        Self {
            name: self.name.clone(),
            shape: self.shape.clone(),
            data: vec![0.0; self.data.len()].into(),
        }
    }

    /// Whether it has rows and columns, unlike norms and biases.
    pub fn is_matrix(&self) -> bool {
        self.shape.len() == 2
    }

    /// Rows of a matrix.
    pub fn rows(&self) -> usize {
        self.shape[0]
    }

    /// Columns of a matrix.
    pub fn cols(&self) -> usize {
        self.shape[1]
    }
}

/// `y = W x (+ bias)`, with `weight` stored as (outputs, inputs).
#[derive(Debug, Clone, PartialEq)]
pub struct Linear {
    /// The matrix.
    pub weight: Tensor,
    /// The bias, where the family has one.
    pub bias: Option<Tensor>,
}

/// One transformer layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// RMS norm before attention.
    pub input_norm: Tensor,
    /// The seven projections, in [`Module`]'s order.
    pub linears: [Linear; 7],
    /// RMS norm of the query heads.
    pub q_norm: Option<Tensor>,
    /// RMS norm of the key heads.
    pub k_norm: Option<Tensor>,
    /// RMS norm before the MLP.
    pub post_norm: Tensor,
}

impl Layer {
    /// That projection.
    pub fn linear(&self, module: Module) -> &Linear {
        &self.linears[module as usize]
    }
}

/// All weights of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// One row per token.
    pub embed: Tensor,
    /// The layers, first to last.
    pub layers: Vec<Layer>,
    /// RMS norm before the head.
    pub norm: Tensor,
    /// The head; `None` if it is the embedding.
    pub head: Option<Tensor>,
}

impl Weights {
    /// Weights of that shape, each tensor filled by `fill(name, shape)`.
    pub fn build<E, V: Into<Values>>(
        config: &Config,
        mut fill: impl FnMut(&str, &[usize]) -> Result<V, E>,
    ) -> Result<Self, E> {
        let mut tensor = |name: String, shape: Vec<usize>| -> Result<Tensor, E> {
            let data = fill(&name, &shape)?.into();
            assert_eq!(
                data.len(),
                shape.iter().product::<usize>(),
                "{name} was filled with another size"
            );
            Ok(Tensor { name, shape, data })
        };
        let embed = tensor(
            "model.embed_tokens.weight".into(),
            vec![config.vocab, config.hidden],
        )?;
        let mut layers = Vec::with_capacity(config.layers);
        for index in 0..config.layers {
            layers.push(build_layer(config, index, &mut tensor)?);
        }
        let norm = tensor("model.norm.weight".into(), vec![config.hidden])?;
        let head = if config.tied {
            None
        } else {
            Some(tensor(
                "lm_head.weight".into(),
                vec![config.vocab, config.hidden],
            )?)
        };
        Ok(Self {
            embed,
            layers,
            norm,
            head,
        })
    }

    /// The number of parameters of a model of this shape.
    pub fn count(config: &Config) -> u64 {
        let matrices = Module::ALL.map(|module| {
            let (rows, cols) = module.shape(config);
            rows * cols
        });
        let biases = if config.qkv_bias() {
            config.q_width() + 2 * config.kv_width()
        } else {
            0
        };
        let norms = 2 * config.hidden
            + if config.qk_norm() {
                2 * config.head_dim
            } else {
                0
            };
        let layer = matrices.iter().sum::<usize>() + biases + norms;
        let embeddings = config.vocab * config.hidden * if config.tied { 1 } else { 2 };
        (embeddings + config.layers * layer + config.hidden) as u64
    }

    /// Small random weights from a seed, and norms of one, for tests and toy runs.
    #[must_use]
    pub fn random(config: &Config, seed: u64) -> Self {
        let mut nth = 0;
        let built = Self::build::<std::convert::Infallible, _>(config, |name, shape| {
            nth += 1;
            let size = shape.iter().product();
            if name.ends_with("norm.weight") {
                return Ok(vec![1.0; size]);
            }
            let scale = 1.0 / (*shape.last().unwrap_or(&1) as f32).sqrt();
            Ok((0..size)
                .map(|i| crate::noise::normal(seed ^ (nth << 32), i as u64) * scale)
                .collect())
        });
        match built {
            Ok(weights) => weights,
        }
    }

    /// Zeros of the same shape, as an empty gradient.
    #[must_use]
    pub fn zeroed(&self) -> Self {
        let mut zeros = self.clone();
        for tensor in zeros.tensors_mut() {
            *tensor = tensor.zeroed();
        }
        zeros
    }

    /// The same weights with all matrices in bf16. Norms and biases stay unchanged.
    #[must_use]
    pub fn rounded(mut self) -> Self {
        for tensor in self.tensors_mut() {
            if tensor.is_matrix() {
                let data = std::mem::replace(&mut tensor.data, Vec::new().into());
                tensor.data = data.rounded();
            }
        }
        self
    }

    /// The memory that they take.
    pub fn bytes(&self) -> usize {
        self.tensors()
            .iter()
            .map(|tensor| tensor.data.bytes())
            .sum()
    }

    /// The matrix that turns the last hidden state into logits.
    pub fn head(&self) -> &Tensor {
        self.head.as_ref().unwrap_or(&self.embed)
    }

    /// Every tensor in a fixed order.
    pub fn tensors(&self) -> Vec<&Tensor> {
        let mut all = vec![&self.embed];
        for layer in &self.layers {
            all.push(&layer.input_norm);
            for linear in &layer.linears {
                all.push(&linear.weight);
                all.extend(&linear.bias);
            }
            all.extend(&layer.q_norm);
            all.extend(&layer.k_norm);
            all.push(&layer.post_norm);
        }
        all.push(&self.norm);
        all.extend(&self.head);
        all
    }

    /// Every tensor in the same order, mutable.
    pub fn tensors_mut(&mut self) -> Vec<&mut Tensor> {
        let mut all = vec![&mut self.embed];
        for layer in &mut self.layers {
            all.push(&mut layer.input_norm);
            for linear in &mut layer.linears {
                all.push(&mut linear.weight);
                all.extend(&mut linear.bias);
            }
            all.extend(&mut layer.q_norm);
            all.extend(&mut layer.k_norm);
            all.push(&mut layer.post_norm);
        }
        all.push(&mut self.norm);
        all.extend(&mut self.head);
        all
    }

    /// A hash over names, shapes and values. It is the same for a model from GGUF and from
    /// safetensors.
    pub fn fingerprint(&self) -> String {
        let mut fingerprint = Fingerprint::default();
        for tensor in self.tensors() {
            fingerprint.add(&tensor.name, &tensor.shape, &tensor.data.widened());
        }
        fingerprint.finish()
    }
}

/// A hash over tensors that are added one by one, in the order of [`Weights::tensors`].
#[derive(Default)]
pub(crate) struct Fingerprint(blake3::Hasher);

impl Fingerprint {
    /// Adds a tensor.
    pub(crate) fn add(&mut self, name: &str, shape: &[usize], data: &[f32]) {
        self.0.update(name.as_bytes());
        for size in shape {
            self.0.update(&(*size as u64).to_le_bytes());
        }
        self.0.update(bytemuck::cast_slice(data));
    }

    /// The hash of all added tensors.
    pub(crate) fn finish(&self) -> String {
        self.0.finalize().to_hex().to_string()
    }
}

fn build_layer<E>(
    config: &Config,
    index: usize,
    tensor: &mut impl FnMut(String, Vec<usize>) -> Result<Tensor, E>,
) -> Result<Layer, E> {
    let prefix = format!("model.layers.{index}");
    let input_norm = tensor(
        format!("{prefix}.input_layernorm.weight"),
        vec![config.hidden],
    )?;
    let mut linears = Vec::with_capacity(7);
    for module in Module::ALL {
        let (outputs, inputs) = module.shape(config);
        let path = module.path();
        let weight = tensor(format!("{prefix}.{path}.weight"), vec![outputs, inputs])?;
        let biased = config.qkv_bias() && matches!(module, Module::Q | Module::K | Module::V);
        let bias = if biased {
            Some(tensor(format!("{prefix}.{path}.bias"), vec![outputs])?)
        } else {
            None
        };
        linears.push(Linear { weight, bias });
    }
    let mut head_norm = |name: &str| {
        let shape = vec![config.head_dim];
        config
            .qk_norm()
            .then(|| tensor(format!("{prefix}.self_attn.{name}.weight"), shape))
            .transpose()
    };
    let (q_norm, k_norm) = (head_norm("q_norm")?, head_norm("k_norm")?);
    let post_norm = tensor(
        format!("{prefix}.post_attention_layernorm.weight"),
        vec![config.hidden],
    )?;
    let linears = linears.try_into().expect("Module::ALL has seven entries");
    Ok(Layer {
        input_norm,
        linears,
        q_norm,
        k_norm,
        post_norm,
    })
}
