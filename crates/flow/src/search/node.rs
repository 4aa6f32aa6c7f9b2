//! One judged candidate, as far as the search cares.

use serde::{Deserialize, Serialize};

use crate::stage::Stage;
use crate::verdict::Label;

/// One judged candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// The candidate's hash.
    pub hash: String,
    /// The hash of its normalised source: copies share it.
    pub normal: String,
    /// The stage that it was asked for.
    pub stage: Stage,
    /// How it fared.
    pub label: Label,
    /// Its speed, when it is correct.
    pub gflops: Option<f64>,
}

impl Node {
    /// Its speed, when it is correct and that is a number.
    pub fn speed(&self) -> Option<f64> {
        self.gflops
            .filter(|gflops| self.label == Label::Correct && gflops.is_finite())
    }

    /// Whether a repair may start from it.
    pub fn is_broken(&self) -> bool {
        self.label.is_broken()
    }
}
