//! Decoding against the trainer and against the CPU; errors; a real model.

use std::path::Path;

use hotloop_flow::policy::Sampling;
use hotloop_policy::Device;
use hotloop_policy::Precision;
use hotloop_policy::cpu::Network;
use hotloop_policy::cuda;
use hotloop_policy::engine::{Engine, Learning, Settings};
use hotloop_policy::memory::Recompute;
use hotloop_policy::model::LoraConfig;
use hotloop_policy::pack::{Pack, Scored, Sequence};
use hotloop_policy::sample::{Draw, Generation, Stop};
use hotloop_policy::train::loss::{Clip, Normalisation};
use hotloop_policy::train::{Grpo, Learner, Trained};

use crate::tiny::{self, Kind};
use crate::{Outcome, Verdicts};

pub(crate) const PLAIN: Draw = Draw {
    temperature: 0.9,
    top_k: 0,
    top_p: 1.0,
    min_p: 0.0,
};
pub(crate) const GREEDY: Draw = Draw {
    temperature: 0.0,
    ..PLAIN
};

pub(crate) fn generation(
    draw: Draw,
    slots: usize,
    max_tokens: usize,
    stops: &[u32],
) -> Generation<'static> {
    let stop = Stop {
        tokens: stops.to_vec(),
        texts: Vec::new(),
        max_tokens,
    };
    Generation {
        draw,
        stop,
        seed: 11,
        slots,
        decode: &|_| String::new(),
        halt: &hotloop_policy::sample::NEVER,
    }
}

pub(crate) fn prompts(config: &hotloop_policy::model::Config) -> Vec<Vec<u32>> {
    // The second one and its answer span several runs of `decode_attention`.
    let lengths = [5, 500, 1];
    let token = |seed: u64, index: u64| {
        ((tiny::noise(seed, index) + 1.0) * config.vocab as f32 / 2.0) as u32
    };
    lengths
        .iter()
        .enumerate()
        .map(|(n, length)| (0..*length).map(|i| token(50 + n as u64, i)).collect())
        .collect()
}

fn learners(kind: Kind, precision: Precision) -> Result<(Learner, Learner), cuda::Error> {
    let settings = tiny::training(3e-3, 400, Recompute::Auto);
    let trained = |network: &Network| Trained::Lora(tiny::adapter(&network.config, 0.0));
    let (host, device) = (kind.network(), kind.network());
    let (for_host, for_device) = (trained(&host), trained(&device));
    let host = Learner::new(host, for_host, settings.clone());
    Ok((
        host,
        Learner::on_cuda(device, for_device, settings, precision)?,
    ))
}

/// Both precisions, or only bf16 if `HOTLOOP_CHECK_BF16` is set, because the emulator is slow.
fn precisions() -> Vec<Precision> {
    let both = std::env::var_os("HOTLOOP_CHECK_BF16").is_none();
    both.then_some(Precision::F32)
        .into_iter()
        .chain([Precision::Bf16])
        .collect()
}

/// Compares the sampler with the trainer and its draws with the CPU's, and checks continuous
/// batching.
pub(crate) fn all() -> Outcome {
    let mut verdicts = Verdicts::default();
    for precision in precisions() {
        for kind in Kind::chosen() {
            let label = format!("{precision:?} {}", kind.name());
            let (host, mut device) = learners(kind, precision)?;
            let sequences = tiny::sequences(&host.model.network.config);
            greedy(&mut verdicts, &label, &host, &device, precision)?;
            for steps in [1, 19] {
                for _ in 0..steps {
                    device.supervise(&sequences)?;
                }
                let bound = if precision == Precision::F32 {
                    1e-4
                } else {
                    2e-2
                };
                let after = if steps == 1 { 1 } else { 20 };
                let gap = sampler_gap(&device)?;
                verdicts.check(
                    &format!("{label}: sampler against trainer after {after} steps"),
                    gap,
                    bound,
                );
            }
            if precision == Precision::F32 {
                draws(&mut verdicts, &label, &learners(kind, precision)?)?;
                twins(&mut verdicts, &label, kind)?;
            }
        }
    }
    verdicts.done()
}

