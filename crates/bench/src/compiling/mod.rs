//! Compilers that meet what candidates wrote: confined, limited and watched, whatever their
//! language.

pub(crate) mod confined;
pub(crate) mod diagnostics;
pub(crate) mod installed;
pub(crate) mod names;
pub(crate) mod patience;
