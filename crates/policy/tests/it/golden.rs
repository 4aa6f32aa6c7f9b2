//! Comparison with PyTorch in f64: logits, loss, every gradient, ten `AdamW` steps, and GRPO
//! updates.

use hotloop_flow::policy::WeightedTokens;
use hotloop_policy::cpu::{Adapted, Gradient, Pass};
use hotloop_policy::memory::Recompute;
use hotloop_policy::pack::{Pack, Scored, Sequence};
use hotloop_policy::train::loss::{self, Clip, GrpoToken, Normalisation};
use hotloop_policy::train::{
    Decay, Grpo, Learner, OptimConfig, Reference, Schedule, Trained, Training,
};

use crate::fixture::{FAMILIES, Fixture, close, relative, training};

const BOUND: f64 = 1e-4;

fn sequences(fixture: &Fixture) -> Vec<Sequence> {
    fixture
        .pairs()
        .iter()
        .map(|(prompt, answer)| Sequence::answer(prompt, answer))
        .collect()
}

#[test]
fn logits_of_packed_sequences_equal_those_of_each_alone() {
    for name in FAMILIES {
        let fixture = Fixture::load(name);
        let network = fixture.network();
        let logits = network.logits(None, &Pack::new(&sequences(&fixture)));
        let every_third: Vec<f32> = logits
            .chunks(network.config.vocab)
            .step_by(3)
            .flatten()
            .copied()
            .collect();
        let error = relative(&every_third, &fixture.floats("logits"));
        assert!(error < BOUND, "{name}: {error:.2e}");
    }
}

/// Loss and gradient of the mean cross-entropy.
fn loss_and_gradient(fixture: &Fixture, lora: bool, recompute: Recompute) -> (f64, Gradient) {
    let network = fixture.network();
    let adapter = fixture.adapter(&network);
    let pack = Pack::new(&sequences(fixture));
    let mut gradient = if lora {
        Gradient::Lora(adapter.zeroed())
    } else {
        Gradient::Full(network.weights.zeroed())
    };
    let share = 1.0 / pack.targets.len() as f32;
    let mut loss = 0.0;
    let mut coefficient = |_: usize, scored: Scored| {
        loss -= f64::from(scored.logprob * share);
        -share
    };
    let with = lora.then(|| Adapted::plain(&adapter));
    let pass = Pass {
        adapted: with,
        temperature: 1.0,
        recompute,
    };
    network.learn(pass, &pack, &mut coefficient, &mut gradient);
    (loss, gradient)
}

#[test]
fn every_gradient_of_every_weight_agrees() {
    for name in FAMILIES {
        let fixture = Fixture::load(name);
        let (loss, gradient) = loss_and_gradient(&fixture, false, Recompute::On);
        close(loss, fixture.number("/loss"), 1e-5);
        fixture.compare("grad.", &gradient.tensors(), BOUND);
    }
}

#[test]
fn every_gradient_of_an_adapter_agrees() {
    for name in FAMILIES {
        let fixture = Fixture::load(name);
        let (loss, gradient) = loss_and_gradient(&fixture, true, Recompute::On);
        close(loss, fixture.number("/lora_loss"), 1e-5);
        fixture.compare("lora_grad.", &gradient.tensors(), BOUND);
    }
}

#[test]
fn recomputing_changes_nothing() {
    let fixture = Fixture::load("qwen3");
    for (lora, other) in [
        (false, Recompute::On),
        (true, Recompute::On),
        (true, Recompute::Auto),
    ] {
        let (kept_loss, kept) = loss_and_gradient(&fixture, lora, Recompute::Off);
        let (again_loss, again) = loss_and_gradient(&fixture, lora, other);
        assert_eq!(kept_loss.to_bits(), again_loss.to_bits());
        assert_eq!(kept.tensors(), again.tensors());
    }
}

#[test]
fn ten_adamw_steps_agree() {
    for name in FAMILIES {
        let fixture = Fixture::load(name);
        let network = fixture.network();
        let before = network.weights.clone();
        let mut learner = Learner::new(network, Trained::Full, training(1e-3, Recompute::On));
        let batch = sequences(&fixture);
        let (losses, norms) = (
            fixture.numbers("/ten_losses"),
            fixture.numbers("/ten_norms"),
        );
        for (loss, norm) in losses.into_iter().zip(norms) {
            let update = learner.supervise(&batch).unwrap();
            close(update.loss, loss, 1e-4);
            close(update.gradient_norm, norm, 1e-3);
        }
        fixture.compare("ten.", &learner.model.parameters(), BOUND);
        // The weights hardly change in ten steps, so the changes are compared, too. AdamW divides
        // by the root of the square. If a gradient is nearly zero, rounding decides its sign, so
        // the bound is wider.
        for (old, new) in before.tensors().iter().zip(learner.model.parameters()) {
            let wanted = fixture.floats(&format!("ten.{}", new.name));
            let moved: Vec<f32> = new
                .data
                .iter()
                .zip(&old.data)
                .map(|(new, old)| new - old)
                .collect();
            let should: Vec<f32> = wanted
                .iter()
                .zip(&old.data)
                .map(|(new, old)| new - old)
                .collect();
            let error = relative(&moved, &should);
            assert!(
                error < 2e-2,
                "{name}: the move of {} is off by {error:.2e}",
                new.name
            );
        }
    }
}

