//! Staged quality-diversity search (SQD, Mikasa et al. fig. 1).
//!
//! Each iteration chooses parents among the candidates of the last one: fast ones go to the next
//! stage, mediocre ones are varied, and failed ones are repaired. The seed is always a parent. In
//! the paper the parents multiply by G in each iteration. Here at most
//! [`Settings::parents`] are chosen. [`node`] is one judged candidate, [`pool`] holds an
//! iteration's nodes by stage, and [`mod@select`] chooses.

//!
//! [`tree`] is another archive, which chooses parents by PUCT. Both are an [`Archive`].

pub mod archive;
pub mod choice;
pub mod node;
pub mod pool;
pub mod select;
pub mod tree;

pub use archive::{Archive, ArchiveKind, Root, SeedOnly};
pub use choice::{Parent, Settings};
pub use node::Node;
pub use pool::Pool;
pub use select::select;
pub use tree::Tree;
