//! Tests that a tiny random model learns a toy corpus and a toy reward.

use hotloop_flow::policy::WeightedTokens;
use hotloop_policy::cpu::{Adapted, Gradient, Network, Pass};
use hotloop_policy::memory::Recompute;
use hotloop_policy::model::{Adapter, Config, Family, LoraConfig, Module, Weights};
use hotloop_policy::pack::{Pack, Scored, Sequence};
use hotloop_policy::train::loss::{Clip, Normalisation};
use hotloop_policy::train::{
    Decay, Grpo, Learner, OptimConfig, Reference, Schedule, TrainError, Trained, Training,
};

use crate::fixture::Fixture;
use crate::sampling::{gap, generation};

fn tiny() -> Network {
    let config = Config {
        family: Family::Qwen2,
        hidden: 48,
        layers: 2,
        heads: 4,
        kv_heads: 2,
        head_dim: 12,
        ffn: 96,
        vocab: 40,
        norm_eps: 1e-6,
        rope_theta: 10000.0,
        rope_scaling: None,
        tied: true,
        context: 64,
        bos: None,
        eos: vec![0],
    };
    let weights = Weights::random(&config, 17);
    Network::new(config, weights)
}

fn training(rate: f64) -> Training {
    Training {
        optim: OptimConfig {
            beta1: 0.9,
            beta2: 0.95,
            eps: 1e-8,
            weight_decay: 0.0,
            max_norm: 1.0,
        },
        schedule: Schedule {
            peak: rate,
            warmup: 3,
            decay: Decay::Constant,
        },
        pack_tokens: 512,
        recompute: Recompute::Off,
        seed: 0,
    }
}

fn lora(network: &Network, dropout: f32) -> Trained {
    let config = LoraConfig {
        rank: 8,
        alpha: 16.0,
        dropout,
        targets: Module::ALL.to_vec(),
    };
    Trained::Lora(Adapter::fresh(&network.config, &config, 2))
}

/// Counting upwards modulo 37 from any start.
fn corpus() -> Vec<Sequence> {
    let counted = |start: u32| (0..16).map(|i| 1 + (start + i) % 37).collect::<Vec<_>>();
    (0..37)
        .step_by(3)
        .map(|start| Sequence::answer(&counted(start)[..1], &counted(start)[1..]))
        .collect()
}

#[test]
fn a_toy_corpus_is_learned_in_full_and_by_an_adapter() {
    for full in [true, false] {
        let network = tiny();
        let (trained, rate) = if full {
            (Trained::Full, 5e-3)
        } else {
            (lora(&network, 0.05), 2e-2)
        };
        let mut learner = Learner::new(network, trained, training(rate));
        let first = learner.supervise(&corpus()).unwrap().loss;
        let mut last = first;
        for _ in 0..60 {
            last = learner.supervise(&corpus()).unwrap().loss;
        }
        assert!(
            first > 3.0 && last < 0.15,
            "full {full}: the loss went from {first} to {last}"
        );
        // Full training learns to count from a start that the corpus lacks. An adapter on random
        // weights knows only the starts it has seen.
        let start = if full { 12 } else { 13 };
        let answers = learner.model.network.generate(
            learner.model.adapted(),
            &[vec![start]],
            1,
            &generation(0.0, 10, 0),
        );
        assert_eq!(
            answers[0].tokens,
            (start + 1..start + 11).collect::<Vec<u32>>(),
            "full {full}"
        );
    }
}

/// One reward for each token below ten.
fn reward(tokens: &[u32]) -> f32 {
    tokens.iter().filter(|token| **token < 10).count() as f32 / tokens.len() as f32
}

#[test]
fn a_toy_reward_is_learned_by_grpo() {
    let network = tiny();
    let trained = lora(&network, 0.0);
    let mut learner = Learner::new(network, trained, training(1e-2));
    let clip = Clip {
        low: 0.2,
        high: 0.28,
        kl: 0.01,
    };
    let grpo = Grpo {
        clip,
        normalisation: Normalisation::Token,
        epochs: 2,
    };
    let prompts = vec![vec![3, 4], vec![20, 30]];
    let mut means = Vec::new();
    for step in 0..25 {
        let answers = learner.model.network.generate(
            learner.model.adapted(),
            &prompts,
            16,
            &generation(1.0, 8, step * 1000),
        );
        let rewards: Vec<f32> = answers
            .iter()
            .map(|answer| reward(&answer.tokens))
            .collect();
        means.push(rewards.iter().sum::<f32>() / rewards.len() as f32);
        let mut batch = Vec::new();
        for (group, prompt) in prompts.iter().enumerate() {
            let here = group * 16..(group + 1) * 16;
            let mean = rewards[here.clone()].iter().sum::<f32>() / 16.0;
            let variance = rewards[here.clone()]
                .iter()
                .map(|r| (r - mean).powi(2))
                .sum::<f32>()
                / 16.0;
            for number in here {
                let advantage = (rewards[number] - mean) / (variance.sqrt() + 1e-4);
                batch.push(WeightedTokens {
                    prompt_tokens: prompt.clone(),
                    tokens: answers[number].tokens.clone(),
                    logprobs: answers[number].logprobs.clone(),
                    temperature: 1.0,
                    advantage: f64::from(advantage),
                });
            }
        }
        let update = learner.reinforce(&batch, grpo, &Reference::Base).unwrap();
        assert!(
            update.sampler_gap < 1e-3,
            "step {step}: the sampler is {} off",
            update.sampler_gap
        );
    }
    let (first, last) = (means[0], means[24]);
    assert!(
        first < 0.4 && last > 0.85,
        "mean reward from {first} to {last}: {means:?}"
    );
}

