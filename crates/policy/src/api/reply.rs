//! What an endpoint replies, and what it means for the request.

use std::time::Duration;

use hotloop_flow::policy::{Completion, Ending};
use serde::Deserialize;
use serde_json::Value;

/// Finish reasons of answers that the server aborted or withheld. These are not the model's
/// answers. A tool call is the model's own answer.
const BROKEN: [&str; 5] = [
    "error",
    "abort",
    "content_filter",
    "network_error",
    "insufficient_system_resource",
];

#[derive(Deserialize)]
struct Reply {
    choices: Option<Vec<Choice>>,
    error: Option<Value>,
}

#[derive(Deserialize)]
pub(super) struct Choice {
    message: Option<Said>,
    text: Option<String>,
    finish_reason: Option<String>,
    logprobs: Option<Value>,
}

#[derive(Deserialize)]
struct Said {
    content: Option<String>,
}

/// The result of one attempt.
pub(super) enum Tried {
    Answered(Vec<Choice>),
    /// Retry, after this pause if the server named one.
    Again(Trouble, Option<Duration>),
    Refused(Trouble),
    /// The server refused the request because of the logprobs.
    NoLogprobs(Trouble),
}

/// Why an attempt gave no answer.
pub(super) struct Trouble {
    pub(super) why: String,
    pub(super) status: Option<u16>,
}

impl From<String> for Trouble {
    fn from(why: String) -> Self {
        Self { why, status: None }
    }
}

/// The complete answers of a reply, or what is wrong with it.
pub(super) fn understand(text: &str, asked: Option<Duration>) -> Tried {
    let reply: Reply = match serde_json::from_str(text) {
        Ok(reply) => reply,
        Err(error) => {
            let why = format!("not a reply as expected: {error}: {}", excerpt(text));
            return Tried::Refused(why.into());
        }
    };
    let choices = reply.choices.unwrap_or_default();
    if choices.is_empty() {
        // Gateways report failures of the server behind them with a success status.
        return match reply.error {
            Some(error) => Tried::Again(
                format!("a reply with an error: {}", excerpt(&error.to_string())).into(),
                asked,
            ),
            None => Tried::Refused(format!("a reply without choices: {}", excerpt(text)).into()),
        };
    }
    let (whole, broken): (Vec<Choice>, Vec<Choice>) =
        choices.into_iter().partition(|choice| !choice.is_broken());
    match broken.into_iter().find_map(|choice| choice.finish_reason) {
        Some(reason) if whole.is_empty() => {
            Tried::Again(format!("an answer that ended by `{reason}`").into(), asked)
        }
        _ => Tried::Answered(whole),
    }
}

impl Choice {
    fn is_broken(&self) -> bool {
        self.finish_reason
            .as_deref()
            .is_some_and(|reason| BROKEN.contains(&reason))
    }
}

pub(super) fn completion(choice: Choice) -> Completion {
    let said = choice.message.and_then(|message| message.content);
    let ending = if choice.finish_reason.as_deref() == Some("length") {
        Ending::Length
    } else {
        Ending::Stop
    };
    let logprobs = choice.logprobs.as_ref().map(logprobs).unwrap_or_default();
    Completion {
        text: said.or(choice.text).unwrap_or_default(),
        prompt_tokens: Vec::new(),
        tokens: Vec::new(),
        logprobs,
        ending,
    }
}

/// `content[].logprob` in chats, `token_logprobs[]` in completions.
fn logprobs(value: &Value) -> Vec<f32> {
    let chat = value["content"].as_array().map(|all| {
        all.iter()
            .map(|entry| &entry["logprob"])
            .collect::<Vec<_>>()
    });
    let plain = || {
        value["token_logprobs"]
            .as_array()
            .map(|all| all.iter().collect::<Vec<_>>())
    };
    let all = chat.or_else(plain).unwrap_or_default();
    all.into_iter()
        .filter_map(Value::as_f64)
        .map(|logprob| logprob as f32)
        .collect()
}

/// The beginning of a server's message, enough to see what is wrong.
pub(super) fn excerpt(text: &str) -> String {
    text.chars().take(300).collect()
}
