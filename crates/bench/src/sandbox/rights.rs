//! What a confined candidate may do beyond plain computing: threads of its own, code on its stacks.

use serde::{Deserialize, Serialize};

/// Threads that a candidate makes by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum OwnThreads {
    /// It may, and its source makes none.
    Unused,
    /// It makes some.
    Used,
    /// Its stage forbids them, and it gets none however it asks.
    Forbidden,
}

/// What stacks are for, those of threads to come too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Stacks {
    /// Data alone.
    Plain,
    /// Code too.
    Executable,
}
