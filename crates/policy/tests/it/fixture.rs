//! The fixtures that `fixtures/make_fixtures.py` computed with PyTorch in f64.

use std::path::{Path, PathBuf};

use hotloop_policy::cpu::Network;
use hotloop_policy::load::Checkpoint;
use hotloop_policy::memory::Recompute;
use hotloop_policy::model::{Adapter, LoraConfig, Module, Tensor};
use hotloop_policy::train::{Decay, OptimConfig, Schedule, Training};
use safetensors::SafeTensors;
use serde_json::Value;

/// Families with a fixture each.
pub(crate) const FAMILIES: [&str; 4] = ["llama", "llama3", "qwen2", "qwen3"];

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// What PyTorch computed for one family.
pub(crate) struct Fixture {
    pub(crate) name: &'static str,
    pub(crate) facts: Value,
    bytes: Vec<u8>,
}

impl Fixture {
    pub(crate) fn load(name: &'static str) -> Self {
        let bytes = fs_err::read(folder().join(name).join("expected.safetensors")).unwrap();
        let (_, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
        let facts = serde_json::from_str(&metadata.metadata().as_ref().unwrap()["facts"]).unwrap();
        Self { name, facts, bytes }
    }

    pub(crate) fn network(&self) -> Network {
        let checkpoint = Checkpoint::open(&folder().join(self.name)).unwrap();
        let weights = checkpoint.weights().unwrap();
        Network::new(checkpoint.config, weights)
    }

    pub(crate) fn floats(&self, name: &str) -> Vec<f32> {
        let file = SafeTensors::deserialize(&self.bytes).unwrap();
        let tensor = file.tensor(name).unwrap();
        tensor
            .data()
            .as_chunks()
            .0
            .iter()
            .map(|bytes| f32::from_le_bytes(*bytes))
            .collect()
    }

    fn tokens(&self, name: &str) -> Vec<u32> {
        self.floats(name)
            .iter()
            .map(|bits| bits.to_bits())
            .collect()
    }

    /// Prompts and answers.
    pub(crate) fn pairs(&self) -> Vec<(Vec<u32>, Vec<u32>)> {
        let (prompts, answers) = (self.tokens("prompts"), self.tokens("answers"));
        let (mut p, mut a) = (0, 0);
        let lengths = self.facts["lengths"].as_array().unwrap().iter();
        let each = lengths.map(|pair| {
            let (n, m) = (
                pair[0].as_u64().unwrap() as usize,
                pair[1].as_u64().unwrap() as usize,
            );
            (p, a) = (p + n, a + m);
            (prompts[p - n..p].to_vec(), answers[a - m..a].to_vec())
        });
        each.collect()
    }

    pub(crate) fn number(&self, pointer: &str) -> f64 {
        self.facts.pointer(pointer).unwrap().as_f64().unwrap()
    }

    pub(crate) fn numbers(&self, pointer: &str) -> Vec<f64> {
        self.facts
            .pointer(pointer)
            .unwrap()
            .as_array()
            .unwrap()
            .iter()
            .map(|n| n.as_f64().unwrap())
            .collect()
    }

    pub(crate) fn adapter(&self, network: &Network) -> Adapter {
        let config = LoraConfig {
            rank: 4,
            alpha: 8.0,
            dropout: 0.0,
            targets: Module::ALL.to_vec(),
        };
        let fill = |name: &str, _: &[usize]| {
            Ok::<_, std::convert::Infallible>(self.floats(&format!("lora.{name}")))
        };
        Adapter::build(&network.config, &config, fill).unwrap()
    }

    /// Asserts that every tensor is within `bound` of PyTorch's, by the norm of the difference
    /// divided by the norm.
    pub(crate) fn compare(&self, prefix: &str, tensors: &[&Tensor], bound: f64) {
        for tensor in tensors {
            let wanted = self.floats(&format!("{prefix}{}", tensor.name));
            let error = relative(&tensor.data, &wanted);
            assert!(
                error < bound,
                "{}: {prefix}{} is off by {error:.2e}",
                self.name,
                tensor.name
            );
        }
    }
}

pub(crate) fn relative(found: &[f32], wanted: &[f32]) -> f64 {
    assert_eq!(found.len(), wanted.len());
    let difference = found
        .iter()
        .zip(wanted)
        .map(|(a, b)| f64::from(a - b).powi(2))
        .sum::<f64>()
        .sqrt();
    let norm = wanted
        .iter()
        .map(|b| f64::from(*b).powi(2))
        .sum::<f64>()
        .sqrt();
    assert!(norm > 0.0, "a zero fixture shows nothing");
    difference / norm
}

pub(crate) fn close(found: f64, wanted: f64, bound: f64) {
    assert!(
        (found - wanted).abs() <= bound * wanted.abs().max(1e-6),
        "{found} against {wanted}"
    );
}

pub(crate) fn training(peak: f64, recompute: Recompute) -> Training {
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
            decay: Decay::Cosine { total: 12 },
        },
        pack_tokens: 150,
        recompute,
        seed: 1,
    }
}
