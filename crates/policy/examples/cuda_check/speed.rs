//! Tokens per second, share of the machine's peak, and peak memory, for the shapes of Qwen2.5 with
//! random weights.

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use hotloop_policy::Precision;
use hotloop_policy::cuda::{self, Engine, Learn, Spent, Stepping, With};
use hotloop_policy::memory::Recompute;
use hotloop_policy::model::{Config, Family, LoraConfig, Module};
use hotloop_policy::pack::{Pack, Scored, Sequence};
use hotloop_policy::sample::{Draw, Generation, Stop};
use hotloop_policy::train::OptimConfig;
use serde_json::{Value, json};

use crate::Outcome;

/// The dense bf16 rate and memory bandwidth from the data sheet of the H200.
const PEAK_FLOPS: f64 = 989e12;
const PEAK_BYTES: f64 = 4.8e12;

/// The measurement options of the command line.
#[derive(Default)]
pub(crate) struct Asked {
    /// A file to which rows are also appended as JSON lines.
    json: Option<PathBuf>,
    /// Names of shapes. If empty, a section uses its own.
    models: Vec<String>,
}

impl Asked {
    /// Reads `--json FILE` and `--models NAME,NAME`.
    pub(crate) fn from_options(options: &[String]) -> Result<Self, Box<dyn Error>> {
        let mut asked = Self::default();
        for pair in options.chunks(2) {
            let [name, value] = pair else {
                return Err(format!("{} needs a value", pair[0]).into());
            };
            match name.as_str() {
                "--json" => asked.json = Some(value.into()),
                "--models" => asked.models = value.split(',').map(str::to_owned).collect(),
                _ => {
                    return Err(format!(
                        "no option {name}; there are --json and --models, behind the sections"
                    )
                    .into());
                }
            }
        }
        let known = SHAPES.each_ref().map(|shape| shape.name);
        match asked
            .models
            .iter()
            .find(|model| !known.contains(&model.as_str()))
        {
            Some(model) => Err(format!("no model {model}; there are {}", known.join(", ")).into()),
            None => Ok(asked),
        }
    }

    /// The shapes to measure: the requested ones, otherwise the first `usual` ones.
    pub(crate) fn shapes(&self, usual: usize) -> Vec<&'static Shape> {
        if self.models.is_empty() {
            return SHAPES[..usual].iter().collect();
        }
        SHAPES
            .iter()
            .filter(|shape| self.models.iter().any(|model| model == shape.name))
            .collect()
    }

    pub(crate) fn add(&self, row: &Value) {
        let Some(path) = &self.json else { return };
        let file = fs_err::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path);
        if let Err(error) = file.and_then(|mut file| writeln!(file, "{row}")) {
            println!("the row was not written: {error}");
        }
    }
}

pub(crate) struct Shape {
    pub(crate) name: &'static str,
    hidden: usize,
    layers: usize,
    heads: usize,
    kv_heads: usize,
    ffn: usize,
    vocab: usize,
    tied: bool,
}

#[rustfmt::skip]
pub(crate) static SHAPES: [Shape; 4] = [
    Shape { name: "0.5B", hidden: 896, layers: 24, heads: 14, kv_heads: 2, ffn: 4864, vocab: 151_936, tied: true },
    Shape { name: "1.5B", hidden: 1536, layers: 28, heads: 12, kv_heads: 2, ffn: 8960, vocab: 151_936, tied: true },
    Shape { name: "7B", hidden: 3584, layers: 28, heads: 28, kv_heads: 4, ffn: 18944, vocab: 152_064, tied: false },
    Shape { name: "14B", hidden: 5120, layers: 48, heads: 40, kv_heads: 8, ffn: 13824, vocab: 152_064, tied: false },
];

impl Shape {
    pub(crate) fn config(&self) -> Config {
        Config {
            family: Family::Qwen2,
            hidden: self.hidden,
            layers: self.layers,
            heads: self.heads,
            kv_heads: self.kv_heads,
            head_dim: self.hidden / self.heads,
            ffn: self.ffn,
            vocab: self.vocab,
            norm_eps: 1e-6,
            rope_theta: 1e6,
            rope_scaling: None,
            tied: self.tied,
            context: 4096,
            bos: None,
            eos: Vec::new(),
        }
    }

    /// The number of values in the weight matrices of products.
    fn multiplied(&self) -> f64 {
        let config = self.config();
        let layer: usize = Module::ALL
            .iter()
            .map(|module| module.shape(&config))
            .map(|(a, b)| a * b)
            .sum();
        (layer * self.layers + self.vocab * self.hidden) as f64
    }
}

pub(crate) fn lora() -> LoraConfig {
    LoraConfig {
        rank: 16,
        alpha: 32.0,
        dropout: 0.0,
        targets: Module::ALL.to_vec(),
    }
}

/// An empty adapter.
pub(crate) fn no_lora() -> LoraConfig {
    LoraConfig {
        targets: Vec::new(),
        ..lora()
    }
}

