//! The roles that become another program, in its jail: a recorder, which is a host half's own
//! program, and a Python interpreter. Neither has a GPU, a network, a thread, or a file that it may
//! write.

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

/// The descriptor that the program talks to the bench through.
const LINE: i32 = 3;

/// What a program is, beyond its confinement.
pub(crate) struct Jailed {
    /// What it is called in complaints.
    pub(crate) name: &'static str,
    /// Leaves it the system calls that it needs, the start of a program included.
    pub(crate) prepare: fn(sys::Pid) -> Result<(), String>,
    pub(crate) environment: &'static [(&'static str, &'static str)],
}

/// A host half: its addresses are the same in every process, so that its plans are.
pub(crate) const RECORDER: Jailed = Jailed {
    name: "the recorder",
    prepare: |pid| {
        sys::become_predictable().map_err(|error| format!("predictable: {error}"))?;
        calls::confine_recorder(pid)
    },
    environment: &[],
};

/// An interpreter: names have the same hashes every time, so that a set has the same order in every
/// plan.
pub(crate) const INTERPRETER: Jailed = Jailed {
    name: "the interpreter",
    prepare: calls::confine_interpreter,
    environment: &[("PYTHONHASHSEED", "0"), ("LC_ALL", "C.UTF-8")],
};

impl Jailed {
    /// The role: `CONFINEMENT PROGRAM ARGUMENT...`. The program finds its line to the bench at
    /// standard output. What it prints goes nowhere.
    pub(crate) fn run(&self, arguments: impl Iterator<Item = OsString>) -> i32 {
        let arguments: Vec<OsString> = arguments.collect();
        if sys::inherit_as(1, LINE).is_err() {
            return 1;
        }
        let Ok(mut report) = confine::take_report() else {
            return 1;
        };
        let Err(why) = self.confine_and_become(&arguments, &mut report);
        // Where nothing can be written, the report lacks its first word, and that says enough.
        drop(report.write_all(why.as_bytes()));
        1
    }

    fn confine_and_become(
        &self,
        arguments: &[OsString],
        report: &mut File,
    ) -> Result<Infallible, String> {
        let [confinement, program, arguments @ ..] = arguments else {
            return Err(format!("{} is missing", self.name));
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
        (self.prepare)(std::process::id() as sys::Pid)?;
        report
            .write_all(CONFINED.as_bytes())
            .map_err(fail("report"))?;
        let error = Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(self.environment.iter().copied())
            .exec();
        Err(format!("{}: {error}", self.name))
    }
}
