//! The API policy with a real server, if `HOTLOOP_API_URL` (up to the version) and
//! `HOTLOOP_API_MODEL` name one. `transformers serve MODEL --port 8000` is one such server. The
//! model must know capitals: Qwen2.5-Coder-0.5B-Instruct does, SmolLM2-135M-Instruct does not.

use std::time::Duration;

use hotloop_flow::policy::{Chat, Completion, Message, Policy, Sampling, Speaker};
use hotloop_policy::api::{ApiConfig, ApiPolicy, Protocol};

/// That server; `None` if the environment names none.
fn server(protocol: Protocol) -> Option<ApiPolicy> {
    let (Ok(url), Ok(model)) = (
        std::env::var("HOTLOOP_API_URL"),
        std::env::var("HOTLOOP_API_MODEL"),
    ) else {
        eprintln!("skipped: HOTLOOP_API_URL and HOTLOOP_API_MODEL name no server");
        return None;
    };
    let config = ApiConfig {
        url,
        model,
        protocol,
        key_variable: None,
        continues: false,
        timeout: Duration::from_mins(2),
        tries: 2,
        pause: Duration::from_secs(1),
        parallel: 1,
        per_minute: None,
        context: 2048,
    };
    Some(ApiPolicy::new(config).unwrap())
}

fn ask(policy: &mut ApiPolicy, texts: [&str; 2], begun: &str) -> Vec<Completion> {
    let message = |text: &str| Message {
        role: Speaker::User,
        content: text.into(),
    };
    let chats = texts.map(|text| Chat {
        messages: vec![message(text)],
        begun: begun.into(),
    });
    let sampling = Sampling {
        temperature: 0.1,
        top_k: 0,
        top_p: 1.0,
        min_p: 0.0,
        max_tokens: 16,
        stop: Vec::new(),
        seed: 1,
    };
    policy.sample(&chats, 2, &sampling).unwrap()
}

#[test]
fn a_real_server_answers() {
    let Some(mut policy) = server(Protocol::Chat) else {
        return;
    };
    let answers = ask(
        &mut policy,
        [
            "What is the capital of France?",
            "What is the capital of Italy?",
        ],
        "",
    );
    assert_eq!(answers.len(), 4);
    assert!(
        answers[0].text.contains("Paris") && answers[2].text.contains("Rome"),
        "{answers:?}"
    );
}

#[test]
fn a_real_server_completes() {
    let Some(mut policy) = server(Protocol::Completions) else {
        return;
    };
    let answers = ask(
        &mut policy,
        ["Capitals of Europe.", "Cities of Europe."],
        "The capital of France is",
    );
    assert_eq!(answers.len(), 4);
    assert!(
        answers
            .iter()
            .all(|answer| !answer.text.is_empty() && !answer.text.contains("capital of France is"))
    );
}
