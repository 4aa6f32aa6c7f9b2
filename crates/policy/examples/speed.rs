//! Measures how fast the engine decodes and trains on this CPU. `tests/speed.py` compares it with
//! PyTorch.
//!
//! ```text
//! speed MODEL THREADS decode BATCH TOKENS         a prompt of 37 tokens, then TOKENS more for each answer
//! speed MODEL THREADS lora|full BATCH LENGTH      forward and backward of BATCH x LENGTH tokens, no optimiser
//! ```
//!
//! `SPEED_PRECISION` is the precision of the frozen weights: `bf16` or `f32`, the default.
//!
//! Writes one JSON line to the file named by `SPEED_OUT`, or to `speed.json`.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use hotloop_policy::cpu::{Adapted, Gradient, Network, Pass};
use hotloop_policy::load::Checkpoint;
use hotloop_policy::memory::Recompute;
use hotloop_policy::model::{Adapter, LoraConfig, Module};
use hotloop_policy::pack::{Pack, Scored, Sequence};
use hotloop_policy::sample::{Draw, Generation, Stop};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, threads, what, batch, length] = &arguments[..] else {
        return Err("usage: speed MODEL THREADS decode|lora|full BATCH LENGTH".into());
    };
    let (batch, length): (usize, usize) = (batch.parse()?, length.parse()?);
    let checkpoint = Checkpoint::open(Path::new(model))?;
    let precision = std::env::var("SPEED_PRECISION").unwrap_or_else(|_| "f32".into());
    let (weights, _) = checkpoint.frozen(Some(precision.parse()?))?;
    let weights_mib = weights.bytes() >> 20;
    let network = Network::new(checkpoint.config, weights);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.parse()?)
        .build()?;
    let recompute = if std::env::var_os("SPEED_KEEP").is_some() {
        Recompute::Off
    } else {
        Recompute::On
    };
    let cpu = cpu_seconds()?;
    let (seconds, tokens) = pool.install(|| match what.as_str() {
        "decode" => decode(&network, batch, length),
        _ => train(&network, what == "lora", batch, length, recompute),
    });
    let out = serde_json::json!({
        "what": what, "batch": batch, "length": length, "threads": pool.current_num_threads(),
        "seconds": seconds, "cpu_seconds": cpu_seconds()? - cpu, "tokens_per_second": tokens as f64 / seconds,
        "peak_mib": peak_mib()?, "weights_mib": weights_mib, "precision": precision,
    });
    let path = std::env::var("SPEED_OUT").unwrap_or_else(|_| "speed.json".into());
    fs_err::write(path, format!("{out}\n"))?;
    Ok(())
}

/// Seconds of decoding alone. The time of the same prompt with one token is subtracted.
fn decode(network: &Network, batch: usize, tokens: usize) -> (f64, usize) {
    let prompt: Vec<u32> = (0..37).map(|i| (i * 7919 + 13) % 40000).collect();
    let run = |max_tokens| {
        let how = Generation {
            draw: Draw {
                temperature: 1.0,
                top_k: 0,
                top_p: 1.0,
                min_p: 0.0,
            },
            stop: Stop {
                tokens: Vec::new(),
                texts: Vec::new(),
                max_tokens,
            },
            seed: 1,
            slots: batch,
            decode: &|_| String::new(),
            halt: &hotloop_policy::sample::NEVER,
        };
        let start = Instant::now();
        network.generate(None, std::slice::from_ref(&prompt), batch, &how);
        start.elapsed().as_secs_f64()
    };
    run(2);
    let prefill = run(1);
    (run(tokens + 1) - prefill, batch * tokens)
}

fn train(
    network: &Network,
    lora: bool,
    batch: usize,
    length: usize,
    recompute: Recompute,
) -> (f64, usize) {
    let vocab = network.config.vocab as u32;
    let sequence = |nth: usize| {
        let tokens: Vec<u32> = (0..=length)
            .map(|i| ((nth * length + i) as u32 * 7919 + 13) % vocab.min(40000))
            .collect();
        Sequence::answer(&tokens[..1], &tokens[1..])
    };
    let sequences: Vec<Sequence> = (0..batch).map(sequence).collect();
    let pack = Pack::new(&sequences);
    let config = LoraConfig {
        rank: 16,
        alpha: 32.0,
        dropout: 0.0,
        targets: Module::ALL.to_vec(),
    };
    let adapter = Adapter::fresh(&network.config, &config, 1);
    let mut gradient = if lora {
        Gradient::Lora(adapter.zeroed())
    } else {
        Gradient::Full(network.weights.zeroed())
    };
    let share = 1.0 / pack.targets.len() as f32;
    let with = lora.then(|| Adapted::plain(&adapter));
    let start = Instant::now();
    let pass = Pass {
        adapted: with,
        temperature: 1.0,
        recompute,
    };
    network.learn(
        pass,
        &pack,
        &mut |_: usize, _: Scored| -share,
        &mut gradient,
    );
    (start.elapsed().as_secs_f64(), batch * length)
}

fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    let stat = fs_err::read_to_string("/proc/self/stat")?;
    let after = stat
        .rsplit_once(") ")
        .ok_or("no process name in /proc/self/stat")?
        .1;
    let ticks = after
        .split(' ')
        .skip(11)
        .take(2)
        .map(str::parse::<f64>)
        .sum::<Result<f64, _>>()?;
    Ok(ticks / 100.0)
}

fn peak_mib() -> Result<u64, Box<dyn Error>> {
    let status = fs_err::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .ok_or("no VmHWM in /proc/self/status")?;
    Ok(line.trim().trim_end_matches(" kB").trim().parse::<u64>()? / 1024)
}
