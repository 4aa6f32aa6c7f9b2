//! The language models of hotloop: an engine that samples and learns, on the CPU or on an NVIDIA
//! GPU, and API models.
//!
//! ```no_run
//! use hotloop_policy::{Chat, Device, Engine, EnginePolicy, Policy, Sampling, Settings};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = Engine::open("models/nano".as_ref(), Settings::answering(0, Device::Auto))?;
//! let mut policy = EnginePolicy::new(engine);
//! let chat = Chat {
//!     messages: Vec::new(),
//!     begun: "Task: matmul".to_owned(),
//! };
//! let sampling = Sampling {
//!     temperature: 0.8,
//!     top_k: 0,
//!     top_p: 1.0,
//!     min_p: 0.0,
//!     max_tokens: 100,
//!     stop: Vec::new(),
//!     seed: 1,
//! };
//! let completions = policy.sample(&[chat], 4, &sampling)?;
//! assert_eq!(completions.len(), 4);
//! # Ok(())
//! # }
//! ```
//!
//! A user of the library needs `Engine` (or `api::ApiPolicy`), `load` and `hub` to get models,
//! `tune` for supervised learning, `Policy::update` for reinforcement learning, and `save`. The
//! modules behind them:
//!
//! ```text
//! model (shape, weights, adapters) <- load, save          text (tokenizer, chat template)
//! sample, pack, optim, train::loss                        pure rules, no device
//! cpu, cuda (forward, backward, decode)                   one module a device; neither knows the other
//!   <- placed (a model where it computes) <- generation, train <- engine <- flow_policy, tune
//! ```
//!
//! The engine speaks in tokens and never names a task or a verdict.

pub mod api;
#[doc(hidden)]
pub mod cpu;
pub mod cuda;
mod device;
pub mod engine;
mod engine_error;
mod flow_policy;
mod generation;
pub mod hub;
pub mod load;
mod load_error;
mod math;
pub mod memory;
pub mod model;
mod noise;
mod optim;
#[doc(hidden)]
pub mod pack;
mod placed;
mod precision;
#[doc(hidden)]
pub mod sample;
pub mod save;
mod settings;
pub mod text;
pub mod train;
pub mod tune;

pub use hotloop_flow::policy::{Chat, Completion, Policy, Sampling, WeightedTokens};

pub use device::Device;
pub use engine::{Engine, EngineError};
pub use flow_policy::EnginePolicy;
pub use precision::Precision;
pub use settings::{Learning, Settings};
