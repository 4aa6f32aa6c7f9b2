//! Tiny random models of every family, with weights that bf16 represents exactly.

use hotloop_policy::cpu::Network;
use hotloop_policy::model::{Adapter, Config, Family, LoraConfig, Module, Weights};
use hotloop_policy::pack::Sequence;
use hotloop_policy::train::{Decay, OptimConfig, Schedule, Training};

/// A family, with tied embeddings or not.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) family: Family,
    pub(crate) tied: bool,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [
        Self {
            family: Family::Llama,
            tied: true,
        },
        Self {
            family: Family::Qwen2,
            tied: true,
        },
        Self {
            family: Family::Qwen2,
            tied: false,
        },
        Self {
            family: Family::Qwen3,
            tied: false,
        },
    ];

    /// All kinds, or those of the family in `HOTLOOP_CHECK_FAMILY`, because the emulator is slow.
    pub(crate) fn chosen() -> Vec<Self> {
        let family = std::env::var("HOTLOOP_CHECK_FAMILY").ok();
        let wanted = |kind: &Self| {
            family
                .as_ref()
                .is_none_or(|family| kind.family.model_type() == family)
        };
        Self::ALL.into_iter().filter(wanted).collect()
    }

    pub(crate) fn name(self) -> String {
        format!(
            "{}{}",
            self.family.model_type(),
            if self.tied { " tied" } else { "" }
        )
    }

    pub(crate) fn config_with_heads(self, head_dim: usize) -> Config {
        Config {
            family: self.family,
            hidden: asked("HOTLOOP_CHECK_HIDDEN").unwrap_or(64),
            layers: 2,
            // Attention handles the heads of an even group in pairs.
            heads: if self.family == Family::Llama { 4 } else { 6 },
            kv_heads: 2,
            head_dim,
            ffn: asked("HOTLOOP_CHECK_FFN").unwrap_or(96),
            vocab: asked("HOTLOOP_CHECK_VOCAB").unwrap_or(136),
            norm_eps: 1e-6,
            rope_theta: 1e4,
            rope_scaling: None,
            tied: self.tied,
            context: 1024,
            bos: None,
            eos: vec![2],
        }
    }

    pub(crate) fn network(self) -> Network {
        // Heads of 64 and 128 use tensor cores in decoding, too.
        let usual = match (self.family, self.tied) {
            (Family::Llama, _) => 128,
            (Family::Qwen2, false) => 64,
            (Family::Qwen3, _) => 32,
            _ => 16,
        };
        let config = self.config_with_heads(asked("HOTLOOP_CHECK_HEADS").unwrap_or(usual));
        let mut weights = Weights::random(&config, 7);
        for (nth, tensor) in weights.tensors_mut().into_iter().enumerate() {
            let vector = tensor.shape.len() == 1;
            for (index, value) in tensor.data.iter_mut().enumerate() {
                if vector {
                    *value += 0.2 * noise(nth as u64, index as u64);
                }
                *value = rounded(*value);
            }
        }
        Network::new(config, weights)
    }
}

/// A size from the environment, for kernels with several code paths.
fn asked(variable: &str) -> Option<usize> {
    std::env::var(variable)
        .ok()
        .and_then(|value| value.parse().ok())
}

/// The nearest bf16, as the device rounds masters.
pub(crate) fn rounded(value: f32) -> f32 {
    f32::from_bits(value.to_bits().wrapping_add(0x8000) & 0xffff_0000)
}

/// In [-1, 1).
pub(crate) fn noise(seed: u64, index: u64) -> f32 {
    let mut z =
        seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ index.wrapping_mul(0xd134_2543_de82_ef95);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z >> 40) as f32 / (1u64 << 23) as f32 - 1.0
}

/// An adapter whose B is not zero, so that no gradient is zero.
pub(crate) fn adapter(config: &Config, dropout: f32) -> Adapter {
    let rank = asked("HOTLOOP_CHECK_RANK").unwrap_or(8);
    let lora = LoraConfig {
        rank,
        alpha: 16.0,
        dropout,
        targets: Module::ALL.to_vec(),
    };
    let mut adapter = Adapter::fresh(config, &lora, 3);
    for (nth, tensor) in adapter.tensors_mut().into_iter().enumerate() {
        for (index, value) in tensor.data.iter_mut().enumerate() {
            if tensor.name.contains("lora_B") {
                *value = 0.1 * noise(100 + nth as u64, index as u64);
            }
            *value = rounded(*value);
        }
    }
    adapter
}

/// Sequences of several lengths, one of which spans three tiles of attention. Most of them are
/// scored.
pub(crate) fn sequences(config: &Config) -> Vec<Sequence> {
    let lengths = [(3, 130), (20, 13), (1, 63), (2, 0)];
    let token = |seed: usize, index: usize| {
        let place = f32::midpoint(noise(seed as u64, index as u64), 1.0);
        (place * config.vocab as f32) as u32 % config.vocab as u32
    };
    let sequence = |(nth, (prompt, answer)): (usize, (usize, usize))| {
        let tokens: Vec<u32> = (0..prompt + answer)
            .map(|index| token(nth, index))
            .collect();
        Sequence::answer(&tokens[..prompt], &tokens[prompt..])
    };
    lengths.into_iter().enumerate().map(sequence).collect()
}

pub(crate) fn training(
    peak: f64,
    pack_tokens: usize,
    recompute: hotloop_policy::memory::Recompute,
) -> Training {
    Training {
        optim: OptimConfig {
            beta1: 0.9,
            beta2: 0.95,
            eps: 1e-8,
            weight_decay: 0.01,
            max_norm: 1.0,
        },
        schedule: Schedule {
            peak,
            warmup: 3,
            decay: Decay::Constant,
        },
        pack_tokens,
        recompute,
        seed: 1,
    }
}
