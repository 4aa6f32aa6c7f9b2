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

/// Tests that judge take turns: two benches on one machine would time each other.
fn turn() -> std::sync::MutexGuard<'static, ()> {
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
