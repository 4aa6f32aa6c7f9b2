//! Judges plans of modules, which answers to problems for torch are.
//!
//! The user's own torch computes the right results in its own process, the oracle. It draws inputs
//! into the memory that runners map read-only, and writes right results into memory that no runner
//! maps.

mod element;
mod judge;
mod laid;
mod oracle;
mod sitting;
mod verify;
mod work;

pub(super) use oracle::Oracle;
pub(super) use work::ModuleAnswer;
pub(crate) use work::{Given, ModuleWork, Returned, TorchSite};
