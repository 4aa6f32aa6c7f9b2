//! One file or folder per command.

pub(crate) mod bench;
pub(crate) mod doctor;
pub(crate) mod judge;
pub(crate) mod task;
