//! The device-independent parts of a language model: its configuration, its weights and its
//! adapters.

mod config;
mod lora;
mod module;
mod values;
mod weights;

pub use config::{Config, Family, RopeScaling};
pub use lora::{Adapter, LayerAdapter, LoraConfig, LoraPair};
pub use module::Module;
pub use values::Values;
pub(crate) use weights::Fingerprint;
pub use weights::{Layer, Linear, Tensor, Weights};
