//! The shape of a model, as `config.json` or a GGUF header describes it.

use serde::{Deserialize, Serialize};

/// The model families that the engine supports. They differ only in a few details of attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Llama and its relatives, such as `SmolLM2`.
    Llama,
    /// Qwen2 and Qwen2.5: biases on q, k and v.
    Qwen2,
    /// Qwen3: an RMS norm on every head of q and k before the rotation.
    Qwen3,
}

impl Family {
    /// All families.
    pub const ALL: [Self; 3] = [Self::Llama, Self::Qwen2, Self::Qwen3];

    /// The `model_type` of `config.json`, which is also the architecture's name in GGUF.
    pub fn model_type(self) -> &'static str {
        match self {
            Self::Llama => "llama",
            Self::Qwen2 => "qwen2",
            Self::Qwen3 => "qwen3",
        }
    }

    /// The class that transformers builds.
    pub fn architecture(self) -> &'static str {
        match self {
            Self::Llama => "LlamaForCausalLM",
            Self::Qwen2 => "Qwen2ForCausalLM",
            Self::Qwen3 => "Qwen3ForCausalLM",
        }
    }

    /// The family of that `model_type`.
    pub fn named(model_type: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|family| family.model_type() == model_type)
    }
}

/// Llama 3's scaling of the rotation for long contexts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RopeScaling {
    /// The factor by which low frequencies are slowed.
    pub factor: f64,
    /// Wavelengths longer than the original context divided by this are fully slowed.
    pub low_freq_factor: f64,
    /// Wavelengths shorter than the original context divided by this stay unchanged.
    pub high_freq_factor: f64,
    /// The context the model was first trained with.
    pub original_max_position_embeddings: f64,
}

impl RopeScaling {
    /// A scaled frequency. Wavelengths beyond the old context are slowed, short ones stay, and
    /// those between are blended.
    pub fn stretch(&self, frequency: f64) -> f64 {
        let wavelength = std::f64::consts::TAU / frequency;
        let old = self.original_max_position_embeddings;
        if wavelength < old / self.high_freq_factor {
            return frequency;
        }
        if wavelength > old / self.low_freq_factor {
            return frequency / self.factor;
        }
        let blend = (old / wavelength - self.low_freq_factor)
            / (self.high_freq_factor - self.low_freq_factor);
        (1.0 - blend) * frequency / self.factor + blend * frequency
    }
}

/// The shape of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    pub family: Family,
    /// Width of the residual stream.
    pub hidden: usize,
    /// Number of layers.
    pub layers: usize,
    /// Query heads.
    pub heads: usize,
    /// Key and value heads; each serves `heads / kv_heads` query heads.
    pub kv_heads: usize,
    /// Width of one head.
    pub head_dim: usize,
    /// Width of the MLP.
    pub ffn: usize,
    /// Number of tokens.
    pub vocab: usize,
    /// Added to the mean square in RMS norms.
    pub norm_eps: f64,
    /// Base of the rotary frequencies.
    pub rope_theta: f64,
    /// Scaling of the rotation, if the model has it.
    pub rope_scaling: Option<RopeScaling>,
    /// Whether the head is the embedding.
    pub tied: bool,
    /// Maximum number of tokens.
    pub context: usize,
    /// The token that begins a text, if the model has one.
    pub bos: Option<u32>,
    /// Tokens that end an answer.
    pub eos: Vec<u32>,
}

impl Config {
    /// Width of all query heads together.
    pub fn q_width(&self) -> usize {
        self.heads * self.head_dim
    }

    /// Width of all key heads together.
    pub fn kv_width(&self) -> usize {
        self.kv_heads * self.head_dim
    }

    /// Query heads per key head.
    pub fn group(&self) -> usize {
        self.heads / self.kv_heads
    }

    /// Whether q, k and v carry a bias.
    pub fn qkv_bias(&self) -> bool {
        self.family == Family::Qwen2
    }

    /// Whether q and k are normed head by head.
    pub fn qk_norm(&self) -> bool {
        self.family == Family::Qwen3
    }

    /// Frequencies of the rotation, one per pair of a head, slowest last.
    pub fn rope_frequencies(&self) -> Vec<f64> {
        let half = self.head_dim / 2;
        let plain = |i| self.rope_theta.powf(-(i as f64) / half as f64);
        let scaled = |frequency| {
            self.rope_scaling
                .map_or(frequency, |scaling| scaling.stretch(frequency))
        };
        (0..half).map(plain).map(scaled).collect()
    }

    /// What is wrong with the shape, if anything.
    pub fn fault(&self) -> Option<String> {
        let sizes = [
            ("hidden_size", self.hidden),
            ("num_hidden_layers", self.layers),
            ("num_attention_heads", self.heads),
            ("num_key_value_heads", self.kv_heads),
            ("head_dim", self.head_dim),
            ("intermediate_size", self.ffn),
            ("vocab_size", self.vocab),
            ("max_position_embeddings", self.context),
        ];
        if let Some((key, _)) = sizes.into_iter().find(|(_, value)| *value == 0) {
            return Some(format!("{key} is 0"));
        }
        // Limits the sizes, because the layers are allocated before the first tensor is read.
        let most = |key: &str| {
            if key == "num_hidden_layers" {
                1 << 12
            } else {
                1 << 31
            }
        };
        if let Some((key, value)) = sizes.into_iter().find(|(key, value)| *value > most(key)) {
            return Some(format!("{key} is {value}, which no model has"));
        }
        let positive = [
            ("rope_theta", self.rope_theta),
            ("rms_norm_eps", self.norm_eps),
        ];
        if let Some((key, value)) = positive
            .into_iter()
            .find(|(_, value)| !(value.is_finite() && *value > 0.0))
        {
            return Some(format!("{key} is {value}, and must be positive"));
        }
        if !self.heads.is_multiple_of(self.kv_heads) {
            return Some(format!(
                "num_attention_heads {} is not a multiple of num_key_value_heads {}",
                self.heads, self.kv_heads
            ));
        }
        if !self.head_dim.is_multiple_of(2) {
            return Some(format!(
                "head_dim {} is odd, and the rotation turns pairs",
                self.head_dim
            ));
        }
        None
    }
}
