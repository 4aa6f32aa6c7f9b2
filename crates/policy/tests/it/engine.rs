//! The engine through `hotloop_flow::Policy`: chats in, completions out, updates that are saved and
//! resumed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hotloop_flow::policy::{
    Chat, Completion, Message, Policy, PolicyError, Sampling, Speaker, WeightedTokens,
};
use hotloop_policy::EnginePolicy;
use hotloop_policy::engine::{Engine, Learning, Settings};
use hotloop_policy::memory::Recompute;
use hotloop_policy::model::{LoraConfig, Module};
use hotloop_policy::save::Storage;
use hotloop_policy::text::Turn;
use hotloop_policy::train::Grpo;
use hotloop_policy::train::loss::{Clip, Normalisation};

use crate::fixture::{folder, training};

pub(crate) fn settings(learning: Learning, kl: f32) -> Settings {
    let clip = Clip {
        low: 0.2,
        high: 0.28,
        kl,
    };
    Settings {
        learning,
        training: training(1e-2, Recompute::On),
        grpo: Grpo {
            clip,
            normalisation: Normalisation::Sequence,
            epochs: 2,
        },
        threads: 1,
        slots: 4,
        device: hotloop_policy::Device::Cpu,
        precision: None,
    }
}

pub(crate) fn lora() -> Learning {
    Learning::Lora(
        LoraConfig {
            rank: 4,
            alpha: 8.0,
            dropout: 0.0,
            targets: Module::ALL.to_vec(),
        },
        3,
    )
}

fn policy(learning: Learning) -> EnginePolicy {
    EnginePolicy::new(Engine::open(&folder().join("tiny.gguf"), settings(learning, 0.02)).unwrap())
}

fn chat(content: &str) -> Chat {
    Chat {
        messages: vec![Message {
            role: Speaker::User,
            content: content.into(),
        }],
        begun: "he".into(),
    }
}

fn sampling() -> Sampling {
    Sampling {
        temperature: 0.9,
        top_k: 0,
        top_p: 1.0,
        min_p: 0.0,
        max_tokens: 10,
        stop: Vec::new(),
        seed: 9,
    }
}

fn weighted(completions: &[Completion]) -> Vec<WeightedTokens> {
    let each = |(nth, completion): (usize, &Completion)| WeightedTokens {
        prompt_tokens: completion.prompt_tokens.clone(),
        tokens: completion.tokens.clone(),
        logprobs: completion.logprobs.clone(),
        temperature: sampling().temperature,
        advantage: if nth % 2 == 0 { 1.0 } else { -1.0 },
    };
    completions.iter().enumerate().map(each).collect()
}

#[test]
fn chats_are_answered_chat_by_chat() {
    let mut policy = policy(Learning::None);
    let completions = policy
        .sample(&[chat("hello"), chat("world")], 3, &sampling())
        .unwrap();
    assert_eq!(completions.len(), 6);
    assert_eq!(completions[0].prompt_tokens, completions[2].prompt_tokens);
    assert_ne!(completions[2].prompt_tokens, completions[3].prompt_tokens);
    for completion in &completions {
        assert_eq!(completion.tokens.len(), completion.logprobs.len());
        assert!(completion.tokens.len() <= 10 && !completion.tokens.is_empty());
    }
    assert!(matches!(
        policy.update(&weighted(&completions)),
        Err(PolicyError::Unsupported("update"))
    ));
    assert!(!policy.capabilities().learns);
}

#[test]
fn a_nan_update_is_distinguished_from_a_machine_failure() {
    let mut policy = policy(lora());
    let completions = policy.sample(&[chat("hello")], 2, &sampling()).unwrap();
    let mut batch = weighted(&completions);
    batch[0].advantage = f64::INFINITY;
    let error = policy.update(&batch).unwrap_err();
    assert!(matches!(error, PolicyError::Diverged(_)), "{error:?}");
    policy.update(&weighted(&completions)).unwrap();
}

#[test]
fn an_update_raises_rewarded_answers_and_resumes_bit_for_bit() {
    for learning in [lora(), Learning::Full] {
        let mut straight = policy(learning.clone());
        let completions = straight.sample(&[chat("hello")], 8, &sampling()).unwrap();
        let batch = weighted(&completions);
        let update = straight.update(&batch).unwrap();
        assert!(
            update.sampler_gap < 1e-4 && update.gradient_norm > 0.0,
            "{update:?}"
        );
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("step-1");
        straight.save(&path).unwrap();
        let mut resumed = policy(learning.clone());
        resumed.load(&path).unwrap();
        assert_eq!(
            straight.update(&batch).unwrap(),
            resumed.update(&batch).unwrap(),
            "{learning:?}"
        );
        let (a, b) = (
            straight.sample(&[chat("hello")], 4, &sampling()),
            resumed.sample(&[chat("hello")], 4, &sampling()),
        );
        assert_eq!(a.unwrap(), b.unwrap());
    }
}

