//! Writes every answer with its verdict to disk, as evidence for the figures.

use std::fmt::Write as _;
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
    index: String,
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
        if folder.exists() {
            return Err(
                Failure::user(format!("{}: it already exists", folder.display()))
                    .hint("name another with --keep"),
            );
        }
        fs_err::create_dir_all(folder).map_err(|error| unwritable(&error))?;
        Ok(Self {
            folder: folder.to_owned(),
            index: String::new(),
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
            writeln!(self.index, "{}", line.expect("it has a JSON form"))
                .expect("a String takes everything");
        }
        fs_err::write(self.folder.join("answers.jsonl"), &self.index)
            .map_err(|error| unwritable(&error))
    }

    /// Writes the figures.
    pub(super) fn finish(&self, lines: &[Line]) -> Result<(), Failure> {
        let json = serde_json::to_string_pretty(lines).expect("it has a JSON form");
        fs_err::write(self.folder.join("evaluation.json"), json).map_err(|error| unwritable(&error))
    }
}

fn unwritable(error: &std::io::Error) -> Failure {
    Failure::user(error.to_string())
        .hint("name another folder with --keep")
        .of_file(error.kind())
}
