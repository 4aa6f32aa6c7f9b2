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
mod bootstrap;
pub mod config;
mod confirm;
mod ctx;
pub mod driver;
pub mod evaluation;
pub mod event;
pub mod experiment;
mod fared;
#[cfg(test)]
mod fixture;
pub mod foreign;
mod fresh;
pub mod interrupt;
pub mod journal;
mod judging;
pub mod plan;
pub mod probe;
mod prompt;
pub mod report;
mod sampling;
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
pub use foreign::ForeignRun;
pub use interrupt::Interrupt;
pub use plan::{Changes, Plan};
pub use state::RunState;
pub use store::Store;
pub use winners::{Winner, winners};
