//! The confined compiler: a process that limits itself and then becomes a command, or two.
//!
//! It reports through a pipe that it finds at its standard input and that no command inherits: what
//! a compiler prints, and its exit status, a source may choose.

use std::ffi::{OsStr, OsString};
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

/// What the role reports when all that confines it is done. If it ends without this report, the
/// machine is to blame, and never the source. What follows in the report is a complaint.
pub(crate) const CONFINED: &str = "confined";

/// Stands between two commands, the second of which runs when the first succeeded.
pub(crate) const THEN: &str = "--then";

/// The role: `CONFINEMENT COMMAND ARGUMENT... [--then COMMAND ARGUMENT...]`.
pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> i32 {
    let arguments: Vec<OsString> = arguments.collect();
    let Ok(mut report) = take_report() else {
        return 1;
    };
    match confine_and_become(&arguments, &mut report) {
        Ok(status) => status,
        Err(why) => {
            if report.write_all(why.as_bytes()).is_err() {
                // The report may say that all went well so far, and an exit status would then be
                // the compiler's. A kill is nobody's choice but the machine's.
                drop(sys::signal(std::process::id() as sys::Pid, libc::SIGKILL));
            }
            1
        }
    }
}

/// The report's pipe at standard input, which becomes empty for the command.
pub(crate) fn take_report() -> std::io::Result<File> {
    let report = std::io::stdin().as_fd().try_clone_to_owned()?;
    let nothing = File::open("/dev/null")?;
    sys::inherit_as(nothing.as_raw_fd(), 0)?;
    Ok(report.into())
}

/// The complaint in a report. A role that says nothing has one, too.
pub(crate) fn complaint(report: &str) -> Option<&str> {
    match report.strip_prefix(CONFINED) {
        Some("") => None,
        Some(after) => Some(after),
        None if report.is_empty() => Some("it ended before it was confined"),
        None => Some(report),
    }
}

/// Limits this process as a confinement in JSON says: everything but its system calls.
pub(crate) fn limit(confinement: &OsStr) -> Result<(), String> {
    let confinement: Confinement = serde_json::from_str(&confinement.to_string_lossy())
        .map_err(|error| format!("confinement: {error}"))?;
    // When memory runs out, this process goes first and not its judge. Where that cannot be said,
    // it is not.
    drop(std::fs::write("/proc/self/oom_score_adj", "1000"));
    let fail = |what: &'static str| move |error: std::io::Error| format!("{what}: {error}");
    if let Some(user) = confinement.user {
        sys::become_user(user).map_err(fail("dropping root"))?;
    }
    sys::die_with_parent().map_err(fail("parent death signal"))?;
    confinement.limits.apply().map_err(fail(NO_LIMITS))?;
    sys::no_new_privileges().map_err(fail("no new privileges"))?;
    confinement.files.as_ref().map_or(Ok(()), files::confine)
}

/// Returns the status of the first command if it failed; never returns if all goes well.
fn confine_and_become(arguments: &[OsString], report: &mut File) -> Result<i32, String> {
    let Some((confinement, commands)) = arguments.split_first() else {
        return Err("a confinement is missing".into());
    };
    limit(confinement)?;
    calls::confine_compiler()?;
    report
        .write_all(CONFINED.as_bytes())
        .map_err(|error| format!("report: {error}"))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_that_ends_in_silence_complains() {
        assert_eq!(complaint(CONFINED), None);
        assert_eq!(complaint(""), Some("it ended before it was confined"));
        assert_eq!(complaint("limits: no"), Some("limits: no"));
        assert_eq!(
            complaint("confinedcc: no such file"),
            Some("cc: no such file")
        );
    }
}
