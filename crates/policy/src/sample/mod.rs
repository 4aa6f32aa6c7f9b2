//! How answers are drawn, apart from any device: the choice of a token, and when an answer ends.

mod answer;
mod choose;

pub use answer::{Answer, Ending, Stop};
pub use choose::{Chosen, Draw, choose};
