//! The language models of hotloop: an own engine that samples and learns, and API models.
//!
//! ```text
//! model  (shape, weights, adapters)   <- load, save
//! text   (tokenizer, chat template)   <- load
//! sample, train::loss, pack           pure rules, no device
//! cpu    (forward, backward, decode)  <- train::Learner <- Engine <- EnginePolicy
//! cuda   (the same on a GPU)          <-
//!                                                   api::ApiPolicy
//! ```
//!
//! The engine speaks in tokens and never names a task or a verdict. Only `flow_policy` and `api` know the
//! types of `flow`.

pub mod api;
pub mod cpu;
pub mod cuda;
mod device;
pub mod engine;
mod flow_policy;
pub mod hub;
pub mod load;
mod math;
pub mod model;
mod noise;
pub mod pack;
mod precision;
pub mod sample;
pub mod save;
pub mod text;
pub mod train;
pub mod tune;

pub use device::Device;
pub use flow_policy::EnginePolicy;
pub use precision::Precision;
