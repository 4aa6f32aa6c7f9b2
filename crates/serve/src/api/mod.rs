//! hotloop's own interface.

pub(crate) mod about;
pub(crate) mod judge;
pub(crate) mod prompts;
pub(crate) mod runs;
pub(crate) mod tasks;
