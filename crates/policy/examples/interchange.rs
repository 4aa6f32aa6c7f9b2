//! What `tests/interchange.py` needs of the engine.
//!
//! ```text
//! interchange train MODEL full|lora OUT          three supervised steps, then saved to OUT
//! interchange logits MODEL ADAPTER|- TOKENS OUT  logits of every row, as JSON
//! ```

use std::error::Error;
use std::path::Path;

use hotloop_policy::cpu::{Adapted, Network};
use hotloop_policy::load::Checkpoint;
use hotloop_policy::memory::Recompute;
use hotloop_policy::model::{Adapter, LoraConfig, Module};
use hotloop_policy::pack::{Pack, Sequence};
use hotloop_policy::save::{self, Base};
use hotloop_policy::train::{Decay, Learner, OptimConfig, Schedule, Trained, Training};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["train", model, kind, out] => train(Path::new(model), kind, Path::new(out)),
        ["logits", model, adapter, tokens, out] => logits(Path::new(model), adapter, tokens, out),
        _ => Err(
            "usage: interchange train MODEL full|lora OUT, or interchange logits MODEL \
                ADAPTER|- TOKENS OUT"
                .into(),
        ),
    }
}

fn open(model: &Path) -> Result<(Network, Option<hotloop_policy::text::Text>), Box<dyn Error>> {
    let checkpoint = Checkpoint::open(model)?;
    let (text, weights) = (checkpoint.text().ok(), checkpoint.weights()?);
    Ok((Network::new(checkpoint.config, weights), text))
}

fn train(model: &Path, kind: &str, out: &Path) -> Result<(), Box<dyn Error>> {
    let (network, text) = open(model)?;
    let base = Base {
        name: model.display().to_string(),
        hash: network.weights.fingerprint(),
    };
    let config = LoraConfig {
        rank: 8,
        alpha: 16.0,
        dropout: 0.0,
        targets: Module::ALL.to_vec(),
    };
    let (trained, peak) = match kind {
        "full" => (Trained::Full, 1e-4),
        _ => (
            Trained::Lora(Adapter::fresh(&network.config, &config, 3)),
            1e-2,
        ),
    };
    let training = Training {
        optim: OptimConfig {
            beta1: 0.9,
            beta2: 0.95,
            eps: 1e-8,
            weight_decay: 0.0,
            max_norm: 1.0,
        },
        schedule: Schedule {
            peak,
            warmup: 0,
            decay: Decay::Constant,
        },
        pack_tokens: 512,
        recompute: Recompute::On,
        seed: 0,
    };
    let vocab = network.config.vocab as u32;
    let mut learner = Learner::new(network, trained, training);
    let tokens: Vec<u32> = (0..40).map(|i| (i * 31 + 7) % vocab).collect();
    for _ in 0..3 {
        learner.supervise(&[Sequence::answer(&tokens[..5], &tokens[5..])])?;
    }
    save::learner(out, &learner, &base, text.as_ref())?;
    Ok(())
}

fn logits(model: &Path, adapter: &str, tokens: &str, out: &str) -> Result<(), Box<dyn Error>> {
    let (network, _) = open(model)?;
    let tokens: Vec<u32> = serde_json::from_str(&fs_err::read_to_string(tokens)?)?;
    let pack = Pack::new(&[Sequence::answer(&tokens, &[])]);
    let adapter = match adapter {
        "-" => None,
        path => Some(save::load_adapter(
            Path::new(path),
            &network.config,
            &network.weights.fingerprint(),
        )?),
    };
    let logits = network.logits(adapter.as_ref().map(Adapted::plain), &pack);
    fs_err::write(out, serde_json::to_string(&logits)?)?;
    Ok(())
}
