//! What running pairs showed.

use std::collections::BTreeMap;

use hotloop_flow::Label;
use serde::{Deserialize, Serialize};

/// What running both sides of a pair showed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ran {
    pub harness: String,
    pub mark: Mark,
    /// Whether both sides computed what is right on the same problems; `None` if that is open.
    pub equal: Option<bool>,
    /// How many times as fast the fast side is, if both are right.
    pub speedup: Option<Speedup>,
    pub slow: RunSide,
    pub fast: RunSide,
    /// The machine's class.
    pub machine: String,
    /// The GPU.
    pub device: String,
}

/// What a pair turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// Both sides are right, and the whole interval of the speed-up lies above 1.
    Faster,
    /// Both are right, and the interval holds 1.
    AsFast,
    /// Both are right, and the whole interval lies below 1.
    Slower,
    /// The slow side is right and the fast side is not.
    Unequal,
    /// The slow side is not right, or a side was never run or is too fast to be believed: the
    /// harness or the pair is at fault, and nothing is known of the two sides.
    Unproven,
}

impl Mark {
    /// All marks.
    pub const ALL: [Self; 5] = [
        Self::Faster,
        Self::AsFast,
        Self::Slower,
        Self::Unequal,
        Self::Unproven,
    ];

    /// The name in JSON and in text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::AsFast => "as-fast",
            Self::Slower => "slower",
            Self::Unequal => "unequal",
            Self::Unproven => "unproven",
        }
    }
}

/// A speed-up: the median of the rounds' ratios, and an interval that holds the true median with
/// at least 95 %, if there are six rounds or more.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Speedup {
    pub value: f64,
    pub low: f64,
    pub high: f64,
    pub rounds: usize,
    /// Rounds in which nothing else used the GPU.
    pub quiet: usize,
}

/// What became of one side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSide {
    /// The verdict that decided: the first that is not `correct`.
    pub verdict: Label,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Seconds of a timed call, the median of the rounds.
    pub seconds: Option<f64>,
    /// The largest error in units of the reference's scale.
    pub error: Option<f64>,
}

/// How many pairs were run, and what they turned out to be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCounts {
    /// Pairs that were run.
    pub run: usize,
    /// Pairs that no harness fits.
    pub without_harness: usize,
    /// Pairs whose sides both computed what is right.
    pub equal: usize,
    /// By their mark.
    pub marks: BTreeMap<Mark, usize>,
    /// Pairs that are in no chat because of what they turned out to be.
    pub dropped: usize,
    /// The GPUs, by the machine's class.
    pub machines: BTreeMap<String, String>,
}
