//! Frozen matrices in bf16: the same model as one in f32 with rounded weights, half the memory, and
//! adapters that fit.

use hotloop_policy::Precision;
use hotloop_policy::cpu::{Adapted, Gradient, Network, Pass};
use hotloop_policy::engine::{Engine, Learning};
use hotloop_policy::load::Checkpoint;
use hotloop_policy::memory::Recompute;
use hotloop_policy::model::{Adapter, Config, Family, LoraConfig, Module, Values, Weights};
use hotloop_policy::pack::{Pack, Scored, Sequence};
use hotloop_policy::save::{self, Storage};
use hotloop_policy::train::{Learner, Trained};

use crate::engine::{lora, settings};
use crate::fixture::{FAMILIES, Fixture, folder, relative, training};
use crate::sampling::gap;

/// The same model twice: matrices in bf16, and in f32 with the same values.
fn twice(network: Network) -> (Network, Network) {
    let rounded = network.weights.rounded();
    let mut wide = rounded.clone();
    for tensor in wide.tensors_mut() {
        tensor.data = tensor.data.widened().into_owned().into();
    }
    (
        Network::new(network.config.clone(), rounded),
        Network::new(network.config, wide),
    )
}

/// A model wide enough for the matrix unit's tiles, with odd sizes where possible.
fn wide_enough() -> Network {
    let config = Config {
        family: Family::Qwen2,
        hidden: 96,
        layers: 3,
        heads: 6,
        kv_heads: 2,
        head_dim: 16,
        ffn: 160,
        vocab: 301,
        norm_eps: 1e-6,
        rope_theta: 10000.0,
        rope_scaling: None,
        tied: true,
        context: 256,
        bos: None,
        eos: vec![0],
    };
    let weights = Weights::random(&config, 23);
    Network::new(config, weights)
}

fn networks() -> Vec<(&'static str, Network)> {
    let mut all: Vec<_> = FAMILIES
        .iter()
        .map(|name| (*name, Fixture::load(name).network()))
        .collect();
    all.push(("wide enough", wide_enough()));
    all
}

fn adapter(config: &Config) -> Adapter {
    let lora = LoraConfig {
        rank: 4,
        alpha: 8.0,
        dropout: 0.0,
        targets: Module::ALL.to_vec(),
    };
    let mut adapter = Adapter::fresh(config, &lora, 5);
    // A fresh adapter has no effect, so the test fills it.
    for (nth, tensor) in adapter.tensors_mut().into_iter().enumerate() {
        tensor
            .data
            .iter_mut()
            .enumerate()
            .for_each(|(i, value)| *value += 0.02 * ((i + nth) % 7) as f32 - 0.06);
    }
    adapter
}

fn pack(config: &Config) -> Pack {
    let token = |i: u32| (i * 31 + 7) % config.vocab as u32;
    let sequences: Vec<_> = [50, 90, 7]
        .map(|length| {
            let tokens: Vec<u32> = (0..length).map(token).collect();
            Sequence::answer(&tokens[..2], &tokens[2..])
        })
        .into();
    Pack::new(&sequences)
}

#[test]
fn logits_are_those_of_the_rounded_weights() {
    for (name, network) in networks() {
        let (narrow, wide) = twice(network);
        let adapter = adapter(&wide.config);
        let pack = pack(&wide.config);
        for with in [None, Some(Adapted::plain(&adapter))] {
            let error = relative(&narrow.logits(with, &pack), &wide.logits(with, &pack));
            assert!(error < 2e-5, "{name}: logits are off by {error:.1e}");
        }
    }
}

#[test]
fn decoded_logits_are_those_of_the_rounded_weights_too() {
    for (name, network) in networks() {
        let (narrow, wide) = twice(network);
        for rows in [1, 3, 8] {
            let decoded = |network: &Network| {
                let prefix = std::sync::Arc::new(network.prefill(None, &[3, 1, 4]).0);
                let mut caches: Vec<_> = (0..rows)
                    .map(|_| hotloop_policy::cpu::Cache::new(prefix.clone()))
                    .collect();
                let tokens: Vec<u32> = (0..rows).map(|row| row as u32 + 2).collect();
                network.decode(None, &tokens, &mut caches.iter_mut().collect::<Vec<_>>())
            };
            let error = relative(&decoded(&narrow), &decoded(&wide));
            assert!(error < 2e-5, "{name} with {rows} answers: {error:.1e}");
        }
    }
}

