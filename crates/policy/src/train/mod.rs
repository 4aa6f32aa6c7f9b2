//! Learning: losses as pure functions, and the learner that applies them to a model.

mod error;
mod learner;
pub mod loss;
mod mirror;
mod reinforce;
mod schedule;
mod update;

pub use error::TrainError;
pub use learner::{Learner, Training};
pub use reinforce::{Grpo, Reference};
pub use schedule::{Decay, Schedule};
pub use update::Update;

pub use crate::optim::{AdamW, Moments, OptimConfig};
pub use crate::placed::{Placed, Trained};