/// Mean distance between the sampler's and the trainer's logprobs.
fn sampler_gap(device: &Learner) -> Result<f64, Box<dyn std::error::Error>> {
    let prompts = prompts(&device.model.network.config);
    let answers = device
        .model
        .generate(&prompts, 4, &generation(PLAIN, 12, 24, &[]))?;
    let (mut gap, mut tokens) = (0.0, 0);
    for (number, answer) in answers.iter().enumerate() {
        let pack = Pack::new(&[Sequence::answer(&prompts[number / 4], &answer.tokens)]);
        let scores = device.score(&pack, PLAIN.temperature)?;
        let each = scores.iter().zip(&answer.logprobs);
        gap += each
            .map(|(scored, logprob)| f64::from((scored.logprob - logprob).abs()))
            .sum::<f64>();
        tokens += scores.len();
    }
    Ok(gap / tokens as f64)
}

/// Checks greedy answers. In f32 they equal the CPU's. In bf16 each token is as good as the CPU's
/// best, except for rounding.
fn greedy(
    verdicts: &mut Verdicts,
    label: &str,
    host: &Learner,
    device: &Learner,
    precision: Precision,
) -> Outcome {
    let prompts = prompts(&host.model.network.config);
    let how = generation(GREEDY, 3, 40, &[]);
    let (found, wanted) = (
        device.model.generate(&prompts, 1, &how)?,
        host.model.generate(&prompts, 1, &how)?,
    );
    if precision == Precision::F32 {
        let equal = found
            .iter()
            .zip(&wanted)
            .filter(|(a, b)| a.tokens == b.tokens)
            .count();
        verdicts.check(
            &format!("{label}: greedy answers that differ from the CPU's"),
            (wanted.len() - equal) as f64,
            0.0,
        );
        return Ok(());
    }
    let mut worst = 0.0f64;
    for (prompt, answer) in prompts.iter().zip(&found) {
        let pack = Pack::new(&[Sequence::answer(prompt, &answer.tokens)]);
        let logits = host.model.network.logits(host.model.adapted(), &pack);
        for target in &pack.targets {
            let row = &logits[target.row * host.model.network.config.vocab..]
                [..host.model.network.config.vocab];
            let best = row.iter().fold(f32::NEG_INFINITY, |a, b| a.max(*b));
            worst = worst.max(f64::from(best - row[target.token as usize]));
        }
    }
    verdicts.check(
        &format!("{label}: greedy tokens below the CPU's best, in logits"),
        worst,
        0.1,
    );
    Ok(())
}

/// Checks draws with the same seeds and every kind of truncation. Slots and stop tokens must not
/// change them.
fn draws(verdicts: &mut Verdicts, label: &str, (host, device): &(Learner, Learner)) -> Outcome {
    let prompts = prompts(&host.model.network.config);
    let cases = [
        ("plain", PLAIN),
        ("top-k", Draw { top_k: 5, ..PLAIN }),
        (
            "top-p",
            Draw {
                top_p: 0.7,
                ..PLAIN
            },
        ),
        (
            "min-p",
            Draw {
                min_p: 0.2,
                ..PLAIN
            },
        ),
        (
            "all",
            Draw {
                top_k: 20,
                top_p: 0.9,
                min_p: 0.05,
                temperature: 1.3,
            },
        ),
    ];
    for (name, draw) in cases {
        let wanted = host
            .model
            .generate(&prompts, 6, &generation(draw, 18, 30, &[2, 9]))?;
        for slots in [18, 4] {
            let found =
                device
                    .model
                    .generate(&prompts, 6, &generation(draw, slots, 30, &[2, 9]))?;
            // A draw at the edge between two tokens may fall on either side. The tokens after it
            // then differ, too.
            let differ = found
                .iter()
                .zip(&wanted)
                .filter(|(a, b)| a.tokens != b.tokens || a.ending != b.ending)
                .count();
            let what = format!("{label}: {name} draws of 18 that differ, {slots} slots");
            verdicts.check(&what, differ as f64, 1.0);
        }
    }
    let letters = |tokens: &[u32]| {
        tokens
            .iter()
            .map(|t| char::from(b'a' + (t % 26) as u8))
            .collect::<String>()
    };
    let mut how = generation(PLAIN, 5, 30, &[2]);
    how.stop.texts = vec!["e".into(), "xy".into()];
    let how = Generation {
        decode: &letters,
        ..how
    };
    let (found, wanted) = (
        device.model.generate(&prompts, 6, &how)?,
        host.model.generate(&prompts, 6, &how)?,
    );
    let differ = found
        .iter()
        .zip(&wanted)
        .filter(|(a, b)| a.tokens != b.tokens || a.ending != b.ending)
        .count();
    verdicts.check(
        &format!("{label}: answers ended by texts that differ"),
        differ as f64,
        1.0,
    );
    Ok(())
}

