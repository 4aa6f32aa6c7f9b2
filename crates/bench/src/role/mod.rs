//! The hidden roles of the executable.
//!
//! Judging needs processes that are small, single-threaded and start clean: the supervisor of a
//! timing slot, the runner that becomes the candidate, and the confined compiler. All are this
//! executable, started with the name of a role.

mod jailed;
pub(crate) mod names;
#[cfg(test)]
mod of_tests;
mod play;

pub use crate::sys::RAISE;
pub use play::{outlive_file_limit, play_if_asked};