#[test]
fn sampler_and_trainer_agree_after_one_and_twenty_steps() {
    let network = tiny();
    let trained = lora(&network, 0.0);
    let mut learner = Learner::new(network, trained, training(1e-2));
    for step in 1..=20 {
        learner.supervise(&corpus()).unwrap();
        if step == 1 || step == 20 {
            let Trained::Lora(adapter) = &learner.model.trained else {
                unreachable!("it trains an adapter")
            };
            let gap = gap(&learner.model.network, Some(adapter), 0.8);
            assert!(gap < 2e-4, "after {step} steps: {gap}");
        }
    }
}

/// The change of the loss along a direction must agree with the slope that the gradient predicts.
#[test]
fn gradients_predict_the_loss_along_a_random_direction() {
    for name in ["llama", "qwen2", "qwen3"] {
        let fixture = Fixture::load(name);
        let mut network = fixture.network();
        let sequences: Vec<_> = fixture
            .pairs()
            .iter()
            .map(|(p, a)| Sequence::answer(p, a))
            .collect();
        let pack = Pack::new(&sequences);
        let mean = |network: &Network| {
            let scored = network.score(None, &pack, 1.0);
            -scored
                .iter()
                .map(|scored| f64::from(scored.logprob))
                .sum::<f64>()
                / scored.len() as f64
        };
        let share = 1.0 / pack.targets.len() as f32;
        let mut gradient = Gradient::Full(network.weights.zeroed());
        let pass = Pass {
            adapted: None,
            temperature: 1.0,
            recompute: Recompute::On,
        };
        network.learn(
            pass,
            &pack,
            &mut |_: usize, _: Scored| -share,
            &mut gradient,
        );
        let direction = Weights::random(&network.config, 99);
        let pairs = gradient.tensors().into_iter().zip(direction.tensors());
        let dot = |(g, d): (
            &hotloop_policy::model::Tensor,
            &hotloop_policy::model::Tensor,
        )| {
            g.data
                .iter()
                .zip(&d.data)
                .map(|(g, d)| f64::from(g * d))
                .sum::<f64>()
        };
        let predicted: f64 = pairs.map(dot).sum();
        let h = 1e-3;
        let mut shift = |by: f32| {
            for (w, d) in network
                .weights
                .tensors_mut()
                .into_iter()
                .zip(direction.tensors())
            {
                w.data
                    .iter_mut()
                    .zip(&d.data)
                    .for_each(|(w, d)| *w += by * d);
            }
            mean(&network)
        };
        let (up, down) = (shift(h), shift(-2.0 * h));
        let measured = (up - down) / f64::from(2.0 * h);
        let error = (measured - predicted).abs() / predicted.abs();
        assert!(
            error < 5e-3,
            "{name}: measured {measured}, predicted {predicted}"
        );
    }
}

#[test]
fn dropout_changes_passes_but_not_scores() {
    let network = tiny();
    let Trained::Lora(mut adapter) = lora(&network, 0.5) else {
        unreachable!("it is an adapter")
    };
    for pair in adapter
        .layers
        .iter_mut()
        .flat_map(|layer| &mut layer.pairs)
        .flatten()
    {
        pair.b.data.fill(0.05);
    }
    let pack = Pack::new(&corpus());
    let score = |dropout_seed| {
        network.score(
            Some(Adapted {
                adapter: &adapter,
                dropout_seed,
            }),
            &pack,
            1.0,
        )
    };
    assert_eq!(score(None), score(None));
    assert_eq!(score(Some(1)), score(Some(1)));
    assert_ne!(score(Some(1)), score(Some(2)));
    assert_ne!(score(Some(1)), score(None));
}

#[test]
fn a_nan_loss_stops_before_the_weights_change() {
    let mut network = tiny();
    network.weights.norm.data[0] = f32::NAN;
    let mut learner = Learner::new(network, Trained::Full, training(1e-2));
    let before = learner.model.network.weights.layers[0].linears[0]
        .weight
        .data
        .clone();
    let error = learner.supervise(&corpus()).unwrap_err();
    assert!(
        matches!(error, TrainError::NotFinite { step: 0, .. }),
        "{error}"
    );
    assert_eq!(
        learner.model.network.weights.layers[0].linears[0]
            .weight
            .data,
        before
    );
    assert_eq!(learner.optimiser.steps, 0);
}

#[test]
fn foreign_tokens_and_unpaired_logprobs_are_errors() {
    let mut learner = Learner::new(tiny(), Trained::Full, training(1e-2));
    let foreign = learner
        .supervise(&[Sequence::answer(&[1], &[99])])
        .unwrap_err();
    assert!(
        foreign
            .to_string()
            .contains("token 99 is outside the vocabulary of 40"),
        "{foreign}"
    );
    let clip = Clip {
        low: 0.2,
        high: 0.2,
        kl: 0.0,
    };
    let grpo = Grpo {
        clip,
        normalisation: Normalisation::Token,
        epochs: 1,
    };
    let rollout = WeightedTokens {
        prompt_tokens: vec![1],
        tokens: vec![2, 3],
        logprobs: vec![-1.0],
        temperature: 1.0,
        advantage: 1.0,
    };
    let unpaired = learner
        .reinforce(&[rollout], grpo, &Reference::None)
        .unwrap_err();
    assert!(
        unpaired.to_string().contains("2 tokens but 1 logprobs"),
        "{unpaired}"
    );
    assert!(matches!(
        learner.supervise(&[]).unwrap_err(),
        TrainError::Empty
    ));
}
