//! The API policy against a real server, where one is named: `HOTLOOP_API_URL` (up to the version) and
//! `HOTLOOP_API_MODEL`. `transformers serve MODEL --port 8000` is one such server.

use std::time::Duration;

use flow::policy::{Chat, Message, Policy, Sampling, Speaker};
use policy::api::{ApiConfig, ApiPolicy, Protocol};

#[test]
fn a_real_server_answers() {
    let (Ok(url), Ok(model)) = (std::env::var("HOTLOOP_API_URL"), std::env::var("HOTLOOP_API_MODEL")) else {
        eprintln!("skipped: HOTLOOP_API_URL and HOTLOOP_API_MODEL name no server");
        return;
    };
    let config = ApiConfig {
        url,
        model,
        protocol: Protocol::Chat,
        key_variable: None,
        continues: false,
        timeout: Duration::from_mins(2),
        tries: 2,
        pause: Duration::from_secs(1),
        parallel: 1,
        per_minute: None,
        context: 2048,
    };
    let mut policy = ApiPolicy::new(config).unwrap();
    let message = |text: &str| Message { role: Speaker::User, content: text.into() };
    let chats = ["What is the capital of France?", "What is the capital of Italy?"]
        .map(|text| Chat { messages: vec![message(text)], begun: String::new() });
    let sampling =
        Sampling { temperature: 0.1, top_k: 0, top_p: 1.0, min_p: 0.0, max_tokens: 16, stop: Vec::new(), seed: 1 };
    let answers = policy.sample(&chats, 2, &sampling).unwrap();
    assert_eq!(answers.len(), 4);
    assert!(answers[0].text.contains("Paris") && answers[2].text.contains("Rome"), "{answers:?}");
}
