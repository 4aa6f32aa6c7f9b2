use hotloop_corpus::{Lengths, VOCABULARY, synth, tokenizer};

use crate::{SMALL, pool};

#[test]
fn candidates_are_short_and_survive_encoding() {
    let bpe = tokenizer(pool());
    assert_eq!(bpe.len(), VOCABULARY);
    let mut lengths = Vec::new();
    for program in pool().programs() {
        let source = program.source();
        let tokens = bpe.encode(&source);
        assert_eq!(bpe.decode(&tokens), source);
        lengths.push(tokens.len());
    }
    let lengths = Lengths::of(lengths);
    assert!(lengths.p95 <= 250 && lengths.mean < 130.0, "{lengths:?}");
}

#[test]
fn prompts_survive_encoding_with_their_control_tokens() {
    let bpe = tokenizer(pool());
    let first_byte = hotloop_corpus::nano_prompt::special_tokens().len() as u32;
    for record in synth(&SMALL).take(500) {
        let tokens = bpe.encode(&record.prompt);
        assert_eq!(bpe.decode(&tokens), record.prompt);
        let controls = tokens.iter().filter(|token| **token < first_byte).count();
        assert!((4..=8).contains(&controls), "{}", record.prompt);
    }
}

#[test]
fn the_tokenizer_file_lists_every_token_once() {
    let file = tokenizer(pool()).tokenizer_json();
    let vocabulary = file["model"]["vocab"].as_object().unwrap();
    let mut ids: Vec<u64> = vocabulary.values().map(|id| id.as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..VOCABULARY as u64).collect::<Vec<_>>());
    for merge in file["model"]["merges"].as_array().unwrap() {
        let joined = format!(
            "{}{}",
            merge[0].as_str().unwrap(),
            merge[1].as_str().unwrap()
        );
        assert!(vocabulary.contains_key(&joined), "{joined}");
    }
    assert_eq!(file["added_tokens"][0]["content"], "<pad>");
}
