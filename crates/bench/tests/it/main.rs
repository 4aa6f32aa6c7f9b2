//! Real compilers, real processes: what the bench says of real candidates.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should say where"
)]

mod batch; // many jobs at once: dedup, cancel, stages, levels, compilers
mod cheats; // none is ever correct
mod cuda; // CUDA candidates as far as this machine can judge them
mod fixtures; // candidates in files, and what is expected of them
mod gpu; // examiner and runner on an emulated GPU
mod honest; // none is ever refused
mod leftovers; // nothing stays behind hostile candidates
mod modules; // answers for torch, judged on an emulated GPU
mod mutants; // cheats hidden automatically; none is ever correct
mod outside; // signals from outside change no verdict
mod paper; // where the paper's check decides
mod profiles; // what is said about candidates without running them
mod roles; // arguments that no shipped task has
mod roof; // the bench's own kernels do what they are taken for
mod seeds; // every shipped task judges its own seed
mod slow_start; // the calls per run are the bench's choice
mod soak; // 500 hostile candidates, then 100 honest ones; asked for by name
mod surroundings; // other users, missing layers, missing tools
mod torch; // answers written for torch, up to their plans
mod uncounted; // a task without operations

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use hotloop_bench::Settings;

/// Settings whose hidden roles are played by this crate's own executable. Timings wait for a quiet
/// machine and verdicts do not, so whoever only asks for verdicts asks for no more rounds.
fn settings() -> Settings {
    Settings {
        rounds: 1,
        ..patient()
    }
}

/// The same, waiting for a quiet machine as long as a user's would: also the longest that a cheat
/// is looked at.
fn patient() -> Settings {
    let roles = std::env::var_os("HOTLOOP_TEST_ROLES")
        .unwrap_or_else(|| env!("CARGO_BIN_EXE_bench-roles").into());
    let mut settings = Settings::new(PathBuf::from(roles));
    if let Ok(compiler) = std::env::var("HOTLOOP_TEST_COMPILER") {
        settings.how.compiler = compiler.parse().unwrap();
    }
    settings
}

/// The same with batches of teams that are as long as they must be and no longer: a default one
/// draws and checks a quarter of a gigabyte for every sample. For who asks whether a team is judged
/// right under other circumstances; at the default length the suites of cheats and of honest
/// candidates ask.
fn brief() -> Settings {
    Settings {
        team_run_s: 1e-3,
        ..settings()
    }
}

/// Tests that judge take turns: two benches on one machine would time each other.
fn turn() -> (RwLockReadGuard<'static, ()>, MutexGuard<'static, ()>) {
    let beside = beside();
    (beside, turn_of_one_beside())
}

/// The turn of a test that had a bench before it needed one.
fn turn_of_one_beside() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tests whose benches only wait go on beside those that have the turn.
fn beside() -> RwLockReadGuard<'static, ()> {
    ROOM.read().unwrap_or_else(PoisonError::into_inner)
}

/// Tests that look at all processes of this suite have them to themselves.
fn alone() -> RwLockWriteGuard<'static, ()> {
    ROOM.write().unwrap_or_else(PoisonError::into_inner)
}

/// Read by all who have a bench, written by who has the only one.
static ROOM: RwLock<()> = RwLock::new(());
