//! The bench for C on CPUs.

pub(crate) mod arithmetic;
pub(crate) mod bench;
pub(crate) mod blas;
pub(crate) mod clock;
pub(crate) mod compile;
pub(crate) mod crew;
pub(crate) mod drawing;
pub(crate) mod draws;
pub(crate) mod examine;
pub(crate) mod executable;
pub(crate) mod layout;
pub(crate) mod machine;
pub(crate) mod memory;
pub(crate) mod prepared;
pub(crate) mod prober;
pub(crate) mod roof;
pub(crate) mod runner;
pub(crate) mod screen;
pub(crate) mod shim;
pub(crate) mod slot;
pub(crate) mod supervisor;
pub(crate) mod symbols;
pub(crate) mod toolchain;
pub(crate) mod trusted;
pub(crate) mod verify;
