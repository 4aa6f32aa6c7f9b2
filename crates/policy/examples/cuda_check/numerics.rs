//! Logits, scores, losses, gradients and steps against the CPU.

use hotloop_flow::policy::WeightedTokens;
use hotloop_policy::Precision;
use hotloop_policy::cpu::{Adapted, Gradient, Network, Pass};
use hotloop_policy::cuda::{self, Learn, Trains, With};
use hotloop_policy::memory::Recompute;
use hotloop_policy::model::{Adapter, Family, Tensor};
use hotloop_policy::pack::{Pack, Scored, Sequence};
use hotloop_policy::train::loss::{Clip, Normalisation};
use hotloop_policy::train::{Grpo, Learner, Reference, Trained};

use crate::tiny::{self, Kind, noise};
use crate::{Outcome, Verdicts, relative};

/// Bounds of logits and of gradients.
fn bounds(precision: Precision) -> (f64, f64) {
    match precision {
        Precision::F32 => (1e-4, 1e-4),
        // The gradients of q and k are differences of rounded values, which gives errors of 2 to
        // 3e-2 with tiny random models.
        Precision::Bf16 => (2e-2, 4e-2),
    }
}

/// A different slope for each token, as in reinforcement learning.
fn slope(index: usize, _: Scored) -> f32 {
    noise(77, index as u64) / 100.0
}

/// Checks logits, scores and every gradient of every family, with an adapter and in full, with kept
/// and with recomputed activations.
pub(crate) fn gradients(precision: Precision) -> Outcome {
    let mut verdicts = Verdicts::default();
    let (near, far) = bounds(precision);
    for kind in Kind::chosen() {
        let network = kind.network();
        let pack = Pack::new(&tiny::sequences(&network.config));
        for (mode, adapter) in [
            ("lora", Some(tiny::adapter(&network.config, 0.1))),
            ("full", None),
        ] {
            let label = format!("{} {mode}", kind.name());
            let trains = adapter.as_ref().map_or(Trains::Full, Trains::Lora);
            let mut engine =
                cuda::Engine::new(&network.config, &network.weights, trains, precision)?;
            let plain = adapter.as_ref().map(Adapted::plain);
            let logits = engine.logits(With::Trained, &pack)?;
            verdicts.check(
                &format!("{label}: logits"),
                relative(&logits, &network.logits(plain, &pack)),
                near,
            );
            let host = Host {
                network: &network,
                adapter: adapter.as_ref(),
            };
            compare_scores(&mut verdicts, &label, &mut engine, host, &pack, near)?;
            for (seed, recompute) in [(None, Recompute::Off), (Some(5), Recompute::On)] {
                let found = device_gradient(&mut engine, &pack, recompute, seed)?;
                let wanted = host_gradient(&network, adapter.as_ref(), &pack, seed);
                let drop = if seed.is_some() && adapter.is_some() {
                    " dropout"
                } else {
                    ""
                };
                let what = format!("{label} {recompute:?}{drop}");
                compare_gradients(&mut verdicts, &what, &found, &wanted.tensors(), far);
            }
            directional(&mut verdicts, &label, &mut engine, host, &pack, precision)?;
        }
    }
    verdicts.done()
}

/// The same model on the CPU.
#[derive(Clone, Copy)]
struct Host<'a> {
    network: &'a Network,
    adapter: Option<&'a Adapter>,
}

fn compare_scores(
    verdicts: &mut Verdicts,
    label: &str,
    engine: &mut cuda::Engine,
    host: Host,
    pack: &Pack,
    bound: f64,
) -> Outcome {
    let adapted = host.adapter.map(Adapted::plain);
    for temperature in [1.0, 0.7] {
        let found = engine.score(With::Trained, pack, temperature)?;
        let wanted = host.network.score(adapted, pack, temperature);
        let logprobs = |scores: &[Scored]| {
            scores
                .iter()
                .map(|scored| scored.logprob)
                .collect::<Vec<f32>>()
        };
        let entropies = |scores: &[Scored]| {
            scores
                .iter()
                .map(|scored| scored.entropy)
                .collect::<Vec<f32>>()
        };
        let what = format!("{label}: logprobs at {temperature}");
        verdicts.check(
            &what,
            relative(&logprobs(&found), &logprobs(&wanted)),
            bound,
        );
        let what = format!("{label}: entropies at {temperature}");
        verdicts.check(
            &what,
            relative(&entropies(&found), &entropies(&wanted)),
            bound,
        );
    }
    Ok(())
}

