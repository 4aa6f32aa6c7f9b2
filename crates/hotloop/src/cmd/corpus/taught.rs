//! What a teacher answered so far, on disk: one line per answer, so that nothing is asked or judged
//! twice after a kill.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use hotloop_flow::Label;
use hotloop_flow::random::Random;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// One answer with its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Answer {
    pub(super) task: String,
    /// Its number among the answers to that task, from 0.
    #[serde(rename = "answer")]
    pub(super) number: u32,
    pub(super) text: String,
    pub(super) tokens: u64,
    /// Whether the endpoint counted no tokens, so that they were estimated.
    pub(super) estimated: bool,
    /// `None` where the machine failed; such an answer teaches nothing.
    pub(super) verdict: Option<Label>,
    pub(super) detail: String,
    /// The normalised candidate, hashed; `None` without one.
    pub(super) program: Option<String>,
    pub(super) seconds: Option<f64>,
    /// The seconds of the task's seed over its own.
    pub(super) speedup: Option<f64>,
}

/// The settings of a folder. Answers drawn with others do not mix with its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Asked {
    pub(super) teacher: String,
    pub(super) sampling: String,
    pub(super) tasks: BTreeMap<String, String>,
    pub(super) machine: String,
}

/// Which tasks are taught.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Split {
    pub(super) seed: u64,
    pub(super) train: Vec<String>,
    pub(super) held_out: Vec<String>,
}

impl Split {
    /// Shuffles names, whatever their order, and holds the last `percent` of them back.
    pub(super) fn of(names: impl IntoIterator<Item = String>, seed: u64, percent: u8) -> Self {
        let mut train: Vec<String> = names
            .into_iter()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        Random::new(seed).shuffle(&mut train);
        let held = train.len() * usize::from(percent) / 100;
        let mut held_out = train.split_off(train.len() - held);
        train.sort();
        held_out.sort();
        Self {
            seed,
            train,
            held_out,
        }
    }
}

/// A folder with answers.
#[derive(Debug)]
pub(super) struct Taught {
    folder: PathBuf,
    pub(super) answers: Vec<Answer>,
}

impl Taught {
    /// Opens the folder, new or begun with the same settings.
    pub(super) fn open(folder: &Path, asked: &Asked, split: &Split) -> Result<Self, Failure> {
        let settings = folder.join("asked.json");
        let mut answers = Vec::new();
        if settings.exists() {
            let text = fs_err::read_to_string(&settings).map_err(|error| unreadable(&error))?;
            let began: Option<Asked> = serde_json::from_str(&text).ok();
            if began.as_ref() != Some(asked) {
                return Err(Failure::user(format!(
                    "{}: its answers were drawn with other settings, by another teacher or on another machine",
                    folder.display()
                ))
                .hint("repeat the command that began it, or name another folder with --out"));
            }
            answers = read(&folder.join("answers.jsonl"))?;
        } else {
            if folder.exists() {
                return Err(Failure::user(format!(
                    "{}: it exists, and holds no answers of a teacher",
                    folder.display()
                ))
                .hint("name another folder with --out"));
            }
            fs_err::create_dir_all(folder).map_err(|error| unreadable(&error))?;
            whole(&folder.join("split.json"), &json(split))?;
            whole(&settings, &json(asked))?;
        }
        Ok(Self {
            folder: folder.to_owned(),
            answers,
        })
    }

    /// Adds answers, on disk first.
    pub(super) fn add(&mut self, answers: Vec<Answer>) -> Result<(), Failure> {
        let mut file = fs_err::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.folder.join("answers.jsonl"))
            .map_err(|error| unreadable(&error))?;
        let mut lines = String::new();
        for answer in &answers {
            lines.push_str(&serde_json::to_string(answer).expect("it has a JSON form"));
            lines.push('\n');
        }
        file.write_all(lines.as_bytes())
            .and_then(|()| file.sync_data())
            .map_err(|error| unreadable(&error))?;
        self.answers.extend(answers);
        Ok(())
    }

    /// The tokens of all answers.
    pub(super) fn tokens(&self) -> u64 {
        self.answers.iter().map(|answer| answer.tokens).sum()
    }

    /// How many answers to a task there are.
    pub(super) fn count(&self, task: &str) -> u32 {
        self.answers
            .iter()
            .filter(|answer| answer.task == task)
            .count() as u32
    }

    /// Writes a file of the folder, all of it or nothing.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<(), Failure> {
        whole(&self.folder.join(name), text)
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("it has a JSON form") + "\n"
}

