//! Why a source cannot be split.

/// Why a source cannot be split, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct Refusal {
    /// Where, from 1.
    pub line: u32,
    /// What cannot be expressed, and what to write instead.
    pub why: String,
}