fn device_gradient(
    engine: &mut cuda::Engine,
    pack: &Pack,
    recompute: Recompute,
    dropout_seed: Option<u64>,
) -> Result<Vec<Vec<f32>>, cuda::Error> {
    engine.clear_gradient()?;
    engine.learn(
        Learn {
            temperature: 0.9,
            recompute,
            dropout_seed,
        },
        pack,
        &mut slope,
    )?;
    engine.pull_gradients()
}

fn host_gradient(
    network: &Network,
    adapter: Option<&Adapter>,
    pack: &Pack,
    dropout_seed: Option<u64>,
) -> Gradient {
    let with = adapter.map(|adapter| Adapted {
        adapter,
        dropout_seed,
    });
    let mut gradient = match adapter {
        Some(adapter) => Gradient::Lora(adapter.zeroed()),
        None => Gradient::Full(network.weights.zeroed()),
    };
    let pass = Pass {
        adapted: with,
        temperature: 0.9,
        recompute: Recompute::Off,
    };
    network.learn(pass, pack, &mut slope, &mut gradient);
    gradient
}

/// Prints the worst tensor of each kind. Every tensor must pass.
fn compare_gradients(
    verdicts: &mut Verdicts,
    what: &str,
    found: &[Vec<f32>],
    wanted: &[&Tensor],
    bound: f64,
) {
    let mut worst: Vec<(String, f64)> = Vec::new();
    let norm = |data: &[f32]| {
        data.iter()
            .map(|x| f64::from(*x).powi(2))
            .sum::<f64>()
            .sqrt()
    };
    let whole = wanted
        .iter()
        .map(|tensor| norm(&tensor.data).powi(2))
        .sum::<f64>()
        .sqrt();
    for (found, wanted) in found.iter().zip(wanted) {
        // A gradient that is zero except for rounding (a key's bias shifts all scores equally) is
        // compared with the whole gradient's norm.
        let small = norm(&wanted.data) < 1e-3 * whole;
        let difference: Vec<f32> = found.iter().zip(&wanted.data).map(|(a, b)| a - b).collect();
        let error = if small {
            norm(&difference) / (1e-2 * whole)
        } else {
            relative(found, &wanted.data)
        };
        let class: String = wanted
            .name
            .chars()
            .filter(|letter| !letter.is_ascii_digit())
            .collect();
        let class = class
            .replace("base_model.model.", "")
            .replace("model.layers..", "");
        match worst.iter_mut().find(|entry| entry.0 == class) {
            Some(entry) if error <= entry.1 => {}
            Some(entry) => entry.1 = error,
            None => worst.push((class, error)),
        }
    }
    worst.sort_by(|a, b| b.1.total_cmp(&a.1));
    let failing = worst
        .iter()
        .filter(|entry| entry.1.is_nan() || entry.1 > bound)
        .count();
    for (class, error) in worst.iter().take(failing.max(1)) {
        verdicts.check(&format!("{what}: d {class}"), *error, bound);
    }
}

