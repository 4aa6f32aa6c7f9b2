//! Why a step could not be taken.

use crate::cuda;

/// The machine's or the user's fault; the weights are as before the step.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// Nothing to learn from.
    #[error("the batch has no scored token")]
    Empty,
    /// A token the model does not have.
    #[error(
        "token {token} is outside the vocabulary of {vocab}: is this the model's own tokenizer?"
    )]
    UnknownToken {
        /// The token.
        token: u32,
        /// Tokens there are.
        vocab: usize,
    },
    /// Logprobs and tokens do not pair up.
    #[error("answer {index} has {tokens} tokens but {logprobs} logprobs")]
    Unpaired {
        /// Which answer.
        index: usize,
        /// Its tokens.
        tokens: usize,
        /// Its logprobs.
        logprobs: usize,
    },
    /// The answers of one update differ in the temperature that they were drawn at.
    #[error("the answers of one update were drawn at different temperatures")]
    Temperatures,
    /// The GPU failed, or has too little memory.
    #[error(transparent)]
    Device(#[from] cuda::Error),
    /// Someone asked to stop; of several epochs those that were done stay done.
    #[error("stopped on request")]
    Stopped,
    /// The loss or the gradient is NaN or infinite.
    #[error(
        "step {step}: loss {loss}, gradient norm {gradient_norm}; the step was not taken. Lower the learning rate or look at the batch"
    )]
    NotFinite {
        /// Steps taken before.
        step: u64,
        /// The loss.
        loss: f64,
        /// The gradient's norm.
        gradient_norm: f64,
    },
}
