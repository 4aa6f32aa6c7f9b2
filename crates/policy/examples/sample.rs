//! Loads a model and prints a completion: `cargo run --release -p hotloop-policy --example sample
//! [MODEL [PROMPT]]`.

#![expect(clippy::print_stdout, reason = "a command that reports")]

use std::error::Error;
use std::path::Path;

use hotloop_policy::{Device, Engine, Sampling, Settings};

const NANO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/nano");

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let model = arguments.next().unwrap_or_else(|| NANO.to_owned());
    let prompt = arguments.next().unwrap_or_else(|| "matmul".to_owned());
    let engine = Engine::open(Path::new(&model), Settings::answering(0, Device::Auto))?;
    let sampling = Sampling {
        temperature: 0.8,
        top_k: 0,
        top_p: 1.0,
        min_p: 0.0,
        max_tokens: 60,
        stop: Vec::new(),
        seed: 1,
    };
    let tokens = engine.text().encode(&prompt);
    let completions = engine.complete(&[tokens], 1, &sampling)?;
    println!("{prompt}{}", completions[0].text);
    Ok(())
}
