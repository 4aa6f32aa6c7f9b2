//! Answers have the trainer's logprobs, seeds are reproducible, and slots are reused.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hotloop_flow::policy::{Completion, Ending};
use hotloop_policy::cpu::{Adapted, Network};
use hotloop_policy::model::Adapter;
use hotloop_policy::pack::{Pack, Sequence};
use hotloop_policy::sample::{Draw, Generation, Stop};

use crate::fixture::{FAMILIES, Fixture};

pub(crate) fn generation(temperature: f32, max_tokens: usize, seed: u64) -> Generation<'static> {
    Generation {
        draw: Draw {
            temperature,
            top_k: 0,
            top_p: 1.0,
            min_p: 0.0,
        },
        stop: Stop {
            tokens: Vec::new(),
            texts: Vec::new(),
            max_tokens,
        },
        seed,
        slots: 5,
        decode: &|_| String::new(),
        halt: &hotloop_policy::sample::NEVER,
    }
}

/// The largest distance between the sampler's logprobs and the trainer's.
pub(crate) fn gap(network: &Network, adapter: Option<&Adapter>, temperature: f32) -> f32 {
    let with = adapter.map(Adapted::plain);
    let prompts = vec![vec![1, 5, 9], vec![2; 70]];
    let answers = network.generate(with, &prompts, 4, &generation(temperature, 30, 11));
    let sequences: Vec<_> = answers
        .iter()
        .enumerate()
        .map(|(number, answer)| Sequence::answer(&prompts[number / 4], &answer.tokens))
        .collect();
    let scored = network.score(with, &Pack::new(&sequences), temperature);
    let sampled = answers.iter().flat_map(|answer| &answer.logprobs);
    assert_eq!(sampled.clone().count(), scored.len());
    sampled
        .zip(&scored)
        .map(|(sampled, scored)| (sampled - scored.logprob).abs())
        .fold(0.0, f32::max)
}

#[test]
fn the_sampler_and_the_trainer_agree_on_logprobs() {
    for name in FAMILIES {
        let fixture = Fixture::load(name);
        let network = fixture.network();
        let adapter = fixture.adapter(&network);
        for temperature in [0.3, 1.0] {
            for adapter in [None, Some(&adapter)] {
                let gap = gap(&network, adapter, temperature);
                assert!(gap < 2e-4, "{name} at {temperature}: {gap}");
            }
        }
    }
}

#[test]
fn slots_and_other_answers_do_not_change_an_answer() {
    let network = Fixture::load("qwen2").network();
    let prompts = vec![vec![1, 2, 3], vec![4, 5]];
    let many = network.generate(None, &prompts, 6, &generation(1.0, 12, 40));
    let alone = network.generate(
        None,
        &prompts[1..],
        1,
        &Generation {
            slots: 1,
            ..generation(1.0, 12, 40 + 8)
        },
    );
    assert_eq!(many.len(), 12);
    assert_eq!(
        many[8].tokens, alone[0].tokens,
        "answer 8 is the third to the second prompt, with seed 40 + 8"
    );
    let distinct: std::collections::HashSet<_> =
        many[..6].iter().map(|answer| &answer.tokens).collect();
    assert!(distinct.len() > 1, "seeds differ within a group");
}

#[test]
fn answers_end_by_token_and_by_length() {
    let network = Fixture::load("llama").network();
    let mut how = generation(1.5, 40, 3);
    how.stop.tokens = vec![7, 8, 9];
    let answers = network.generate(None, &[vec![1]], 32, &how);
    let ended = |answer: &&Completion| {
        let last = *answer.tokens.last().unwrap();
        let earlier = &answer.tokens[..answer.tokens.len() - 1];
        assert!(!earlier.iter().any(|token| how.stop.tokens.contains(token)));
        assert_eq!(
            answer.ending == Ending::Stop,
            how.stop.tokens.contains(&last)
        );
        assert!(answer.ending == Ending::Stop || answer.tokens.len() == 40);
        answer.ending == Ending::Stop
    };
    let stopped = answers.iter().filter(ended).count();
    assert!(stopped > 0, "some of 32 answers meet a stop token");
}

#[test]
fn a_halt_ends_answers_between_two_tokens() {
    let network = Fixture::load("qwen2").network();
    let prompts = vec![vec![1, 2, 3], vec![4, 5]];
    let halt = AtomicBool::new(false);
    let looks = AtomicUsize::new(0);
    // The test observes tokens through the search for a stop text.
    let decode = |_: &[u32]| {
        halt.store(
            looks.fetch_add(1, Ordering::Relaxed) >= 12,
            Ordering::Relaxed,
        );
        String::new()
    };
    let stop = Stop {
        tokens: Vec::new(),
        texts: vec!["never".to_owned()],
        max_tokens: 200,
    };
    let how = Generation {
        stop,
        decode: &decode,
        halt: &halt,
        ..generation(1.0, 200, 40)
    };
    assert_eq!(
        network.generate(None, &prompts, 6, &how).len(),
        12,
        "a place for each, whole or not"
    );
    let looks = looks.load(Ordering::Relaxed);
    assert!(
        (13..13 + how.slots).contains(&looks),
        "{looks} tokens: the round under way is the last"
    );
}
