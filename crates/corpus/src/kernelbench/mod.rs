//! The problems of `KernelBench`, read from a checkout that the user names.
//!
//! A problem is a Python file with a `Model`, its inputs and the arguments of its constructor.
//! Nothing here runs Python.

mod source;
mod split;
mod tree;

pub use source::Part;
pub use split::{HELD_OUT, SEED, Split, split};
pub use tree::{Problem, Problems, TreeError, read};
