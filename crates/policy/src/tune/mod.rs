//! Supervised tuning: examples in batches, a falling loss, a model at the end.
//!
//! ```text
//! lessons (what is learned from) <- course (steps, looks, the end) -> diverged (facts of a step that gives NaN)
//! ```

mod course;
mod diverged;
mod error;
mod lessons;

pub use course::{Best, Look, Tuned, Watch, tune};
pub use error::{Divergence, KeptState, TuneError, Written};
pub use lessons::{Lessons, pair};
