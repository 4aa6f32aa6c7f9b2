//! The trait of a policy, which answers prompts and may learn from weighted answers.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::ErrorKind;

/// The speaker of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Speaker {
    /// Standing instructions.
    System,
    /// The person or program that asks.
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

/// A prompt: messages, and possibly the beginning of the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chat {
    /// The messages so far.
    pub messages: Vec<Message>,
    /// Text that the answer begins with. It counts as prompt, never as the policy's answer.
    pub begun: String,
}

/// How answers are drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// 0 is greedy.
    pub temperature: f64,
    /// Keep the k most likely tokens; 0 keeps all.
    pub top_k: u32,
    /// Keep the most likely tokens up to this mass; 1 keeps all.
    pub top_p: f64,
    /// Keep tokens at least this likely relative to the most likely one; 0 keeps all.
    pub min_p: f64,
    /// Maximum number of tokens.
    pub max_tokens: u32,
    /// Texts that end an answer.
    pub stop: Vec<String>,
    /// Seed of the first answer. The seeds of the others follow from it.
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
    /// The text, without the beginning from the prompt.
    pub text: String,
    /// The prompt's tokens, including the beginning of the answer.
    pub prompt_tokens: Vec<u32>,
    /// The answer's tokens; empty if an API does not report them.
    pub tokens: Vec<u32>,
    /// One logprob per token.
    pub logprobs: Vec<f32>,
    /// Why it ended.
    pub ending: Ending,
}

/// An answer with its weight in the update.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WeightedTokens {
    pub prompt_tokens: Vec<u32>,
    /// The answer's tokens.
    pub tokens: Vec<u32>,
    /// The sampler's logprobs.
    pub logprobs: Vec<f32>,
    /// The sampling temperature. The logprobs are valid only at this temperature.
    pub temperature: f64,
    pub advantage: f64,
}

/// The statistics of an update.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Updated {
    pub loss: f64,
    /// Norm of the gradient before clipping.
    pub gradient_norm: f64,
    /// Mean KL divergence from the reference policy; `None` if it was not measured.
    #[serde(default)]
    pub kl: Option<f64>,
    /// Share of tokens whose ratio was clipped.
    pub clipped: f64,
    /// Mean entropy of the policy over the answers' tokens.
    pub entropy: f64,
    /// Mean distance between the trainer's and the sampler's logprobs. Above 0.02 the sampler is
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

/// A policy's own failure, which is never a verdict on its answers.
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
    /// It cannot read this prompt: it lacks a chat template, or knows no token of the prompt.
    #[error("{0}")]
    Unanswerable(String),
    /// Someone asked it to stop. The call has no result.
    #[error("stopped on request")]
    Stopped,
    /// It diverged: its values are NaN or infinite, and a retry does not help.
    #[error("{0}")]
    Diverged(String),
    /// The endpoint failed, or refused the request.
    #[error("{what}")]
    Endpoint {
        what: String,
        /// The last HTTP status; `None` without an answer.
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
    /// Writes weights and optimiser state atomically.
    fn save(&self, directory: &Path) -> Result<(), PolicyError>;
    /// Reads what `save` wrote.
    fn load(&mut self, directory: &Path) -> Result<(), PolicyError>;
    /// What this policy can do.
    fn capabilities(&self) -> Capabilities;
}
