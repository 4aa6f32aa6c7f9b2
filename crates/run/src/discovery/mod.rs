//! Does learning find faster code than search? Arms with equal budgets, and one verdict over seeds.
//!
//! [`Arm`] says what differs between runs, [`Outcome`] what one run found, and [`verdict`] compares
//! the arms that learn with those that do not.

mod arm;
mod outcome;
pub mod verdict;

pub use arm::Arm;
pub use outcome::{Outcome, Reached};
pub use verdict::{Comparison, Finding, Verdict};
