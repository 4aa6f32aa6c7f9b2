//! One call of an entry point: its sizes, and what it passes.

use hotloop_flow::formula::Sizes;
use serde::{Deserialize, Serialize};

/// One call of an entry point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Call {
    pub(crate) sizes: Sizes,
    /// In the order of the parameters.
    pub(crate) arguments: Vec<Passed>,
}

/// What a call passes for one parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Passed {
    /// A pointer to this many bytes.
    Buffer(u64),
    /// A number, as it lies in memory.
    Scalar(Vec<u8>),
}
