//! The role that becomes a recorder: a host half's own program, with no GPU, no file, no thread and
//! no clock.

use std::convert::Infallible;
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::confine::{self, CONFINED};
use crate::sandbox::calls;
use crate::sys;

/// The descriptor that the recorder writes its events to.
const PLAN: i32 = 3;

/// The role: `CONFINEMENT PROGRAM ARGUMENT...`. Events go to the file at standard output, and nothing
/// that the program prints goes anywhere.
pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> i32 {
    let arguments: Vec<OsString> = arguments.collect();
    if sys::inherit_as(1, PLAN).is_err() {
        return 1;
    }
    let Ok(mut report) = confine::take_report() else {
        return 1;
    };
    let Err(why) = confine_and_become(&arguments, &mut report);
    // Where nothing can be written, the report lacks its first word, and that says enough.
    drop(report.write_all(why.as_bytes()));
    1
}

fn confine_and_become(arguments: &[OsString], report: &mut File) -> Result<Infallible, String> {
    let [confinement, program, arguments @ ..] = arguments else {
        return Err("a program is missing".into());
    };
    let fail = |what: &'static str| move |error: std::io::Error| format!("{what}: {error}");
    let nothing = File::options()
        .write(true)
        .open("/dev/null")
        .map_err(fail("/dev/null"))?;
    for printed in [1, 2] {
        sys::inherit_as(nothing.as_raw_fd(), printed).map_err(fail("/dev/null"))?;
    }
    confine::limit(confinement)?;
    sys::become_predictable().map_err(fail("predictable"))?;
    calls::confine_recorder(std::process::id() as sys::Pid)?;
    report
        .write_all(CONFINED.as_bytes())
        .map_err(fail("report"))?;
    let error = Command::new(program).args(arguments).env_clear().exec();
    Err(format!("the recorder: {error}"))
}
