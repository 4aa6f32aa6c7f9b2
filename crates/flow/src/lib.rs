//! The pure core of hotloop: what happens, as values.
//!
//! ```text
//! prompt -> completion -> candidate -> verdict -> reward -> advantage -> update
//!           (policy)      (flow)      (bench)    (flow)    (flow)       (policy)
//! ```
//!
//! Every noun is a type with that name. Nothing here does I/O, reads a clock, is
//! async or holds global randomness: the crates around it bring the machine.

pub mod advantage;
pub mod bench;
mod count;
pub mod error;
pub mod formula;
pub mod how;
pub mod language;
pub mod machine;
pub mod measured;
pub mod noise;
pub mod policy;
pub mod prompt;
pub mod random;
pub mod reward;
pub mod search;
pub mod seed;
pub mod stage;
pub mod statistics;
pub mod task;
pub mod timing;
pub mod verdict;

pub use advantage::Advantage;
pub use bench::{Bench, Job, JobId, JobKey, Judgement, Reply};
pub use count::count;
pub use error::{BenchError, ErrorKind, Remedy};
pub use how::How;
pub use language::c::extract::{Candidate, Malformed};
pub use language::c::scan::Technique;
pub use machine::{Device, MachineFacts};
pub use measured::{Baseline, Measured, Pace, Roof, Work};
pub use policy::{Completion, Policy, PolicyError, Sampling, WeightedTokens};
pub use prompt::{Prose, Render, Role};
pub use reward::Reward;
pub use stage::Stage;
pub use task::Task;
pub use timing::Timing;
pub use verdict::{Label, Verdict};
