//! Staged quality-diversity search (SQD, Mikasa et al. fig. 1).
//!
//! Each iteration chooses parents from what the last one produced: fast ones go to the
//! next stage, middling ones are varied, failed ones repaired, and the seed is always
//! asked again. Taken literally the parents multiply by G each time; here at most
//! [`Settings::parents`] are chosen. [`node`] is one judged candidate, [`pool`] holds an
//! iteration's nodes by stage, [`mod@select`] chooses.

pub mod node;
pub mod pool;
pub mod select;

pub use node::Node;
pub use pool::Pool;
pub use select::{Parent, Settings, select};
