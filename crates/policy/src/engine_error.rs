//! Why the engine could not answer or learn.

use crate::cuda;
use crate::device::Device;
use crate::load_error::LoadError;
use crate::save::SaveError;
use crate::text::TemplateError;
use crate::train::TrainError;

/// Why the engine could not answer or learn.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A file could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A file could not be written.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// A chat could not be rendered.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// A step could not be taken.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// The GPU failed, cannot be used, or has too little memory.
    #[error(transparent)]
    Device(#[from] cuda::Error),
    /// Someone asked to stop while answers were drawn.
    #[error("stopped on request")]
    Stopped,
    /// Threads could not be started.
    #[error("no thread pool: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// Prompt and answer do not fit.
    #[error(
        "the prompt has {prompt} tokens and the answer up to {answer}, but the context is {context}"
    )]
    ContextExceeded {
        /// Tokens of the prompt.
        prompt: usize,
        /// Tokens allowed for the answer.
        answer: usize,
        /// Tokens of the context.
        context: usize,
    },
    #[error("prompt {0} is empty: the model needs a token to begin with")]
    EmptyPrompt(usize),
    /// A token the model does not have.
    #[error(
        "token {token} of a prompt is outside the vocabulary of {vocab}: is this the model's own \
         tokenizer?"
    )]
    UnknownToken {
        token: u32,
        /// Size of the vocabulary.
        vocab: usize,
    },
    /// The model's logits are NaN.
    #[error("the model's logits are NaN: its weights are damaged, or training has diverged")]
    NotFinite,
    /// The engine was set up without learning.
    #[error("this engine was set up to answer only: choose an adapter or full training")]
    LearnsNothing,
    /// The engine was set up to train all weights.
    #[error(
        "this engine was set up to train all weights, and cannot continue from an adapter: open it \
         with the adapter"
    )]
    TrainsAll,
    /// The weights are unchanged since loading.
    #[error(
        "only full training changes the model itself: what was learned here is an adapter, save \
         that"
    )]
    NothingFull,
}

impl EngineError {
    /// Whether a model that failed to open on `device` with this error should be opened on the CPU.
    /// Too little memory is no reason, because a model too large for a GPU would take days on a
    /// CPU.
    pub fn falls_back(&self, device: Device) -> bool {
        use cuda::Error::{Blas, Compile, Driver, Missing, OutOfMemory, Setting, Shape};
        let Self::Device(error) = self else {
            return false;
        };
        match error {
            Missing { .. } | Compile { .. } | Shape(_) | Driver { .. } | Blas { .. } => {
                device == Device::Auto
            }
            Setting(_) | OutOfMemory { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_auto_falls_back_and_only_if_the_gpu_is_unusable() {
        let shape = EngineError::Device(cuda::Error::Shape("hidden_size is 7".into()));
        assert!(shape.falls_back(Device::Auto));
        assert!(!shape.falls_back(Device::Cuda));
        let full = cuda::Error::OutOfMemory {
            what: "the weights".into(),
            wanted: 2,
            free: 1,
            total: 1,
            fits: String::new(),
        };
        assert!(!EngineError::Device(full).falls_back(Device::Auto));
        assert!(!EngineError::NotFinite.falls_back(Device::Auto));
    }
}
