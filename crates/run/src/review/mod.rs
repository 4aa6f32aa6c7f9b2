//! The reviewer: a second policy that reads a candidate and says what it expects of it.
//!
//! ```text
//! task and candidate -> chat -> answer -> opinion -> part of the reward
//!                                                 -> agreement with the bench
//! ```
//!
//! An opinion is never a verdict. A reviewer that answers nonsense costs a sample, never a reward,
//! and its failure interrupts the run like any failure of a policy.

mod agreement;
mod ask;
mod opinion;
pub(crate) mod reviewing;
mod wording;

pub use agreement::{Agreement, Axis, Bin, Reviewed};
pub use ask::{ATTEMPTS, ask};
pub use opinion::Opinion;
pub use wording::{INJECTION, WORDING, chat};
