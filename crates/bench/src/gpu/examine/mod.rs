//! Judges plans on a GPU.
//!
//! ```text
//! bench -> examiner (own context: inputs, checks, clock) -> runner (own context: the candidate)
//!                                                        -> spare runners
//! ```
//!
//! The examiner is trusted. It draws inputs, poisons outputs, computes what is right, compares, and
//! says how long a run took. A runner replays a candidate's plans on memory that both share: inputs
//! are mapped read-only, and what is right is never mapped there at all. A fault or a hang ends the
//! runner, and a spare takes over.

mod arena;
mod baseline;
mod calls;
mod desk;
mod examiner;
mod facts;
mod greed;
mod judge;
mod making;
mod module;
mod nvml;
mod pool;
mod request;
mod roof;
mod round;
pub(crate) mod runner;
pub(crate) mod serve;
mod station;
mod timing;
mod verify;
mod wire;
mod work;

pub(crate) use examiner::{Examiner, Options};
pub(crate) use module::{Given, ModuleWork, Returned, TorchSite};
pub(crate) use work::{Answer, Trusted, Work};
