//! The hidden roles of the executable.
//!
//! Judging needs processes that are small, single-threaded and born clean: the supervisor
//! of a timing slot, the runner that becomes the candidate, the confined compiler. All are
//! this same executable, started again with the name of a role.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::cpu::{blas, runner, supervisor};
use crate::{confine, sandbox, sys};

pub use crate::sys::RAISE;

pub(crate) const SUPERVISOR: &str = "__supervisor";
pub(crate) const RUNNER: &str = "__runner";
pub(crate) const CONFINE: &str = "__confine";
pub(crate) const BLAS_CORE: &str = "__blas-core";
const TRY_NAMESPACES: &str = "__try-namespaces";

/// Plays a hidden role and ends the process, if the first argument names one.
///
/// Programs that judge call this first in `main`.
pub fn play_if_asked() {
    let mut arguments = std::env::args_os().skip(1);
    let Some(role) = arguments.next() else { return };
    let status = match role.to_str() {
        Some(SUPERVISOR) => supervisor::serve(),
        Some(RUNNER) => runner::run(),
        Some(CONFINE) => confine::run(arguments),
        Some(BLAS_CORE) => arguments
            .next()
            .map_or(1, |library| blas::print_core(Path::new(&library))),
        Some(TRY_NAMESPACES) => i32::from(!try_namespaces()),
        _ => return,
    };
    std::process::exit(status);
}

/// Makes a write beyond the file size limit (`ulimit -f`) return an error instead of killing the program.
/// The program can then report the error. Child processes keep the limit and its signal.
pub fn outlive_file_limit() {
    // Where the signal cannot be caught, it ends the program as before.
    drop(sys::outlive_file_limit());
}

fn try_namespaces() -> bool {
    // As the runner does: root drops first, and what root may is not the question.
    let dropped = !sys::is_root() || sys::become_user(sandbox::unprivileged_user(0)).is_ok();
    dropped && sandbox::enter_namespaces().is_ok()
}

/// Whether an unprivileged process may make namespaces here: tried in a process of its own.
pub(crate) fn namespaces_work(roles: &Path) -> bool {
    Command::new(roles)
        .arg(TRY_NAMESPACES)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
