//! Why a training step failed.

use crate::cuda;

/// Why a training step failed. The weights are the same as before the step.
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
        token: u32,
        /// Size of the vocabulary.
        vocab: usize,
    },
    /// The numbers of logprobs and tokens differ.
    #[error("answer {index} has {tokens} tokens but {logprobs} logprobs")]
    Unpaired {
        /// Which answer.
        index: usize,
        tokens: usize,
        logprobs: usize,
    },
    /// The answers of one update were drawn at different temperatures.
    #[error("the answers of one update were drawn at different temperatures")]
    Temperatures,
    /// The GPU failed, or has too little memory.
    #[error(transparent)]
    Device(#[from] cuda::Error),
    /// Someone asked to stop. Finished epochs stay.
    #[error("stopped on request")]
    Stopped,
    /// The loss or the gradient is NaN or infinite.
    #[error(
        "step {step}: loss {loss}, gradient norm {gradient_norm}; the step was not taken. Lower \
         the learning rate or look at the batch"
    )]
    NotFinite {
        /// Steps taken before.
        step: u64,
        loss: f64,
        gradient_norm: f64,
    },
}