const CLIP: Clip = Clip {
    low: 0.2,
    high: 0.28,
    kl: 0.05,
};
const ADVANTAGES: [f32; 4] = [1.2, -0.7, 0.4, -0.9];

fn normalisation(fixture: &Fixture) -> Normalisation {
    match fixture.facts["grpo"]["normalisation"].as_str() {
        Some("token") => Normalisation::Token,
        _ => Normalisation::Sequence,
    }
}

#[test]
fn the_grpo_gradient_with_clip_and_divergence_agrees() {
    for name in FAMILIES {
        let fixture = Fixture::load(name);
        let network = fixture.network();
        let adapter = fixture.adapter(&network);
        let pack = Pack::new(&sequences(&fixture));
        let reference = network.score(None, &pack, 0.7);
        let (trainer, sampler) = (
            fixture.floats("grpo_trainer"),
            fixture.floats("grpo_sampler"),
        );
        let lengths: Vec<usize> = fixture
            .pairs()
            .iter()
            .map(|(_, answer)| answer.len())
            .collect();
        let shares = normalisation(&fixture).shares(&lengths);
        let owner: Vec<usize> = lengths
            .iter()
            .enumerate()
            .flat_map(|(nth, &length)| vec![nth; length])
            .collect();
        let (mut loss, mut clipped) = (0.0, 0.0);
        let mut coefficient = |index: usize, scored: Scored| {
            let token = GrpoToken {
                current: scored.logprob,
                trainer: trainer[index],
                sampler: sampler[index],
                reference: Some(reference[index].logprob),
                advantage: ADVANTAGES[owner[index]],
            };
            let out = loss::grpo(token, CLIP);
            loss += f64::from(out.loss * shares[owner[index]]);
            clipped += f64::from(u8::from(out.clipped)) / trainer.len() as f64;
            out.slope * shares[owner[index]]
        };
        let mut gradient = Gradient::Lora(adapter.zeroed());
        let pass = Pass {
            adapted: Some(Adapted::plain(&adapter)),
            temperature: 0.7,
            recompute: Recompute::On,
        };
        network.learn(pass, &pack, &mut coefficient, &mut gradient);
        close(loss, fixture.number("/grpo/direct/losses"), 1e-4);
        close(clipped, fixture.number("/grpo/direct/clipped"), 1e-6);
        fixture.compare("grpo_grad.", &gradient.tensors(), BOUND);
    }
}

#[test]
fn three_grpo_epochs_with_clip_and_divergence_agree() {
    for name in FAMILIES {
        let fixture = Fixture::load(name);
        let network = fixture.network();
        let adapter = fixture.adapter(&network);
        let optim = OptimConfig {
            beta1: 0.9,
            beta2: 0.95,
            eps: 1e-8,
            weight_decay: 0.0,
            max_norm: 1.0,
        };
        let schedule = Schedule {
            peak: 2e-2,
            warmup: 0,
            decay: Decay::Constant,
        };
        let training = Training {
            optim,
            schedule,
            pack_tokens: 100,
            recompute: Recompute::Off,
            seed: 0,
        };
        let mut learner = Learner::new(network, Trained::Lora(adapter), training);
        let mut logprobs = fixture.floats("grpo_sampler").into_iter();
        let rollout = |((prompt, answer), advantage): ((Vec<u32>, Vec<u32>), f32)| {
            let logprobs = logprobs.by_ref().take(answer.len()).collect();
            WeightedTokens {
                prompt_tokens: prompt,
                tokens: answer,
                logprobs,
                temperature: 0.7,
                advantage: f64::from(advantage),
            }
        };
        let batch: Vec<WeightedTokens> = fixture
            .pairs()
            .into_iter()
            .zip(ADVANTAGES)
            .map(rollout)
            .collect();
        let grpo = Grpo {
            clip: CLIP,
            normalisation: normalisation(&fixture),
            epochs: 3,
        };
        let update = learner.reinforce(&batch, grpo, &Reference::Base).unwrap();
        let mean = |key: &str| fixture.numbers(&format!("/grpo/{key}")).iter().sum::<f64>() / 3.0;
        close(update.loss, fixture.numbers("/grpo/losses")[0], 1e-4);
        close(
            update.gradient_norm,
            fixture.numbers("/grpo/norms")[2],
            1e-3,
        );
        close(update.clipped, mean("clipped"), 1e-6);
        close(update.kl, mean("kl"), 1e-4);
        close(update.entropy, mean("entropy"), 1e-4);
        close(update.sampler_gap, fixture.number("/grpo/gap"), 1e-4);
        fixture.compare("grpo.", &learner.model.parameters(), BOUND);
    }
}
