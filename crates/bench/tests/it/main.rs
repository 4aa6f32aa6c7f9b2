//! Real compilers, real processes: what the bench says of real candidates.

mod cheats; // none is ever correct
mod fixtures; // candidates in files, and what is expected of them
mod honest; // none is ever refused
mod seeds; // every shipped task judges its own seed

use std::path::PathBuf;

use bench::Settings;

/// Settings whose hidden roles are played by this crate's own executable.
fn settings() -> Settings {
    Settings::new(PathBuf::from(env!("CARGO_BIN_EXE_bench-roles")))
}
