//! A run, from config to report.
//!
//! ```text
//! config -> plan -> step, step, ... -> journal -> state -> report
//! ```
//!
//! [`driver::drive`] takes steps until the budget is spent. `step` contains the seven arrows of the
//! flow, top to bottom. Every fact goes to the journal first, and the state is a fold over the
//! journal. So a run that is killed at any moment continues where it was. Policy and bench are
//! traits: nothing here knows a model, a compiler or a network.

mod asking;
pub mod best_of;
mod bootstrap;
pub mod claims;
pub mod config;
mod confirm;
mod contrast;
mod ctx;
pub mod discovery;
pub mod driver;
pub mod evaluation;
pub mod event;
pub mod experiment;
mod fared;
#[cfg(test)]
mod fixture;
pub mod follow;
pub mod foreign;
mod fresh;
mod improver;
pub mod interrupt;
pub mod journal;
mod judging;
pub mod plan;
pub mod probe;
mod profiled;
mod prompt;
mod regular;
pub mod report;
pub mod review;
mod sampling;
pub mod scores;
mod source;
mod standstill;
pub mod state;
mod step;
pub mod store;
mod watch;
mod winners;

pub use config::{Config, Layered, Mistake};
pub use driver::{Ended, Parts, drive};
pub use evaluation::Evaluation;
pub use event::Event;
pub use follow::Followed;
pub use foreign::ForeignRun;
pub use interrupt::Interrupt;
pub use plan::{Changes, Plan};
pub use scores::Scores;
pub use state::RunState;
pub use store::Store;
pub use winners::{Winner, winners};
