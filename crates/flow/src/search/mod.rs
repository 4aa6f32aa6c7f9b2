//! Staged quality-diversity search (SQD, Mikasa et al. fig. 1).
//!
//! Each iteration chooses parents among the candidates of the last one: fast ones go to the next
//! stage, mediocre ones are varied, and failed ones are repaired. The seed is always a parent. In
//! the paper the parents multiply by G in each iteration. Here at most
//! [`Settings::parents`] are chosen. [`node`] is one judged candidate, [`pool`] holds an
//! iteration's nodes by stage, and [`mod@select`] chooses.

pub mod node;
pub mod pool;
pub mod select;

pub use node::Node;
pub use pool::Pool;
pub use select::{Parent, Settings, select};
