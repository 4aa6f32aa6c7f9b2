//! A job's record: a small file in its folder. It is written atomically, so a job that is killed at
//! any moment can continue from it.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::plan::Job;
use crate::store::write_whole;

/// The record's file in the job's folder.
const FILE: &str = "job.json";

/// How far a job has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It started but did not finish, because its time ran out or something ended it.
    Cut,
    Failed,
    Done,
}

/// What is known about a job that has started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub state: State,
    /// Seconds over all attempts.
    pub seconds: f64,
    /// The commands that it started with.
    pub commands: Vec<Vec<String>>,
}

impl Record {
    /// The record in a job's folder; `None` if the job has not started.
    pub fn read(folder: &Path) -> io::Result<Option<Self>> {
        let path = folder.join(FILE);
        match fs_err::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| {
                let what = format!("{}: {error}", path.display());
                io::Error::new(io::ErrorKind::InvalidData, what)
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether a job may have this folder: nobody has put anything into it, or a record shows that
    /// a job did.
    pub fn may_have(folder: &Path) -> io::Result<bool> {
        let mut entries = match fs_err::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(false),
            entries => entries?,
        };
        Ok(entries.next().is_none() || Self::read(folder)?.is_some())
    }

    /// Writes the record into a job's folder.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let bytes = serde_json::to_vec_pretty(self).expect("records have a JSON form");
        write_whole(&folder.join(FILE), &bytes)
    }

    /// Whether the job still has the commands that it started with. The `budget` of an unfinished
    /// run may change.
    pub fn fits(&self, job: &Job) -> bool {
        let ends = |word: &String| self.state != State::Done && word.starts_with("budget.");
        let rest = |commands: &[Vec<String>]| -> Vec<Vec<String>> {
            let rest = |command: &Vec<String>| {
                command
                    .iter()
                    .map(|word| match word.split_once('=') {
                        Some((key, _)) if ends(word) => key.to_owned(),
                        _ => word.clone(),
                    })
                    .collect()
            };
            commands.iter().map(rest).collect()
        };
        rest(&self.commands) == rest(&job.commands)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_record_is_read_back_and_knows_its_commands() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Record::read(folder.path()).unwrap(), None);
        let command = |rate: &str, seconds: u32| {
            let words =
                format!("train run.toml --set learning.rate={rate} --set budget.seconds={seconds}");
            vec![words.split(' ').map(str::to_owned).collect::<Vec<String>>()]
        };
        let job = |commands| Job {
            name: "learns".to_owned(),
            folder: PathBuf::new(),
            seconds: 1.0,
            commands,
            resume: None,
            needs: Vec::new(),
            against: None,
            show: false,
            have: false,
        };
        let mut record = Record {
            state: State::Cut,
            seconds: 3.5,
            commands: command("1e-4", 100),
        };
        record.write(folder.path()).unwrap();
        assert_eq!(Record::read(folder.path()).unwrap(), Some(record.clone()));
        assert!(
            record.fits(&job(command("1e-4", 200))),
            "its end may change"
        );
        assert!(!record.fits(&job(command("2e-4", 100))));
        record.state = State::Done;
        assert!(record.fits(&job(command("1e-4", 100))));
        assert!(!record.fits(&job(command("1e-4", 200))), "it has ended");
        std::fs::write(folder.path().join(FILE), "{").unwrap();
        assert!(Record::read(folder.path()).is_err());
    }

    #[test]
    fn a_folder_with_something_else_belongs_to_no_job() {
        let folder = tempfile::tempdir().unwrap();
        let may_have = |path: &Path| Record::may_have(path).unwrap();
        assert!(may_have(&folder.path().join("new")) && may_have(folder.path()));
        let thesis = folder.path().join("thesis.tex");
        std::fs::write(&thesis, "").unwrap();
        assert!(!may_have(folder.path()) && !may_have(&thesis));
        let record = Record {
            state: State::Failed,
            seconds: 1.0,
            commands: Vec::new(),
        };
        record.write(folder.path()).unwrap();
        assert!(may_have(folder.path()));
    }
}
