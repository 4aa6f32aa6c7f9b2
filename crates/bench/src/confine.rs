//! The confined compiler: a process that limits itself and then becomes a command.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::sandbox::{calls, files, limits::Limits};
use crate::sys;

/// What the command may do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Confinement {
    /// The user to become, when started by root.
    pub(crate) user: Option<u32>,
    /// Resource limits.
    pub(crate) limits: Limits,
    /// The files that stay open, where Landlock holds.
    pub(crate) files: Option<files::OpenFiles>,
}

/// Exit status when the command could not be confined or started.
pub(crate) const NOT_STARTED: i32 = 125;

/// The role: `CONFINEMENT COMMAND ARGUMENT...`.
pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> i32 {
    let arguments: Vec<OsString> = arguments.collect();
    let Err(why) = confine_and_become(&arguments);
    // Read by the bench from the diagnostics file; there is no one else to tell.
    drop(std::io::Write::write_all(&mut std::io::stderr(), format!("hotloop: {why}\n").as_bytes()));
    NOT_STARTED
}

fn confine_and_become(arguments: &[OsString]) -> Result<std::convert::Infallible, String> {
    let [confinement, program, rest @ ..] = arguments else {
        return Err("a confinement and a command are missing".into());
    };
    let confinement: Confinement =
        serde_json::from_str(&confinement.to_string_lossy()).map_err(|error| format!("confinement: {error}"))?;
    let fail = |what: &'static str| move |error: std::io::Error| format!("{what}: {error}");
    if let Some(user) = confinement.user {
        sys::become_user(user).map_err(fail("dropping root"))?;
    }
    sys::die_with_parent().map_err(fail("parent death signal"))?;
    confinement.limits.apply().map_err(fail("limits"))?;
    sys::no_new_privileges().map_err(fail("no new privileges"))?;
    if let Some(open) = &confinement.files {
        files::confine(open)?;
    }
    calls::confine_compiler()?;
    let error = Command::new(program).args(rest).exec();
    Err(format!("{}: {error}", program.to_string_lossy()))
}
