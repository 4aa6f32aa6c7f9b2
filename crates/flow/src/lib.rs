//! The pure core of hotloop: everything that happens, as values.
//!
//! ```text
//! prompt -> completion -> candidate -> verdict -> reward -> advantage -> update
//!           (policy)      (flow)      (bench)    (flow)    (flow)       (policy)
//! ```
//!
//! Every noun is a type with that name. Nothing here does I/O, reads a clock, is async or holds
//! global randomness. The other crates deal with the machine.

pub mod advantage;
pub mod bench;
pub mod candidate;
mod count;
pub mod error;
mod extracted;
pub mod fast;
pub mod formula;
pub mod how;
pub mod interface;
pub mod language;
mod library;
pub mod machine;
pub mod measured;
pub mod noise;
pub mod policy;
pub mod problem;
pub mod prompt;
pub mod random;
pub mod reward;
pub mod search;
pub mod seed;
pub mod stage;
pub mod statistics;
pub mod task;
mod task_error;
pub mod technique;
pub mod timing;
pub mod verdict;

pub use advantage::Advantage;
pub use bench::{Bench, Job, JobId, JobKey, Judgement, Reply};
pub use candidate::Candidate;
pub use count::count;
pub use error::{BenchError, ErrorKind, Remedy};
pub use extracted::{Extracted, Malformed};
pub use how::How;
pub use interface::Interface;
pub use language::Language;
pub use machine::{Device, MachineFacts};
pub use measured::{Baseline, Measured, Pace, Roof, Work};
pub use policy::{Completion, Policy, PolicyError, Sampling, WeightedTokens};
pub use prompt::{Prose, Render, Role};
pub use reward::Reward;
pub use stage::{Rules, Stage, StageSpec, Stages};
pub use task::Task;
pub use technique::Technique;
pub use timing::Timing;
pub use verdict::{Label, Verdict};
