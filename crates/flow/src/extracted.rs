//! What reading a completion or a file gives: a source, or the reason why there is none.

/// The longest completion that is looked at.
pub(crate) const COMPLETION_BYTES: usize = 1 << 20;
/// The longest source that is judged.
pub(crate) const SOURCE_BYTES: usize = 256 << 10;

/// A source that defines what its task asks for, and what was repaired on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extracted {
    pub source: String,
    /// What was repaired, one sentence each.
    pub notes: Vec<String>,
}

/// No candidate could be made; becomes the verdict `malformed`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Malformed {
    /// What is missing, fit for a repair prompt.
    pub why: String,
}