/// If each token has an equally likely twin, truncation keeps both on either device.
fn twins(verdicts: &mut Verdicts, label: &str, kind: Kind) -> Outcome {
    let network = || {
        let mut network = kind.network();
        let (width, weights) = (network.config.hidden, &mut network.weights);
        for pair in weights
            .head
            .as_mut()
            .unwrap_or(&mut weights.embed)
            .data
            .chunks_exact_mut(2 * width)
        {
            let (first, second) = pair.split_at_mut(width);
            second.copy_from_slice(first);
        }
        network
    };
    let settings = tiny::training(3e-3, 400, Recompute::Auto);
    let (host, device) = (network(), network());
    let prompts = prompts(&host.config);
    let trained = |network: &Network| Trained::Lora(tiny::adapter(&network.config, 0.0));
    let (for_host, for_device) = (trained(&host), trained(&device));
    let host = Learner::new(host, for_host, settings.clone());
    let device = Learner::on_cuda(device, for_device, settings, Precision::F32)?;
    for (name, draw) in [
        ("top-k", Draw { top_k: 3, ..PLAIN }),
        (
            "top-p",
            Draw {
                top_p: 0.3,
                ..PLAIN
            },
        ),
    ] {
        let how = generation(draw, 18, 30, &[2, 9]);
        let (found, wanted) = (
            device.model.generate(&prompts, 6, &how)?,
            host.model.generate(&prompts, 6, &how)?,
        );
        let differ = found
            .iter()
            .zip(&wanted)
            .filter(|(a, b)| a.tokens != b.tokens || a.ending != b.ending)
            .count();
        verdicts.check(
            &format!("{label}: {name} draws of 18 among twins that differ"),
            differ as f64,
            1.0,
        );
    }
    Ok(())
}

