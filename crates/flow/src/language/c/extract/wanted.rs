//! What an answer must define.

use crate::interface::Function;
use crate::language::c::lex::Dialect;

/// The entry point of a task.
pub(crate) struct Wanted<'a> {
    pub(crate) function: &'a Function,
    pub(crate) dialect: Dialect,
    /// How it is declared, for messages.
    pub(crate) prototype: String,
}
