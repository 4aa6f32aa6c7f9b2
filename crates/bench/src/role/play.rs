//! Which function plays which role.

use std::path::Path;

use crate::cpu::{blas, runner, supervisor};
use crate::gpu::compile::zygote;
use crate::gpu::examine;
use crate::role::jailed::{INTERPRETER, RECORDER};
use crate::role::names::{
    BLAS_CORE, CONFINE, GPU_EXAMINER, GPU_RUNNER, INTERPRET, RECORD, RUNNER, SUPERVISOR,
    TRY_NAMESPACES, WARM_COMPILER,
};
use crate::sandbox::namespaces;
use crate::{confine, sys};

/// Plays a hidden role and ends the process, if the first argument names one.
///
/// Programs that judge call this first in `main`.
pub fn play_if_asked() {
    let mut arguments = std::env::args_os().skip(1);
    let Some(role) = arguments.next() else { return };
    let Some(
        role @ (SUPERVISOR | RUNNER | CONFINE | RECORD | BLAS_CORE | TRY_NAMESPACES | GPU_EXAMINER
        | GPU_RUNNER | WARM_COMPILER | INTERPRET),
    ) = role.to_str()
    else {
        return;
    };
    sys::ignore_requests_to_end();
    let status = match role {
        SUPERVISOR => {
            // A terminal's signals, such as Ctrl-Z, must not reach the candidate that runs.
            sys::lead_own_group();
            supervisor::serve()
        }
        RUNNER => runner::run(),
        CONFINE => {
            // The time limit kills the whole group.
            sys::lead_own_group();
            confine::run(arguments)
        }
        RECORD => {
            sys::lead_own_group();
            RECORDER.run(arguments)
        }
        INTERPRET => {
            sys::lead_own_group();
            INTERPRETER.run(arguments)
        }
        WARM_COMPILER => {
            sys::lead_own_group();
            zygote::run(arguments)
        }
        GPU_EXAMINER => {
            sys::lead_own_group();
            examine::serve::run()
        }
        GPU_RUNNER => examine::runner::run(arguments),
        BLAS_CORE => arguments
            .next()
            .map_or(1, |library| blas::print_core(Path::new(&library))),
        _ => i32::from(!namespaces::can_enter()),
    };
    std::process::exit(status);
}

/// Makes a write beyond the file size limit (`ulimit -f`) return an error instead of killing the
/// program. The program can then report the error. Child processes keep the limit and its signal.
pub fn outlive_file_limit() {
    // Where the signal cannot be caught, it ends the program as before.
    drop(sys::outlive_file_limit());
}