/// The measured speed of decoding.
pub(crate) struct Decoded {
    /// Tokens per second over all answers.
    pub(crate) speed: f64,
    /// Milliseconds per step.
    pub(crate) ms: f64,
    /// Share of the memory bandwidth.
    pub(crate) share: f64,
}

/// Decodes 600 tokens of `batch` answers.
pub(crate) fn decoded(
    engine: &mut Engine,
    shape: &Shape,
    batch: usize,
) -> Result<Decoded, cuda::Error> {
    let (short, tokens) = (8, 600);
    answer(engine, With::Trained, batch, tokens, short)?;
    let prefill = answer(engine, With::Trained, batch, tokens, short)?;
    let seconds = answer(engine, With::Trained, batch, tokens, tokens)? - prefill;
    let steps = (tokens - short) as f64;
    let config = shape.config();
    let cache = batch * (37 + tokens / 2) * 2 * config.kv_width() * config.layers * 2;
    let bytes = shape.multiplied() * 2.0 + cache as f64;
    let (speed, ms) = (batch as f64 * steps / seconds, seconds / steps * 1e3);
    Ok(Decoded {
        speed,
        ms,
        share: bytes * steps / seconds / PEAK_BYTES,
    })
}

fn gib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 30)
}

/// Decoding at batch 1, 64 and 256, 600 new tokens, without and with an adapter.
pub(crate) fn decode(asked: &Asked) -> Outcome {
    println!("model  batch  adapter  tokens/s  ms/step  of bandwidth  peak GiB");
    for shape in asked.shapes(4) {
        for (with, adapter) in [("none", &no_lora()), ("r16", &lora())] {
            let mut engine = Engine::random(&shape.config(), Some(adapter), Precision::Bf16)?;
            for batch in [1usize, 64, 256] {
                if with == "r16" && batch != 64 {
                    continue;
                }
                engine.take_peak();
                let Decoded { speed, ms, share } = decoded(&mut engine, shape, batch)?;
                let peak = gib(engine.take_peak());
                println!(
                    "{:<6} {batch:>5}  {with:<7} {speed:>9.0} {ms:>8.3} {:>12.1}% {peak:>9.2}",
                    shape.name,
                    share * 100.0,
                );
                asked.add(&json!({
                    "side": "engine", "section": "decode", "model": shape.name, "batch": batch, "adapter": with,
                    "tokens_per_second": speed, "ms_per_step": ms, "of_bandwidth": share, "peak_gib": peak,
                }));
            }
        }
    }
    Ok(())
}

/// Seconds of one call. It reserves room for `most` tokens, so that calls share memory and graphs.
fn answer(
    engine: &mut Engine,
    with: With,
    batch: usize,
    most: usize,
    tokens: usize,
) -> Result<f64, cuda::Error> {
    // The capacity depends on the longest prompt and limit, so a longer prompt compensates for
    // fewer tokens.
    let prompt: Vec<u32> = (0..37).map(|i| (i * 7919 + 13) % 40000).collect();
    let stop = Stop {
        tokens: Vec::new(),
        texts: Vec::new(),
        max_tokens: tokens,
    };
    let draw = Draw {
        temperature: 1.0,
        top_k: 0,
        top_p: 1.0,
        min_p: 0.0,
    };
    let how = Generation {
        draw,
        stop,
        seed: 1,
        slots: batch,
        decode: &|_| String::new(),
        halt: &hotloop_policy::sample::NEVER,
    };
    engine.make_room(batch, 37 + most, most)?;
    let start = Instant::now();
    engine.generate(with, &[prompt], batch, &how)?;
    engine.wait()?;
    Ok(start.elapsed().as_secs_f64())
}

/// Shows where the time of a decode step with 64 answers and of a training step goes.
pub(crate) fn profile() -> Outcome {
    for shape in &SHAPES[..2] {
        let mut engine = Engine::random(&shape.config(), Some(&lora()), Precision::Bf16)?;
        engine.make_room(64, 700, 600)?;
        for (with, name) in [(With::Nothing, "no adapter"), (With::Trained, "r16")] {
            print_spent(
                &format!("{} decode, 64 answers, {name}", shape.name),
                &engine.trace_decode(with, 64, 337)?,
            );
        }
        let pack = training_pack(16);
        let learn = Learn {
            temperature: 1.0,
            recompute: Recompute::Off,
            dropout_seed: None,
        };
        engine.learn(learn, &pack, &mut |_, _| -1e-4)?;
        let spent = engine.trace(|engine| engine.learn(learn, &pack, &mut |_, _| -1e-4))?;
        print_spent(
            &format!("{} LoRA r16, 16 x 1024, recompute off", shape.name),
            &spent,
        );
    }
    Ok(())
}

