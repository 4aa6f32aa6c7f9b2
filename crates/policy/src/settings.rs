//! The settings of an engine.

use crate::device::Device;
use crate::memory::Recompute;
use crate::model::LoraConfig;
use crate::optim::OptimConfig;
use crate::precision::Precision;
use crate::train::loss::{Clip, Normalisation};
use crate::train::{Decay, Grpo, Schedule, Training};

/// Answers decoded at the same time, on the CPU and on a GPU.
const SLOTS: usize = 32;
const CUDA_SLOTS: usize = 256;
/// Tokens per pass through the network.
const PACK_TOKENS: usize = 2048;
const CUDA_PACK_TOKENS: usize = 1 << 14;

/// Which part of a model is trained.
#[derive(Debug, Clone, PartialEq)]
pub enum Learning {
    /// Nothing.
    None,
    /// A fresh adapter from this seed.
    Lora(LoraConfig, u64),
    /// All weights.
    Full,
}

/// The settings of an engine.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// What is trained.
    pub learning: Learning,
    /// How.
    pub training: Training,
    /// The constants of reinforcement learning.
    pub grpo: Grpo,
    /// Threads; 0 uses every core.
    pub threads: usize,
    /// Answers decoded at the same time.
    pub slots: usize,
    /// Where it computes.
    pub device: Device,
    /// The precision of frozen weights. `None` is bf16 on a GPU. On the CPU it is bf16 for matrices
    /// that the file stores in 16 bits or fewer.
    pub precision: Option<Precision>,
}

impl Settings {
    /// Settings of an engine that only answers. Callers set the fields for learning in addition.
    pub fn answering(threads: usize, device: Device) -> Self {
        let settings = Self {
            learning: Learning::None,
            training: Training {
                optim: OptimConfig {
                    beta1: 0.9,
                    beta2: 0.999,
                    eps: 1e-8,
                    weight_decay: 0.0,
                    max_norm: 1.0,
                },
                schedule: Schedule {
                    peak: 0.0,
                    warmup: 0,
                    decay: Decay::Constant,
                },
                pack_tokens: PACK_TOKENS,
                recompute: Recompute::Auto,
                seed: 0,
            },
            grpo: Grpo {
                clip: Clip {
                    low: 0.2,
                    high: 0.2,
                    kl: 0.0,
                },
                normalisation: Normalisation::Token,
                epochs: 1,
            },
            threads,
            slots: SLOTS,
            device,
            precision: None,
        };
        settings.on(device)
    }

    /// The same for another device, with numbers of answers and tokens that suit it.
    #[must_use]
    pub fn on(mut self, device: Device) -> Self {
        let is_cuda = device.is_cuda();
        self.device = device;
        self.slots = if is_cuda { CUDA_SLOTS } else { SLOTS };
        self.training.pack_tokens = if is_cuda {
            CUDA_PACK_TOKENS
        } else {
            PACK_TOKENS
        };
        self
    }
}
