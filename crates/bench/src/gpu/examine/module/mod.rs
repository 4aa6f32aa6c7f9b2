//! Judges plans of modules, which answers to problems for torch are.
//!
//! What is right comes from the user's own torch in a process of its own, the oracle. It draws
//! inputs into the memory that runners map read-only, and writes what is right into memory that no
//! runner maps.

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