/// Checks that requests which do not fit or are not supported give an error with numbers, not a
/// crash.
pub(crate) fn limits() -> Outcome {
    let kind = Kind::ALL[0];
    let mut config = hotloop_policy::model::Config {
        hidden: 512,
        ffn: 2048,
        layers: 1,
        ..kind.config_with_heads(64)
    };
    let lora = LoraConfig {
        rank: 4,
        alpha: 8.0,
        dropout: 0.0,
        targets: hotloop_policy::model::Module::ALL.to_vec(),
    };
    let mut engine = cuda::Engine::random(&config, Some(&lora), Precision::Bf16)?;
    let sequence = Sequence::answer(&[1], &vec![3; 400]);
    let huge = Pack::new(std::iter::repeat_n(&sequence, 40_000));
    let learn = cuda::Learn {
        temperature: 1.0,
        recompute: Recompute::Auto,
        dropout_seed: None,
    };
    match engine.learn(learn, &huge, &mut |_: usize, _: Scored| 0.0) {
        Err(error) if error.is_out_of_memory() => println!("   {error}"),
        Err(other) => return Err(other.into()),
        Ok(()) => return Err("16 million tokens fit: impossible".into()),
    }
    match engine.make_room(4, 1 << 36, 100) {
        Err(error) if error.is_out_of_memory() => println!("   {error}"),
        Err(other) => return Err(other.into()),
        Ok(()) => return Err("answers of seventy billion tokens fit: impossible".into()),
    }
    // Answers that do not fit at once are decoded one after the other. Each may use a quarter of
    // the memory, and ends with its first token.
    let longest = (18..40)
        .take_while(|size| engine.make_room(1, 1 << size, 100).is_ok())
        .last()
        .unwrap_or(18);
    let any: Vec<u32> = (0..config.vocab as u32).collect();
    let most = generation(PLAIN, 12, 1 << (longest - 2), &any);
    let answers = engine.generate(cuda::With::Trained, &[vec![1; 8], vec![2; 8]], 6, &most)?;
    if answers.len() != 12 || answers.iter().any(|answer| answer.tokens.len() != 1) {
        return Err("answers that do not fit at once are not whole".into());
    }
    println!(
        "   {} answers of up to {} tokens, which do not fit at once",
        answers.len(),
        most.stop.max_tokens
    );
    let prompts = vec![vec![1; 400]; 2];
    let small = Pack::new(&[Sequence::answer(&[1], &[3; 40])]);
    engine.learn(learn, &small, &mut |_: usize, _: Scored| 0.01)?;
    let answers = engine.generate(
        cuda::With::Trained,
        &prompts,
        2,
        &generation(PLAIN, 3, 100, &[]),
    )?;
    println!(
        "   afterwards it still learns and answers: {} answers",
        answers.len()
    );
    config.hidden = 60;
    match cuda::Engine::random(&config, None, Precision::Bf16) {
        Err(error @ cuda::Error::Shape(_)) => println!("   {error}"),
        Err(other) => return Err(other.into()),
        Ok(_) => return Err("a width of 60 was taken".into()),
    }
    Ok(())
}

/// Greedy tokens of a real model on the GPU and on the CPU.
pub(crate) fn gguf(arguments: &[String]) -> Outcome {
    let [path, rest @ ..] = arguments else {
        return Err("gguf MODEL [PROMPT]".into());
    };
    let prompt = rest
        .first()
        .map_or("Write a C function that adds two vectors.", String::as_str);
    let mut answers = Vec::new();
    for device in [Device::Cuda, Device::Cpu] {
        let clip = Clip {
            low: 0.2,
            high: 0.28,
            kl: 0.0,
        };
        let grpo = Grpo {
            clip,
            normalisation: Normalisation::Token,
            epochs: 1,
        };
        let training = tiny::training(1e-4, 4096, Recompute::Auto);
        let settings = Settings {
            learning: Learning::None,
            training,
            grpo,
            threads: 0,
            slots: 4,
            device,
            precision: None,
        };
        let engine = Engine::open(Path::new(path), settings)?;
        let turn = hotloop_policy::text::Turn {
            role: "user",
            content: prompt.to_owned(),
        };
        let tokens = engine.prompt(&[turn], "")?;
        let sampling = Sampling {
            temperature: 0.0,
            top_k: 0,
            top_p: 1.0,
            min_p: 0.0,
            max_tokens: 48,
            stop: Vec::new(),
            seed: 1,
        };
        let start = std::time::Instant::now();
        let completed = engine.complete(&[tokens], 1, &sampling)?.remove(0);
        println!(
            "{device:?} in {:.2?}: {:?}",
            start.elapsed(),
            completed.tokens
        );
        println!("{}", completed.text);
        answers.push(completed);
    }
    let same = answers[0]
        .tokens
        .iter()
        .zip(&answers[1].tokens)
        .take_while(|(a, b)| a == b)
        .count();
    println!("the first {same} tokens are equal");
    if same >= 8 {
        Ok(())
    } else {
        Err("fewer than 8 tokens are equal".into())
    }
}