/// Checks with the device's own arithmetic that the loss falls along the gradient at the rate of
/// its norm.
fn directional(
    verdicts: &mut Verdicts,
    label: &str,
    engine: &mut cuda::Engine,
    host: Host,
    pack: &Pack,
    precision: Precision,
) -> Outcome {
    let tensors = match host.adapter {
        Some(adapter) => adapter.tensors(),
        None => host.network.weights.tensors(),
    };
    let host: Vec<Tensor> = tensors.into_iter().cloned().collect();
    let gradient = device_gradient(engine, pack, Recompute::Off, None)?;
    let length = gradient
        .iter()
        .flatten()
        .map(|g| f64::from(*g).powi(2))
        .sum::<f64>()
        .sqrt();
    let (step, bound) = if precision == Precision::F32 {
        (1e-2, 2e-2)
    } else {
        (0.05, 0.1)
    };
    let moved = |sign: f64| -> Vec<Tensor> {
        let factor = (sign * step / length) as f32;
        let mut moved = host.clone();
        for (tensor, gradient) in moved.iter_mut().zip(&gradient) {
            for (value, g) in tensor.data.iter_mut().zip(gradient) {
                *value += factor * g;
                if precision == Precision::Bf16 {
                    // Products read the rounded weight. Many weights stay unchanged, and some move
                    // further than requested.
                    *value = tiny::rounded(*value);
                }
            }
        }
        moved
    };
    let mut loss = |at: &[Tensor]| -> Result<f64, cuda::Error> {
        engine.push_values(&at.iter().collect::<Vec<_>>())?;
        let scores = engine.score(With::Trained, pack, 0.9)?;
        let each = scores
            .iter()
            .enumerate()
            .map(|(n, scored)| f64::from(slope(n, *scored) * scored.logprob));
        Ok(each.sum())
    };
    let (up, down) = (moved(1.0), moved(-1.0));
    let measured = loss(&up)? - loss(&down)?;
    let along = |((up, down), gradient): ((&Tensor, &Tensor), &Vec<f32>)| -> f64 {
        let apart = up.data.iter().zip(&down.data).zip(gradient);
        apart
            .map(|((up, down), g)| f64::from(up - down) * f64::from(*g))
            .sum()
    };
    let predicted: f64 = up.iter().zip(&down).zip(&gradient).map(along).sum();
    engine.push_values(&host.iter().collect::<Vec<_>>())?;
    verdicts.check(
        &format!("{label}: directional derivative"),
        (measured / predicted - 1.0).abs(),
        bound,
    );
    Ok(())
}

/// Compares ten supervised steps of `AdamW`, and some GRPO steps with clipping and KL divergence,
/// with the CPU.
pub(crate) fn training() -> Outcome {
    let mut verdicts = Verdicts::default();
    for precision in [Precision::F32, Precision::Bf16] {
        let (near, _) = bounds(precision);
        for kind in Kind::chosen()
            .into_iter()
            .filter(|kind| kind.tied == (kind.family == Family::Qwen2))
        {
            for mode in ["lora", "full"] {
                let label = format!("{precision:?} {} {mode}", kind.name());
                let trained = |network: &Network| match mode {
                    "lora" => Trained::Lora(tiny::adapter(&network.config, 0.0)),
                    _ => Trained::Full,
                };
                let settings = tiny::training(1e-3, 120, Recompute::Auto);
                let (network, again) = (kind.network(), kind.network());
                let sequences = tiny::sequences(&network.config);
                let chosen = trained(&network);
                let mut host = Learner::new(network, chosen, settings.clone());
                let chosen = trained(&again);
                let mut device = Learner::on_cuda(again, chosen, settings, precision)?;
                let (mut loss, mut norm) = (0.0f64, 0.0f64);
                for _ in 0..10 {
                    let (a, b) = (device.supervise(&sequences)?, host.supervise(&sequences)?);
                    loss = loss.max((a.loss / b.loss - 1.0).abs());
                    norm = norm.max((a.gradient_norm / b.gradient_norm - 1.0).abs());
                }
                verdicts.check(&format!("{label}: loss over 10 steps"), loss, near);
                verdicts.check(
                    &format!("{label}: gradient norm over 10 steps"),
                    norm,
                    near * 2.0,
                );
                compare_values(&mut verdicts, &label, &device, &host, near)?;
                reinforce(&mut verdicts, &label, &mut device, &mut host, near)?;
            }
        }
    }
    verdicts.done()
}

fn compare_values(
    verdicts: &mut Verdicts,
    label: &str,
    device: &Learner,
    host: &Learner,
    bound: f64,
) -> Outcome {
    let mirror = device.mirror()?.ok_or("the learner is not on the GPU")?;
    let errors = mirror
        .model
        .parameters()
        .into_iter()
        .zip(host.model.parameters())
        .map(|(a, b)| relative(&a.data, &b.data));
    verdicts.check(
        &format!("{label}: values, the worst tensor"),
        errors.fold(0.0, f64::max),
        bound,
    );
    Ok(())
}

