//! The trusted side of a timing slot: one small process that owns inputs, clock and checks.
//!
//! It serves one request at a time from standard input, each a candidate to verify or to time.
//! "Done" means that the candidate's whole thread group is in group-stop. So a candidate cannot
//! signal early, and nothing can change while it is checked.

mod child;
mod examining;
mod failure;
mod instruments;
mod limit;
pub(crate) mod protocol;
mod serve;
mod session;
mod stopwatch;
mod stray;
mod verifier;
mod watch;

pub(crate) use serve::serve;
