//! What a confined candidate may do beyond plain computing: create threads, and run code on its
//! stack.

use serde::{Deserialize, Serialize};

/// Threads that a candidate makes by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum OwnThreads {
    /// It may create threads, but its source creates none.
    Unused,
    /// It makes some.
    Used,
    /// Its stage forbids them, and it cannot create any.
    Forbidden,
}

/// Whether stacks may hold code, including those of later threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Stacks {
    /// Data alone.
    Plain,
    /// Code too.
    Executable,
}