#[test]
fn an_adapters_gradient_is_that_of_the_rounded_weights() {
    for (name, network) in networks() {
        let (narrow, wide) = twice(network);
        let adapter = adapter(&wide.config);
        let pack = pack(&wide.config);
        let share = 1.0 / pack.targets.len() as f32;
        let learnt = |network: &Network| {
            let mut gradient = Gradient::Lora(adapter.zeroed());
            let with = Some(Adapted::plain(&adapter));
            let pass = Pass {
                adapted: with,
                temperature: 1.0,
                recompute: Recompute::On,
            };
            network.learn(
                pass,
                &pack,
                &mut |_: usize, _: Scored| -share,
                &mut gradient,
            );
            gradient
        };
        let (found, wanted) = (learnt(&narrow), learnt(&wide));
        for (found, wanted) in found.tensors().into_iter().zip(wanted.tensors()) {
            let error = relative(&found.data, &wanted.data);
            assert!(
                error < 1e-4,
                "{name}: the gradient of {} is off by {error:.1e}",
                found.name
            );
        }
    }
}

#[test]
fn sampler_and_trainer_agree_before_and_after_learning() {
    let (narrow, _) = twice(wide_enough());
    assert!(gap(&narrow, None, 1.0) < 2e-4);
    let before = narrow.weights.clone();
    let trained = Trained::Lora(adapter(&narrow.config));
    let mut learner = Learner::new(narrow, trained, training(1e-2, Recompute::Off));
    let batch = [
        Sequence::answer(&[1], &[2, 3, 4, 5, 6, 7]),
        Sequence::answer(&[9], &[8, 7, 6, 5]),
    ];
    let first = learner.supervise(&batch).unwrap().loss;
    let last = (0..20)
        .map(|_| learner.supervise(&batch).unwrap().loss)
        .last()
        .unwrap();
    assert!(last < 0.7 * first, "the loss went from {first} to {last}");
    let Trained::Lora(adapter) = &learner.model.trained else {
        unreachable!("it trains an adapter")
    };
    let gap = gap(&learner.model.network, Some(adapter), 1.0);
    assert!(gap < 2e-4, "after learning the sampler is {gap} off");
    assert_eq!(learner.model.network.weights, before, "the base is frozen");
}

fn halves(engine: &Engine) -> usize {
    let tensors = engine.learner().model.network.weights.tensors();
    tensors
        .iter()
        .filter(|tensor| matches!(tensor.data, Values::Bf16(_)))
        .count()
}

#[test]
fn matrices_keep_the_precision_of_their_file_by_default() {
    let whole = Checkpoint::open(&folder().join("tiny.gguf")).unwrap();
    let (weights, text) = (whole.weights().unwrap(), whole.text().unwrap());
    let matrices = weights
        .tensors()
        .iter()
        .filter(|tensor| tensor.is_matrix())
        .count();
    let directory = tempfile::tempdir().unwrap();
    let (narrow, wide) = (
        directory.path().join("narrow"),
        directory.path().join("wide"),
    );
    save::model(&narrow, &whole.config, &weights, Some(&text), Storage::Bf16).unwrap();
    save::model(&wide, &whole.config, &weights, Some(&text), Storage::F32).unwrap();
    for (path, learning, precision, wanted) in [
        (&narrow, Learning::None, None, matrices),
        (&narrow, lora(), None, matrices),
        (&narrow, Learning::Full, None, 0),
        (&narrow, lora(), Some(Precision::F32), 0),
        (&wide, lora(), None, 0),
        (&wide, lora(), Some(Precision::Bf16), matrices),
        (&wide, Learning::Full, Some(Precision::Bf16), 0),
    ] {
        let mut settings = settings(learning.clone(), 0.0);
        settings.precision = precision;
        let engine = Engine::open(path, settings).unwrap();
        assert_eq!(
            halves(&engine),
            wanted,
            "{} {learning:?} {precision:?}",
            path.display()
        );
    }
}

#[test]
fn matrices_in_bf16_take_half_the_memory() {
    let weights = wide_enough().weights;
    let (bytes, halved) = (weights.bytes(), weights.clone().rounded().bytes());
    let rest: usize = weights
        .tensors()
        .iter()
        .filter(|tensor| !tensor.is_matrix())
        .map(|t| t.data.bytes())
        .sum();
    assert_eq!(bytes - rest, 2 * (halved - rest));
    assert!(rest * 50 < bytes);
}

#[test]
fn an_adapter_fits_its_base_in_either_precision() {
    let directory = tempfile::tempdir().unwrap();
    for (from, to) in [
        (Precision::F32, Precision::Bf16),
        (Precision::Bf16, Precision::F32),
    ] {
        let open = |precision| {
            let mut settings = settings(lora(), 0.0);
            settings.precision = Some(precision);
            Engine::open(&folder().join("tiny.gguf"), settings).unwrap()
        };
        let path = directory.path().join(format!("{from:?}"));
        open(from).save(&path).unwrap();
        open(to).start_from_adapter(&path).unwrap();
        open(to).resume(&path).unwrap();
    }
}
