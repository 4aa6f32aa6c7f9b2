//! What is wrong with a task.

use crate::formula::FormulaError;

/// A task that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TaskError {
    /// `task.toml` cannot be read.
    #[error("task.toml: {0}")]
    Toml(String),
    /// A formula of `task.toml` is wrong.
    #[error("task.toml: {key}: {source}")]
    Formula {
        /// The key that holds the formula.
        key: String,
        /// What is wrong.
        source: FormulaError,
    },
    /// A rule that concerns several keys is broken.
    #[error("task.toml: {0}")]
    Rule(String),
}
