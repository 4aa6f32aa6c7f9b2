//! The device-independent parts of sampling: the choice of a token, and when a completion ends.

mod choose;
mod generation;
mod growing;

pub use choose::{Chosen, Draw, choose};
pub use generation::{Generation, NEVER, Stop};
pub(crate) use growing::Growing;
