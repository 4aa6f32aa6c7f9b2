//! One cell of a suite's table, a policy on a task, kept in a file so that a suite can go on.

use std::path::{Path, PathBuf};

use hotloop_flow::{Label, MachineFacts, Task};
use hotloop_run::Scores;
use serde::{Deserialize, Serialize};

use super::super::contestant::Contestant;
use super::super::line::Line;
use super::file::PolicyEntry;
use crate::cli::evaluate::EvaluateArgs;
use crate::failure::Failure;

/// What is known of one policy on one task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Cell {
    pub(super) policy: String,
    pub(super) task: String,
    /// Seconds per call of the task's seed.
    pub(super) seed_seconds: f64,
    pub(super) scores: Scores,
    /// The number of answers with each verdict.
    pub(super) verdicts: std::collections::BTreeMap<Label, usize>,
    /// Speed-up of the fastest answer over the seed, timed again.
    pub(super) best_speedup: Option<f64>,
    pub(super) tokens: usize,
    pub(super) sampling_seconds: f64,
    pub(super) judging_seconds: f64,
}

impl Cell {
    pub(super) fn of(line: &Line, seed_seconds: f64) -> Self {
        Self {
            policy: line.policy.clone(),
            task: line.task.clone(),
            seed_seconds,
            scores: line.scores.clone(),
            verdicts: line.evaluation.verdicts.clone(),
            best_speedup: line.best.as_ref().map(|best| best.speedup),
            tokens: line.tokens,
            sampling_seconds: line.sampling_seconds,
            judging_seconds: line.judging_seconds,
        }
    }
}

/// The files of the cells that are finished.
pub(super) struct Cells {
    folder: PathBuf,
}

impl Cells {
    pub(super) fn open(out: &Path) -> Result<Self, Failure> {
        let folder = out.join("cells");
        fs_err::create_dir_all(&folder).map_err(|error| unwritable(&error))?;
        Ok(Self { folder })
    }

    /// The cell under this key. A file that cannot be read is as good as none.
    pub(super) fn get(&self, key: &str) -> Option<Cell> {
        let text = std::fs::read_to_string(self.path(key)).ok()?;
        serde_json::from_str(&text).ok()
    }

    pub(super) fn put(&self, key: &str, cell: &Cell) -> Result<(), Failure> {
        let json = serde_json::to_string_pretty(cell).expect("it has a JSON form");
        write(&self.path(key), &json)
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.json"))
    }
}

/// Writes a file, whole or not at all.
pub(in crate::cmd::evaluate) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    hotloop_run::store::write_whole(path, text.as_bytes()).map_err(|error| unwritable(&error))
}

fn unwritable(error: &std::io::Error) -> Failure {
    Failure::user(error.to_string())
        .hint("name another folder with --out")
        .of_file(error.kind())
}

/// Identifies everything that a cell depends on: the model's files, how it is asked, the task, and
/// the machine that judges.
pub(super) fn key(
    entry: &PolicyEntry,
    contestant: &Contestant,
    arguments: &EvaluateArgs,
    task: &Task,
    facts: &MachineFacts,
) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut add = |text: &str| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    add(env!("CARGO_PKG_VERSION"));
    add(&contestant.name);
    add(&format!("{:?}", contestant.config));
    add(&format!("{:?} {}", arguments.stage, arguments.count));
    add(&task.hash);
    add(&facts.class);
    for path in entry.files() {
        add(&identity(&path));
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

/// The sizes and times of a file, or of the files in a folder and the folders in it.
pub(in crate::cmd::evaluate) fn identity(path: &Path) -> String {
    let Ok(data) = path.metadata() else {
        return String::new();
    };
    if !data.is_dir() {
        return format!(
            "{} {} {:?};",
            path.display(),
            data.len(),
            data.modified().ok()
        );
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut parts: Vec<String> = entries.map(|entry| identity(&entry.path())).collect();
    parts.sort();
    parts.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_has_another_identity() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("inner/model");
        std::fs::create_dir(folder.path().join("inner")).unwrap();
        std::fs::write(&file, "one").unwrap();
        let before = identity(folder.path());
        assert_eq!(identity(folder.path()), before);
        std::fs::write(&file, "longer").unwrap();
        assert_ne!(identity(folder.path()), before);
    }

    #[test]
    fn a_damaged_cell_is_evaluated_again() {
        let folder = tempfile::tempdir().unwrap();
        let cells = Cells::open(folder.path()).unwrap();
        assert_eq!(cells.get("key"), None);
        std::fs::write(cells.path("key"), "{").unwrap();
        assert_eq!(cells.get("key"), None);
    }
}
