//! Learning: losses as pure functions, the optimiser, and the learner that brings them to a network.

mod backend;
mod learner;
pub mod loss;
mod optim;
mod schedule;

pub use learner::{Grpo, Learner, Reference, Rollout, TrainError, Trained, Training, Update};
pub use optim::{AdamW, Moments, OptimConfig};
pub use schedule::{Decay, Schedule};
