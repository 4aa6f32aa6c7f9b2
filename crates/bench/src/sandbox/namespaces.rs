//! User and IPC namespaces: whether they work here, and how to enter them.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::role::names::TRY_NAMESPACES;
use crate::sandbox::user::unprivileged_user;
use crate::sys;

/// Enters the namespaces of the runner.
pub(crate) fn enter() -> std::io::Result<()> {
    sys::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWIPC)
}

/// The role: whether this process can enter them after it has dropped root, like the runner.
pub(crate) fn can_enter() -> bool {
    let dropped = !sys::is_root() || sys::become_user(unprivileged_user(0)).is_ok();
    dropped && enter().is_ok()
}

/// Whether an unprivileged process may make namespaces here, tested in a separate process.
pub(crate) fn work(roles: &Path) -> bool {
    Command::new(roles)
        .arg(TRY_NAMESPACES)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