#[test]
fn a_snapshot_is_saved_as_it_was_taken() {
    let directory = tempfile::tempdir().unwrap();
    let mut engine = Engine::open(&folder().join("tiny.gguf"), settings(lora(), 0.02)).unwrap();
    let turn = |role, content: &str| hotloop_policy::text::Turn {
        role,
        content: content.to_owned(),
    };
    let example = engine
        .example(&[turn("user", "hello"), turn("assistant", "world")])
        .unwrap();
    let batch = std::slice::from_ref(&example);
    engine.supervise(batch).unwrap();
    let kept = engine.keep().unwrap().unwrap();
    let [then, later, now] = ["then", "later", "now"].map(|name| directory.path().join(name));
    engine.save(&then).unwrap();
    engine.supervise(batch).unwrap();
    engine.save_kept(&kept, &later).unwrap();
    engine.save(&now).unwrap();
    let read = |path: &std::path::Path| {
        let bytes = |name: &str| fs_err::read(path.join(name)).unwrap();
        // Compares the content, because the order of other entries in the header is random.
        let tensors = ["adapter_model.safetensors", "optimiser.safetensors"].map(|name| {
            let bytes = bytes(name);
            let read = safetensors::SafeTensors::deserialize(&bytes).unwrap();
            let each = read.iter().map(|(name, tensor)| {
                (
                    name.to_owned(),
                    tensor.shape().to_vec(),
                    tensor.data().to_vec(),
                )
            });
            each.collect::<std::collections::BTreeSet<_>>()
        });
        (tensors, ["adapter_config.json", "progress.json"].map(bytes))
    };
    assert!(read(&then) == read(&later));
    assert!(
        read(&then)
            .0
            .iter()
            .zip(&read(&now).0)
            .all(|(then, now)| then != now),
        "both files have learned"
    );
    let full = Engine::open(&folder().join("tiny.gguf"), settings(Learning::Full, 0.02)).unwrap();
    assert!(
        full.keep().unwrap().is_none(),
        "all weights would take their memory again"
    );
}

#[test]
fn positive_advantages_raise_and_negative_ones_lower_the_logprob() {
    let mut policy = policy(lora());
    let completions = policy.sample(&[chat("hello")], 8, &sampling()).unwrap();
    let batch = weighted(&completions);
    let score = |policy: &EnginePolicy| -> Vec<f32> {
        let learner = policy.engine().learner();
        let mean = |item: &WeightedTokens| {
            let pack = hotloop_policy::pack::Pack::new(&[hotloop_policy::pack::Sequence::answer(
                &item.prompt_tokens,
                &item.tokens,
            )]);
            let scored = learner
                .model
                .network
                .score(learner.model.adapted(), &pack, 0.9);
            scored.iter().map(|scored| scored.logprob).sum::<f32>() / scored.len() as f32
        };
        batch.iter().map(mean).collect()
    };
    let before = score(&policy);
    for _ in 0..4 {
        policy.update(&batch).unwrap();
    }
    let after = score(&policy);
    let gain = |parity: usize| -> f32 {
        after
            .iter()
            .zip(&before)
            .skip(parity)
            .step_by(2)
            .map(|(after, before)| after - before)
            .sum()
    };
    assert!(
        gain(0) > 0.1 && gain(1) < -0.1,
        "praised {} blamed {}",
        gain(0),
        gain(1)
    );
}

