//! Thin safe wrappers over the system calls that the bench needs.

mod call;
mod child;
mod files;
mod memory;
mod own;
mod signals;
mod socket;
mod times;
mod trace;

pub(crate) use call::*;
pub(crate) use child::*;
pub use files::RAISE;
pub(crate) use files::*;
pub(crate) use memory::*;
pub(crate) use own::*;
pub(crate) use signals::*;
pub(crate) use socket::*;
pub(crate) use times::*;
pub(crate) use trace::*;
