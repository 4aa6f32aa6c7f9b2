//! Experiments: many runs that belong together.
//!
//! A [`grid`] is one of the papers' experiments, embedded in the program. A [`plan`] is a user's
//! file of jobs, which [`schedule`] fits into a time budget.

pub mod grid;
mod paper;
pub mod plan;
pub mod record;
pub mod schedule;
mod variables;

pub use paper::{Output, outputs};
