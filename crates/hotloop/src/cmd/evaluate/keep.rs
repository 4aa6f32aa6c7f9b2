//! Writes every answer with its verdict to disk, as evidence for the figures.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use hotloop_flow::{Judgement, Label, Measured, Stage, Verdict};
use hotloop_run::evaluation::Answer;
use serde::Serialize;

use super::contestant;
use super::line::Line;
use super::timing::Asked;
use crate::failure::Failure;

/// A folder with `answers.jsonl`, a file for each answer, and `evaluation.json` at the end.
pub(super) struct Keep {
    folder: PathBuf,
    /// `answers.jsonl`, as soon as there is an answer.
    index: Option<fs_err::File>,
}

/// One answer in `answers.jsonl`.
#[derive(Serialize)]
struct Kept<'a> {
    policy: &'a str,
    task: &'a str,
    stage: u8,
    /// The answer's number for that prompt, from 0.
    answer: usize,
    /// `None` where the machine failed.
    verdict: Option<Label>,
    detail: String,
    /// `None` if the task counts no operations.
    gflops: Option<f64>,
    speedup: Option<f64>,
    /// The file with the candidate's source, or with the whole answer if it contains no candidate.
    file: &'a str,
}

impl Keep {
    pub(super) fn create(folder: &Path) -> Result<Self, Failure> {
        let is_empty = || std::fs::read_dir(folder).is_ok_and(|mut inside| inside.next().is_none());
        if folder.exists() && !is_empty() {
            return Err(
                Failure::user(format!("{}: it already exists", folder.display()))
                    .hint("name another with --keep"),
            );
        }
        fs_err::create_dir_all(folder).map_err(|error| unwritable(&error))?;
        Ok(Self {
            folder: folder.to_owned(),
            index: None,
        })
    }

    /// Writes the answers to one prompt.
    pub(super) fn answers(
        &mut self,
        policy: &str,
        asked: &Asked,
        stage: Stage,
        answers: &[Answer],
        judged: &[Option<Judgement>],
    ) -> Result<(), Failure> {
        let task = asked.task.spec.name.as_str();
        let inside = Path::new(&contestant::folder(policy))
            .join(task)
            .join(format!("stage-{}", stage.number()));
        fs_err::create_dir_all(self.folder.join(&inside)).map_err(|error| unwritable(&error))?;
        let mut lines = String::new();
        for (at, (answer, judgement)) in answers.iter().zip(judged).enumerate() {
            let verdict = judgement.as_ref().map(|judgement| &judgement.verdict);
            let label = verdict.map(Verdict::label);
            let (text, end) = match &answer.candidate {
                Ok(candidate) => (candidate.source(), candidate.language().extension()),
                Err(_) => (answer.text.as_str(), "txt"),
            };
            let file = inside.join(format!(
                "{at:03}-{}.{end}",
                label.map_or("masked", Label::name)
            ));
            fs_err::write(self.folder.join(&file), text).map_err(|error| unwritable(&error))?;
            let measured = verdict.and_then(Verdict::correct);
            let line = serde_json::to_string(&Kept {
                policy,
                task,
                stage: stage.number(),
                answer: at,
                verdict: label,
                detail: verdict.map(Verdict::detail).unwrap_or_default(),
                gflops: measured.and_then(Measured::gflops),
                speedup: measured.map(|measured| asked.seed.seconds / measured.seconds),
                file: &file.display().to_string(),
            });
            lines.push_str(&line.expect("it has a JSON form"));
            lines.push('\n');
        }
        self.index()?
            .write_all(lines.as_bytes())
            .map_err(|error| unwritable(&error))
    }

    fn index(&mut self) -> Result<&mut fs_err::File, Failure> {
        let file = match self.index.take() {
            Some(file) => file,
            None => fs_err::File::create_new(self.folder.join("answers.jsonl"))
                .map_err(|error| unwritable(&error))?,
        };
        Ok(self.index.insert(file))
    }

    /// Writes the figures, if there was an answer.
    pub(super) fn finish(&self, lines: &[Line]) -> Result<(), Failure> {
        if self.index.is_none() {
            return Ok(());
        }
        let json = serde_json::to_string_pretty(lines).expect("it has a JSON form");
        fs_err::write(self.folder.join("evaluation.json"), json).map_err(|error| unwritable(&error))
    }
}

impl Drop for Keep {
    /// An evaluation without an answer leaves no folder behind, so that it can be repeated.
    fn drop(&mut self) {
        if self.index.is_none() {
            // Fails if anything is in it, and then it stays.
            drop(fs_err::remove_dir(&self.folder));
        }
    }
}

fn unwritable(error: &std::io::Error) -> Failure {
    Failure::user(error.to_string())
        .hint("name another folder with --keep")
        .of_file(error.kind())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_evaluation_without_answers_leaves_no_folder_behind() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("kept");
        let create = || Keep::create(&folder).map_err(|failure| failure.what().to_owned());
        drop(create());
        assert!(!folder.exists(), "it can be repeated");
        // A kill may have left the empty folder.
        std::fs::create_dir(&folder).expect("a folder");
        let mut keep = create().expect("nothing is in it");
        keep.finish(&[]).expect("there are no figures");
        for text in ["one\n", "two\n"] {
            let index = keep.index().expect("it can be written");
            index.write_all(text.as_bytes()).expect("it can be written");
        }
        drop(keep);
        let index = std::fs::read_to_string(folder.join("answers.jsonl"));
        assert_eq!(index.expect("it is kept"), "one\ntwo\n");
        assert!(create().is_err_and(|why| why.contains("it already exists")));
    }
}
