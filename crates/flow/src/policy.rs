//! What a policy is: something that answers prompts and may learn from weighted answers.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::ErrorKind;

/// Who speaks in a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Speaker {
    /// Standing instructions.
    System,
    /// The one who asks.
    User,
    /// The policy.
    Assistant,
}

/// One message of a chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Speaker,
    /// What is said.
    pub content: String,
}

/// A prompt: messages, and the beginning of the answer if it is begun for the policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chat {
    /// The messages so far.
    pub messages: Vec<Message>,
    /// Text that the answer begins with; it counts as prompt, never as the policy's words.
    pub begun: String,
}

/// How answers are drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// 0 is greedy.
    pub temperature: f64,
    /// Keep the k likeliest tokens; 0 keeps all.
    pub top_k: u32,
    /// Keep the likeliest tokens up to this mass; 1 keeps all.
    pub top_p: f64,
    /// Keep tokens at least this likely relative to the likeliest; 0 keeps all.
    pub min_p: f64,
    /// Tokens at most.
    pub max_tokens: u32,
    /// Texts that end an answer.
    pub stop: Vec<String>,
    /// Seed of the first answer; the others follow from it.
    pub seed: u64,
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// The policy ended it.
    Stop,
    /// The token limit ended it.
    Length,
}

/// An answer: its text, and the tokens with their logprobs at the sampling temperature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Completion {
    /// The text, without what was begun for the policy.
    pub text: String,
    /// The prompt's tokens, what was begun included.
    pub prompt_tokens: Vec<u32>,
    /// The answer's tokens. Empty where an API tells none.
    pub tokens: Vec<u32>,
    /// One logprob a token.
    pub logprobs: Vec<f32>,
    /// Why it ended.
    pub ending: Ending,
}

/// An answer and how strongly it is to be made likelier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WeightedTokens {
    /// The prompt's tokens.
    pub prompt_tokens: Vec<u32>,
    /// The answer's tokens.
    pub tokens: Vec<u32>,
    /// The sampler's logprobs.
    pub logprobs: Vec<f32>,
    /// The temperature that it was drawn at; its logprobs hold there alone.
    pub temperature: f64,
    /// The advantage.
    pub advantage: f64,
}

/// What an update did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Updated {
    /// The loss.
    pub loss: f64,
    /// Norm of the gradient before clipping.
    pub gradient_norm: f64,
    /// Mean divergence from the reference policy; none where it was not measured.
    #[serde(default)]
    pub kl: Option<f64>,
    /// Share of tokens whose ratio was clipped.
    pub clipped: f64,
    /// Mean entropy of the policy over the answers' tokens.
    pub entropy: f64,
    /// Mean distance between the trainer's and the sampler's logprobs; above 0.02 the sampler is
    /// suspect.
    pub sampler_gap: f64,
}

/// What a policy can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// The model's name.
    pub model: String,
    /// Whether `update` works.
    pub learns: bool,
    /// Whether completions carry tokens and logprobs.
    pub logprobs: bool,
    /// Tokens of prompt and answer together.
    pub context: u32,
}

/// A policy's own failure; never a verdict on what it wrote.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// The policy cannot do this.
    #[error("{0} is not supported by this policy")]
    Unsupported(&'static str),
    /// The prompt does not fit.
    #[error(
        "the prompt has {prompt} tokens and the answer up to {answer}, but the context is {context}"
    )]
    ContextExceeded {
        /// Tokens of the prompt.
        prompt: u32,
        /// Tokens allowed for the answer.
        answer: u32,
        /// Tokens of the context.
        context: u32,
    },
    /// It cannot be asked so: it lacks a chat template, or the prompt has no token that it knows.
    #[error("{0}")]
    Unanswerable(String),
    /// Someone asked it to stop; nothing came of the call.
    #[error("stopped on request")]
    Stopped,
    /// It fell apart: its numbers are none any more, and asking again changes nothing.
    #[error("{0}")]
    Diverged(String),
    /// The endpoint failed, or refused the request.
    #[error("{what}")]
    Endpoint {
        what: String,
        /// The last HTTP status; none where no answer came.
        status: Option<u16>,
    },
    /// A file of the policy cannot be read or written.
    #[error("{what}")]
    File {
        what: String,
        kind: std::io::ErrorKind,
    },
    /// The engine or the device failed.
    #[error("{0}")]
    Failed(String),
}

impl PolicyError {
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Unsupported(_)
            | Self::ContextExceeded { .. }
            | Self::Unanswerable(_)
            | Self::Diverged(_) => ErrorKind::User,
            Self::Stopped | Self::Endpoint { .. } | Self::File { .. } | Self::Failed(_) => {
                ErrorKind::Machine
            }
        }
    }
}

/// Something that answers prompts and may learn from weighted answers.
pub trait Policy {
    /// `count` answers to each chat, chat-major.
    fn sample(
        &mut self,
        chats: &[Chat],
        count: u32,
        sampling: &Sampling,
    ) -> Result<Vec<Completion>, PolicyError>;
    /// One optimiser step on a batch.
    fn update(&mut self, batch: &[WeightedTokens]) -> Result<Updated, PolicyError>;
    /// Writes weights and optimiser state, whole or not at all.
    fn save(&self, directory: &Path) -> Result<(), PolicyError>;
    /// Reads what `save` wrote.
    fn load(&mut self, directory: &Path) -> Result<(), PolicyError>;
    /// What this policy can do.
    fn capabilities(&self) -> Capabilities;
}