/// Answers with different advantages, whose logprobs differ from the trainer's.
fn rollouts(sequences: &[Sequence]) -> Vec<WeightedTokens> {
    let rollout = |(nth, sequence): (usize, &Sequence)| {
        let prompt = sequence
            .scored
            .iter()
            .take_while(|scored| !**scored)
            .count();
        let answer = sequence.tokens[prompt..].to_vec();
        // Sampler logprobs differ from the trainer's, so that the truncated weight takes effect.
        let logprobs = (0..answer.len())
            .map(|i| -4.5 + noise(nth as u64, i as u64))
            .collect();
        let advantage = if nth % 2 == 0 { 1.5 } else { -1.0 };
        WeightedTokens {
            prompt_tokens: sequence.tokens[..prompt].to_vec(),
            tokens: answer,
            logprobs,
            temperature: 0.8,
            advantage,
        }
    };
    sequences.iter().enumerate().map(rollout).collect()
}

fn reinforce(
    verdicts: &mut Verdicts,
    label: &str,
    device: &mut Learner,
    host: &mut Learner,
    bound: f64,
) -> Outcome {
    let sequences = tiny::sequences(&host.model.network.config);
    let batch = rollouts(&sequences);
    let clip = Clip {
        low: 0.05,
        high: 0.08,
        kl: 0.1,
    };
    let grpo = Grpo {
        clip,
        normalisation: Normalisation::Sequence,
        epochs: 3,
    };
    let copy = || Reference::Copy(Box::new(Kind::ALL[0].network()));
    let reference = match host.model.trained {
        Trained::Lora(_) => Reference::Adapter(tiny::adapter(&host.model.network.config, 0.0)),
        Trained::Full => {
            let config = host.model.network.config.clone();
            let family = Kind::ALL
                .into_iter()
                .find(|kind| kind.family == config.family && kind.tied == config.tied);
            family.map_or_else(copy, |kind| Reference::Copy(Box::new(kind.network())))
        }
    };
    device
        .model
        .cuda()
        .ok_or("the learner is not on the GPU")?
        .begin_trace()?;
    let a = device.reinforce(&batch, grpo, &reference)?;
    let spent = device
        .model
        .cuda()
        .ok_or("the learner is not on the GPU")?
        .end_trace()?;
    let b = host.reinforce(&batch, grpo, &reference)?;
    let placed = spent
        .iter()
        .find(|spent| spent.what == "split_masters")
        .map_or(0, |spent| spent.times);
    let tensors = match &reference {
        Reference::Adapter(adapter) => adapter.tensors().len(),
        Reference::Copy(network) => network.weights.tensors().len(),
        Reference::None | Reference::Base => 0,
    };
    verdicts.check(
        &format!("{label}: tensors of the reference brought over again"),
        placed.abs_diff(tensors) as f64,
        0.0,
    );
    let near = |found: f64, wanted: f64| (found - wanted).abs() / wanted.abs().max(1e-3);
    println!(
        "   {label}: GRPO loss {:.5} kl {:.5} clipped {:.3} gap {:.3}",
        b.loss, b.kl, b.clipped, b.sampler_gap
    );
    // Clipping is discontinuous, so a token at its edge may fall on either side. The same holds for
    // the truncated weight.
    verdicts.check(
        &format!("{label}: GRPO loss"),
        near(a.loss, b.loss),
        bound * 3.0,
    );
    verdicts.check(&format!("{label}: GRPO kl"), near(a.kl, b.kl), bound * 5.0);
    verdicts.check(
        &format!("{label}: GRPO share clipped, absolute"),
        (a.clipped - b.clipped).abs(),
        bound.max(0.02),
    );
    verdicts.check(
        &format!("{label}: GRPO entropy"),
        near(a.entropy, b.entropy),
        bound,
    );
    compare_values(verdicts, &format!("{label} GRPO"), device, host, bound)
}