fn print_spent(title: &str, spent: &[Spent]) {
    let all: f64 = spent.iter().map(|spent| spent.ms).sum();
    println!("{title}: {all:.3} ms\n  times      ms   each us  what");
    for Spent { what, times, ms } in spent {
        println!(
            "  {times:>5} {ms:>7.3} {:>9.1}  {what}",
            ms / *times as f64 * 1e3
        );
    }
}

/// Tokens of a sequence in training.
const LENGTH: usize = 1024;

fn training_pack(batch: usize) -> Pack {
    let sequence = |nth: usize| {
        let tokens: Vec<u32> = (0..LENGTH)
            .map(|i| ((nth * LENGTH + i) * 7919 % 40013) as u32)
            .collect();
        Sequence::answer(&tokens[..1], &tokens[1..])
    };
    Pack::new(&(0..batch).map(sequence).collect::<Vec<_>>())
}

/// Steps of 16 x 1024 tokens: forward, backward, norm, `AdamW`.
pub(crate) fn train(with_lora: bool, asked: &Asked) -> Outcome {
    println!("model  mode  recompute  ms/step  tokens/s  MFU  peak GiB");
    let mut failures = 0;
    for shape in asked.shapes(3) {
        for recompute in [Recompute::Off, Recompute::On] {
            match row(shape, with_lora, recompute, 16) {
                Ok(found) => asked.add(&found),
                Err(error) if error.is_out_of_memory() => {
                    println!("{:<6} {recompute:?}: {error}", shape.name);
                }
                Err(error) => {
                    println!("{:<6} {recompute:?}: {error}", shape.name);
                    failures += 1;
                }
            }
        }
    }
    if failures == 0 {
        Ok(())
    } else {
        Err(format!("{failures} measurements failed").into())
    }
}

/// Checks that a 14B model with an adapter fits.
pub(crate) fn fourteen(asked: &Asked) -> Outcome {
    println!("model  mode  recompute  ms/step  tokens/s  MFU  peak GiB");
    asked.add(&row(&SHAPES[3], true, Recompute::On, 16)?);
    asked.add(&row(&SHAPES[3], true, Recompute::Auto, 4)?);
    Ok(())
}

fn row(
    shape: &Shape,
    with_lora: bool,
    recompute: Recompute,
    batch: usize,
) -> Result<Value, cuda::Error> {
    let config = shape.config();
    let mut engine = Engine::random(&config, with_lora.then(lora).as_ref(), Precision::Bf16)?;
    let pack = training_pack(batch);
    let each = 1.0 / pack.targets.len() as f32;
    let optim = OptimConfig {
        beta1: 0.9,
        beta2: 0.95,
        eps: 1e-8,
        weight_decay: 0.0,
        max_norm: 1.0,
    };
    let mut step = |number: u64| -> Result<(f64, f64), cuda::Error> {
        let mut loss = 0.0;
        engine.clear_gradient()?;
        let learn = Learn {
            temperature: 1.0,
            recompute,
            dropout_seed: None,
        };
        engine.learn(learn, &pack, &mut |_: usize, scored: Scored| {
            loss -= f64::from(scored.logprob * each);
            -each
        })?;
        let norm = engine.gradient_norm()?;
        engine.step(Stepping {
            config: optim,
            step: number,
            rate: 1e-5,
            norm,
        })?;
        engine.wait()?;
        Ok((loss, norm))
    };
    step(1)?;
    let (warm_loss, _) = step(2)?;
    let (start, times) = (Instant::now(), 5);
    let mut last = (0.0, 0.0);
    for number in 0..times {
        last = step(3 + number)?;
    }
    let seconds = start.elapsed().as_secs_f64() / times as f64;
    let rows = pack.rows() as f64;
    // Products count forward and the gradient of inputs, and in full training that of weights.
    // Causal attention counts half.
    let passes = if with_lora { 4.0 } else { 6.0 };
    let attention = 6.0 * LENGTH as f64 * config.q_width() as f64 * config.layers as f64;
    let flops = rows * (passes * shape.multiplied() + attention);
    let (mode, recompute) = (
        if with_lora { "lora" } else { "full" },
        format!("{recompute:?}").to_lowercase(),
    );
    let (ms, speed, mfu, peak) = (
        seconds * 1e3,
        rows / seconds,
        flops / seconds / PEAK_FLOPS,
        gib(engine.take_peak()),
    );
    println!(
        "{:<6} {mode:<5} {recompute:<9} {ms:>8.1} {speed:>9.0} {:>4.1}% {peak:>8.2}   loss \
         {warm_loss:.3} -> {:.3}, norm {:.3}",
        shape.name,
        mfu * 100.0,
        last.0,
        last.1,
    );
    Ok(json!({
        "side": "engine", "section": "train", "model": shape.name, "mode": mode, "recompute": recompute, "batch": batch,
        "ms_per_step": ms, "tokens_per_second": speed, "mfu": mfu, "peak_gib": peak, "loss": [warm_loss, last.0],
        "norm": last.1,
    }))
}
