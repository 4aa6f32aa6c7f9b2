//! Judges answers one after the other, and keeps the verdicts in a file.

use std::fs::File;
use std::path::{Path, PathBuf};

use hotloop_bench::torch::{Answer, Facts, Judge, Judging};
use hotloop_flow::{Device, ErrorKind, Reward};

use super::record::{Circumstances, Record};
use crate::cmd::bench::lines;
use crate::cmd::bench::problems::Named;
use crate::failure::Failure;

/// Why an answer has no verdict.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::cmd) struct Failed {
    pub(in crate::cmd) kind: ErrorKind,
    pub(in crate::cmd) why: String,
}

/// What became of an answer: its record, or the failure that left it without a verdict.
pub(in crate::cmd) type Came = Result<Record, Failed>;

/// The judge with what it knows.
pub(in crate::cmd) struct Sitting {
    judge: Judge,
    pub(in crate::cmd) circumstances: Circumstances,
    known: Vec<Record>,
    out: Option<(File, PathBuf)>,
    /// What answers earn, if that is asked for.
    pub(in crate::cmd) reward: Option<Reward>,
    /// The problem that was read last, by its name.
    read: Option<(String, Read)>,
}

/// The facts of a problem, or why it cannot be read.
type Read = Result<Facts, String>;

impl Sitting {
    /// Prepares this machine. `python` names the Python that has torch, and `out` the file that
    /// keeps the verdicts.
    pub(in crate::cmd) fn open(
        how: Judging,
        python: Option<&Path>,
        out: Option<&Path>,
    ) -> Result<Self, Failure> {
        let (known, out) = match out {
            Some(path) => {
                let (known, file) = lines::open::<Record>(path)?;
                (known, Some((file, path.to_owned())))
            }
            None => (Vec::new(), None),
        };
        let judge = Judge::open(&crate::settings::own()?, python, how)?;
        let circumstances = Circumstances {
            with_compiled: how.with_compiled,
            limit_s: how.limit_s,
            runs: how.runs,
            gpu: judge.device().map(named),
            torch: judge.torch().map(str::to_owned),
        };
        Ok(Self {
            judge,
            circumstances,
            known,
            out,
            reward: None,
            read: None,
        })
    }

    /// The verdict on an answer in the file `path`, if it is known.
    pub(in crate::cmd) fn known(
        &self,
        problem: &Named,
        path: &Path,
        answer: &str,
    ) -> Option<&Record> {
        let asked = self.circumstances.asked(problem, path, answer);
        self.known.iter().find(|known| known.asked == asked)
    }

    /// Judges an answer. A failure is this answer's alone: others may get verdicts.
    pub(in crate::cmd) fn judge(
        &mut self,
        problem: &Named,
        path: &Path,
        answer: &str,
    ) -> Result<Came, Failure> {
        let facts = match &self.read {
            Some((name, read)) if *name == problem.name => read.clone(),
            _ => {
                let read = self.judge.problem(&problem.source)?;
                self.read = Some((problem.name.clone(), read.clone()));
                read
            }
        };
        let failed = |kind, why| Failed { kind, why };
        let facts = match facts {
            Ok(facts) => facts,
            Err(why) => {
                let why = format!("{}: the problem cannot be read: {why}", problem.name);
                return Ok(Err(failed(ErrorKind::User, why)));
            }
        };
        let asked = self.circumstances.asked(problem, path, answer);
        Ok(self
            .judge
            .judge(&problem.source, &facts, Answer::named(path, answer))
            .map(|judged| Record::of(asked, &judged))
            .map_err(|error| failed(error.kind, error.what)))
    }

    /// Keeps a verdict.
    pub(in crate::cmd) fn keep(&mut self, record: &Record) -> Result<(), Failure> {
        if let Some((file, path)) = &mut self.out {
            lines::write(file, path, record)?;
        }
        self.known.push(record.clone());
        Ok(())
    }
}

fn named(device: &Device) -> String {
    match device {
        Device::Gpu { name, .. } | Device::Cpu { name, .. } => name.clone(),
    }
}
