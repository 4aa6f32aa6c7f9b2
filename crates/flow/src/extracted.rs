//! The result of reading a completion or a file: a source, or the reason why there is none.

/// Maximum size of a completion in bytes.
pub(crate) const COMPLETION_BYTES: usize = 1 << 20;
/// Maximum size of a source in bytes.
pub(crate) const SOURCE_BYTES: usize = 256 << 10;

/// A source that defines the task's entry point, and the repairs made to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extracted {
    pub source: String,
    /// The repairs, one sentence each.
    pub notes: Vec<String>,
}

/// There is no candidate. This becomes the verdict `malformed`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Malformed {
    /// What is missing, fit for a repair prompt.
    pub why: String,
}
