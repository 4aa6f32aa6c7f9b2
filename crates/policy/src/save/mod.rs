//! Writes models, adapters and optimiser state atomically, in the formats of transformers and PEFT.

mod atomic;
mod huggingface;
mod learner;
mod peft;
mod tensors;

pub use atomic::SaveError;
pub use huggingface::model;
pub use learner::{learner, resume};
pub use peft::{Base, adapter, adapter_config, load_adapter};
pub use tensors::Storage;
