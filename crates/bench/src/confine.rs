//! The confined compiler: a process that limits itself and then becomes a command, or two.
//!
//! It complains through a pipe that it finds at its standard input and that no command inherits: what
//! a compiler prints, and its exit status, a source may choose.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd};
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

/// What could not be done when limits could not be set.
pub(crate) const NO_LIMITS: &str = "limits";

/// Stands between two commands, the second of which runs when the first succeeded.
pub(crate) const THEN: &str = "--then";

/// The role: `CONFINEMENT COMMAND ARGUMENT... [--then COMMAND ARGUMENT...]`.
pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> i32 {
    let arguments: Vec<OsString> = arguments.collect();
    let Ok(mut complaints) = take_complaints() else {
        return 1;
    };
    match confine_and_become(&arguments) {
        Ok(status) => status,
        Err(why) => {
            // Without the pipe there is no one else to tell.
            drop(complaints.write_all(why.as_bytes()));
            1
        }
    }
}

/// The pipe at standard input, which becomes empty for the command.
fn take_complaints() -> std::io::Result<File> {
    let complaints = std::io::stdin().as_fd().try_clone_to_owned()?;
    let nothing = File::open("/dev/null")?;
    sys::inherit_as(nothing.as_raw_fd(), 0)?;
    Ok(complaints.into())
}

/// Returns the status of the first command if it failed; never returns if all goes well.
fn confine_and_become(arguments: &[OsString]) -> Result<i32, String> {
    let Some((confinement, commands)) = arguments.split_first() else {
        return Err("a confinement is missing".into());
    };
    let confinement: Confinement = serde_json::from_str(&confinement.to_string_lossy())
        .map_err(|error| format!("confinement: {error}"))?;
    // When memory runs out, the compiler goes first and not its judge. Where that cannot be said, it is not.
    drop(std::fs::write("/proc/self/oom_score_adj", "1000"));
    let fail = |what: &'static str| move |error: std::io::Error| format!("{what}: {error}");
    if let Some(user) = confinement.user {
        sys::become_user(user).map_err(fail("dropping root"))?;
    }
    sys::die_with_parent().map_err(fail("parent death signal"))?;
    confinement.limits.apply().map_err(fail(NO_LIMITS))?;
    sys::no_new_privileges().map_err(fail("no new privileges"))?;
    if let Some(open) = &confinement.files {
        files::confine(open)?;
    }
    calls::confine_compiler()?;
    let mut commands = commands.split(|word| word == THEN);
    let (Some(first), second) = (commands.next(), commands.next()) else {
        return Err("a command is missing".into());
    };
    if let Some(second) = second {
        let status = command(first)?
            .status()
            .map_err(|error| format!("{}: {error}", first[0].to_string_lossy()))?;
        if !status.success() {
            // A driver that a signal ended has said so itself.
            return Ok(status.code().unwrap_or(1));
        }
        return Err(format!(
            "{}: {}",
            second[0].to_string_lossy(),
            command(second)?.exec()
        ));
    }
    Err(format!(
        "{}: {}",
        first[0].to_string_lossy(),
        command(first)?.exec()
    ))
}

fn command(words: &[OsString]) -> Result<Command, String> {
    let [program, arguments @ ..] = words else {
        return Err("a command is missing".into());
    };
    let mut command = Command::new(program);
    command.args(arguments);
    Ok(command)
}
