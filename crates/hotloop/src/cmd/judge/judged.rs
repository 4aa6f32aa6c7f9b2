//! One judgement of one item.

use hotloop_flow::{BenchError, Judgement};

use super::items::Item;

/// One judgement of one item.
pub(super) struct Judged<'a> {
    pub(super) item: &'a Item,
    /// Counts from 1; `None` if every file is judged once.
    pub(super) round: Option<u32>,
    pub(super) reply: Result<Judgement, BenchError>,
    pub(super) reward: Option<f64>,
}
