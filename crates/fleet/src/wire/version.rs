//! The version of the messages.

/// Raise it whenever a message changes so that an earlier program cannot read it.
pub(crate) const VERSION: u32 = 3;
