//! The role that becomes a Python interpreter: no GPU, no network, no thread, no file that it may write,
//! and of those that it may read only Python's own and the stand-in's.

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

/// The descriptor of the line to the bench.
const LINE: i32 = 3;

/// The role: `CONFINEMENT INTERPRETER ARGUMENT...`. The line is found at standard output, and what the
/// interpreter prints goes nowhere.
pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> i32 {
    let arguments: Vec<OsString> = arguments.collect();
    if sys::inherit_as(1, LINE).is_err() {
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
        return Err("an interpreter is missing".into());
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
    calls::confine_interpreter(std::process::id() as sys::Pid)?;
    report
        .write_all(CONFINED.as_bytes())
        .map_err(fail("report"))?;
    // The same names for hashes every time, so that a set has the same order in every plan.
    let error = Command::new(program)
        .args(arguments)
        .env_clear()
        .env("PYTHONHASHSEED", "0")
        .env("LC_ALL", "C.UTF-8")
        .exec();
    Err(format!("the interpreter: {error}"))
}