fn whole(path: &Path, text: &str) -> Result<(), Failure> {
    let fresh = path.with_extension("new");
    fs_err::write(&fresh, text)
        .and_then(|()| fs_err::rename(&fresh, path))
        .map_err(|error| unreadable(&error))
}

/// The answers of a file. A last line without its end is what a kill left of an answer: it goes,
/// and the answer is drawn again.
fn read(path: &Path) -> Result<Vec<Answer>, Failure> {
    let text = match fs_err::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.map_err(|error| unreadable(&error))?,
    };
    let end = text.rfind('\n').map_or(0, |at| at + 1);
    if end < text.len() {
        whole(path, &text[..end])?;
    }
    text[..end]
        .lines()
        .enumerate()
        .map(|(number, line)| {
            serde_json::from_str(line).map_err(|error| {
                let place = format!("{}, line {}: {error}", path.display(), number + 1);
                Failure::user(place).hint("remove the line, and its answer is drawn again")
            })
        })
        .collect()
}

fn unreadable(error: &std::io::Error) -> Failure {
    Failure::user(error.to_string())
        .hint("name another folder with --out")
        .of_file(error.kind())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(task: &str, number: u32) -> Answer {
        Answer {
            task: task.to_owned(),
            number,
            text: "```c\nint a;\n```".to_owned(),
            tokens: 7,
            estimated: false,
            verdict: Some(Label::Correct),
            detail: String::new(),
            program: Some("a".to_owned()),
            seconds: Some(1.0),
            speedup: Some(2.0),
        }
    }

    fn asked(teacher: &str) -> Asked {
        Asked {
            teacher: teacher.to_owned(),
            sampling: String::new(),
            tasks: BTreeMap::new(),
            machine: String::new(),
        }
    }

    #[test]
    fn a_torn_line_is_dropped_and_the_rest_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("taught");
        let split = Split::of(["a".to_owned()], 1, 0);
        let mut taught = Taught::open(&out, &asked("t"), &split).expect("it is new");
        taught
            .add(vec![answer("a", 0), answer("a", 1)])
            .expect("it is ours");
        let path = out.join("answers.jsonl");
        let text = fs_err::read_to_string(&path).expect("it is ours");
        fs_err::write(&path, &text[..text.len() - 9]).expect("it is ours");
        let mut again = Taught::open(&out, &asked("t"), &split).expect("it was begun so");
        assert_eq!((again.count("a"), again.tokens()), (1, 7));
        again.add(vec![answer("a", 1)]).expect("it is ours");
        let whole = Taught::open(&out, &asked("t"), &split).expect("it was begun so");
        assert_eq!(whole.answers, [answer("a", 0), answer("a", 1)]);
    }

    #[test]
    fn other_settings_and_foreign_folders_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let split = Split::of([], 1, 0);
        let foreign = Taught::open(folder.path(), &asked("t"), &split).expect_err("not ours");
        assert!(foreign.what().contains("holds no answers"), "{foreign:?}");
        let out = folder.path().join("taught");
        Taught::open(&out, &asked("t"), &split).expect("it is new");
        let other = Taught::open(&out, &asked("u"), &split).expect_err("another teacher");
        assert!(other.what().contains("other settings"), "{other:?}");
    }

    #[test]
    fn a_split_depends_on_names_and_seed_alone() {
        let names = |order: [&str; 5]| order.map(str::to_owned);
        let split = Split::of(names(["a", "b", "c", "d", "e"]), 42, 20);
        assert_eq!(split, Split::of(names(["e", "a", "d", "c", "b"]), 42, 20));
        assert_eq!((split.train.len(), split.held_out.len()), (4, 1));
        let others =
            (0..20).map(|seed| Split::of(names(["a", "b", "c", "d", "e"]), seed, 20).held_out);
        assert!(
            others.collect::<BTreeSet<_>>().len() > 1,
            "the seed matters"
        );
    }
}
