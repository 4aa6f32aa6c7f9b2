//! The run file, layered over the embedded defaults.

mod layers;
mod schema;
mod tasks;

pub(crate) use layers::differences;
pub use layers::{DEFAULT, Layered, Mistake, OVERRIDE};
pub use schema::{
    BenchConfig, Broken, Budget, Config, Device, Learning, Normalise, Prompts, Reviewer,
    RewardConfig, SamplingConfig, Search, SourceKind, Stepping,
};
pub use tasks::Tasks;
