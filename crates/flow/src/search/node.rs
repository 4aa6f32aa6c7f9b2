//! One judged candidate, as far as it matters for the search.

use serde::{Deserialize, Serialize};

use crate::stage::Stage;
use crate::verdict::Label;

/// One judged candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// The candidate's hash.
    pub hash: String,
    /// The hash of its normalised source, which copies share.
    pub normal: String,
    /// The stage that it was asked for.
    pub stage: Stage,
    /// Its verdict.
    pub label: Label,
    /// Its speed in the unit of its task, if it is correct.
    pub speed: Option<f64>,
}

impl Node {
    /// The speed for ranking. Only correct nodes with a finite speed have one.
    pub fn rank(&self) -> Option<f64> {
        self.speed
            .filter(|speed| self.label == Label::Correct && speed.is_finite())
    }

    /// Whether a repair may start from it.
    pub fn is_broken(&self) -> bool {
        self.label.is_broken()
    }
}