#[test]
fn a_prompt_beyond_the_context_is_an_error_with_its_numbers() {
    let mut policy = policy(Learning::None);
    let error = policy
        .sample(
            &[chat("hello")],
            1,
            &Sampling {
                max_tokens: 250,
                ..sampling()
            },
        )
        .unwrap_err();
    assert!(
        matches!(
            error,
            PolicyError::ContextExceeded {
                answer: 250,
                context: 256,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn prompts_that_no_model_can_continue_are_errors() {
    let policy = policy(Learning::None);
    let sampling = Sampling {
        temperature: 0.0,
        stop: vec![String::new()],
        max_tokens: 3,
        seed: 0,
        ..sampling()
    };
    let refused = |prompt: Vec<u32>| {
        policy
            .engine()
            .complete(&[vec![1], prompt], 1, &sampling)
            .unwrap_err()
            .to_string()
    };
    assert!(refused(Vec::new()).contains("prompt 1 is empty"));
    assert!(refused(vec![5, 64]).contains("token 64 of a prompt is outside the vocabulary of 64"));
    let answers = policy.engine().complete(&[vec![5]], 1, &sampling).unwrap();
    assert!(
        answers[0].tokens.len() == 3 || answers[0].tokens.ends_with(&[2]),
        "an empty stop text stops nothing"
    );
}

#[test]
fn a_stop_text_ends_an_answer_and_is_cut_off() {
    let mut policy = policy(Learning::None);
    let free = policy.sample(&[chat("hello")], 12, &sampling()).unwrap();
    // A piece of the random model's longest answer serves as a stop text.
    let longest = free
        .iter()
        .max_by_key(|completion| completion.text.chars().count())
        .unwrap()
        .text
        .clone();
    let stop: String = longest.chars().skip(2).take(2).collect();
    assert_eq!(
        stop.chars().count(),
        2,
        "the answers are too short to cut: {longest:?}"
    );
    let stopped = policy
        .sample(
            &[chat("hello")],
            12,
            &Sampling {
                stop: vec![stop.clone()],
                ..sampling()
            },
        )
        .unwrap();
    for (free, stopped) in free.iter().zip(&stopped) {
        assert_eq!(stopped.text, free.text.split(&stop).next().unwrap());
        assert!(free.tokens.starts_with(&stopped.tokens));
    }
    assert!(
        stopped
            .iter()
            .zip(&free)
            .any(|(stopped, free)| stopped.tokens.len() < free.tokens.len())
    );
}

#[test]
fn a_stop_text_that_is_a_special_token_ends_an_answer() {
    let mut policy = policy(Learning::None);
    let free = policy.sample(&[chat("hello")], 64, &sampling()).unwrap();
    let with = |tokens: &[u32], special: u32| tokens[..tokens.len() - 1].contains(&special);
    let said = free
        .iter()
        .filter(|completion| with(&completion.tokens, 1))
        .count();
    assert!(said > 0, "no answer says <|im_start|> before its end");
    let stop = vec!["<|im_start|>".to_owned()];
    let stopped = policy
        .sample(&[chat("hello")], 64, &Sampling { stop, ..sampling() })
        .unwrap();
    for (free, stopped) in free.iter().zip(&stopped) {
        assert!(
            free.tokens.starts_with(&stopped.tokens) && !with(&stopped.tokens, 1),
            "{:?}",
            stopped.tokens
        );
    }
    let shorter = stopped
        .iter()
        .zip(&free)
        .filter(|(stopped, free)| stopped.tokens.len() < free.tokens.len());
    assert_eq!(shorter.count(), said);
}

#[test]
fn an_adapter_becomes_the_reference_of_the_next_training() {
    let mut first = policy(lora());
    let completions = first.sample(&[chat("hello")], 4, &sampling()).unwrap();
    first.update(&weighted(&completions)).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("adapter");
    first.save(&path).unwrap();
    let mut second = policy(Learning::None);
    second.engine_mut().start_from_adapter(&path).unwrap();
    let mut plain = settings(lora(), 0.02);
    plain.grpo.epochs = 1;
    let mut one = EnginePolicy::new(Engine::open(&folder().join("tiny.gguf"), plain).unwrap());
    one.engine_mut().start_from_adapter(&path).unwrap();
    let drawn = one.sample(&[chat("hello")], 4, &sampling()).unwrap();
    let update = one.update(&weighted(&drawn)).unwrap();
    let divergence = update.kl.expect("there is a reference");
    assert!(
        divergence.abs() < 1e-9,
        "at the start the policy is its own reference, yet the divergence is {divergence}"
    );
    let drawn = second.sample(&[chat("hello")], 4, &sampling()).unwrap();
    assert!(
        second.update(&weighted(&drawn)).is_ok(),
        "it learns from now on"
    );
}

#[test]
fn without_a_reference_no_divergence_is_reported() {
    for (weight, measured) in [(0.0, false), (0.02, true)] {
        let engine = Engine::open(&folder().join("tiny.gguf"), settings(lora(), weight)).unwrap();
        let mut policy = EnginePolicy::new(engine);
        let completions = policy.sample(&[chat("hello")], 4, &sampling()).unwrap();
        let update = policy.update(&weighted(&completions)).unwrap();
        assert_eq!(
            update.kl.is_some(),
            measured,
            "a weight of {weight}: {update:?}"
        );
    }
}

#[test]
fn an_opened_adapter_learns_instead_of_all_weights() {
    let first = policy(lora());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("adapter");
    first.save(&path).unwrap();
    let model = folder().join("tiny.gguf");
    let engine = Engine::open_with_adapter(&model, &path, settings(Learning::Full, 0.02)).unwrap();
    assert!(matches!(&engine.settings().learning, Learning::Lora(config, _) if config.rank == 4));
    assert_eq!(
        engine.learner().model.parameters(),
        first.engine().learner().model.parameters()
    );
    let plain = Engine::open(&model, settings(lora(), 0.02)).unwrap();
    assert_eq!(
        engine.learner().model.network.weights,
        plain.learner().model.network.weights,
        "the base is kept as a frozen one"
    );
    let mut full = Engine::open(&model, settings(Learning::Full, 0.02)).unwrap();
    let refusal = full.start_from_adapter(&path).unwrap_err().to_string();
    assert!(refusal.contains("set up to train all weights"), "{refusal}");
    let answering =
        Engine::open_with_adapter(&model, &path, settings(Learning::None, 0.0)).unwrap();
    assert_eq!(
        answering.learner().model.parameters(),
        first.engine().learner().model.parameters()
    );
}

#[test]
fn a_model_is_saved_only_after_full_training() {
    let directory = tempfile::tempdir().unwrap();
    for learning in [lora(), Learning::None] {
        let path = directory.path().join("adapted");
        let refusal = policy(learning)
            .engine()
            .save_model(&path, Storage::F32)
            .unwrap_err()
            .to_string();
        assert!(
            refusal.contains("only full training changes the model"),
            "{refusal}"
        );
        assert!(!path.exists());
    }
    let path = directory.path().join("full");
    policy(Learning::Full)
        .engine()
        .save_model(&path, Storage::F32)
        .unwrap();
    assert!(Engine::open(&path, settings(Learning::None, 0.0)).is_ok());
}

#[test]
fn supervised_learning_raises_the_answer() {
    let mut policy = policy(lora());
    let turn = |role, content: &str| Turn {
        role,
        content: content.into(),
    };
    let chat = [turn("user", "hello"), turn("assistant", "world world")];
    let batch = [policy.engine().example(&chat).unwrap()];
    let untaught = policy.engine().loss(&batch).unwrap();
    let first = policy.engine_mut().supervise(&batch).unwrap().loss;
    assert!(
        (untaught - first).abs() < 1e-5,
        "{untaught} is not the loss {first} that the first step sees"
    );
    let mut last = first;
    for _ in 0..8 {
        last = policy.engine_mut().supervise(&batch).unwrap().loss;
    }
    assert!(last < 0.7 * first, "from {first} to {last}");
}

#[test]
fn policies_may_move_to_another_thread() {
    fn send<T: Send>() {}
    send::<EnginePolicy>();
    send::<hotloop_policy::api::ApiPolicy>();
}

#[test]
fn a_stopped_engine_has_learned_nothing_and_continues_later() {
    let mut policy = policy(lora());
    let halt = Arc::new(AtomicBool::new(false));
    policy.engine_mut().stop_on(Arc::clone(&halt));
    let batch = weighted(&policy.sample(&[chat("hello")], 4, &sampling()).unwrap());
    let before: Vec<Vec<f32>> = policy
        .engine()
        .learner()
        .model
        .parameters()
        .iter()
        .map(|t| t.data.to_vec())
        .collect();
    halt.store(true, Ordering::Relaxed);
    assert!(matches!(
        policy.sample(&[chat("hello")], 4, &sampling()),
        Err(PolicyError::Stopped)
    ));
    assert!(matches!(policy.update(&batch), Err(PolicyError::Stopped)));
    let after: Vec<Vec<f32>> = policy
        .engine()
        .learner()
        .model
        .parameters()
        .iter()
        .map(|t| t.data.to_vec())
        .collect();
    assert_eq!(before, after);
    halt.store(false, Ordering::Relaxed);
    assert!(policy.update(&batch).unwrap().gradient_norm > 0.0);
}
