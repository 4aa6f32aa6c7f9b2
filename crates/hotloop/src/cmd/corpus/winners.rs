//! What policies answered rightly, as chats: a warm start from verified answers instead of synthetic ones.

use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::path::Path;

use flow::{Label, Role, Stage};
use serde::Deserialize;
use serde_json::json;

use super::lesson::{Lesson, prose};
use crate::cli::corpus::WinnersArgs;
use crate::cmd::judge::load;
use crate::failure::{Failure, Status};
use crate::output::say;

/// What is read of a line of `answers.jsonl`, as `hotloop evaluate --keep` writes it.
#[derive(Deserialize)]
struct Kept {
    policy: String,
    task: String,
    stage: Stage,
    verdict: Option<Label>,
    file: String,
}

/// Writes the chats of all right answers in some kept folders, each program once for a prompt.
pub(super) fn write(arguments: &WinnersArgs) -> Result<Status, Failure> {
    let prose = prose();
    let (mut tasks, mut seen) = (BTreeMap::new(), HashSet::new());
    let (mut chats, mut answers) = (Vec::new(), 0);
    for folder in &arguments.kept {
        for kept in read(folder)? {
            if arguments.policy.as_ref().is_some_and(|policy| *policy != kept.policy) {
                continue;
            }
            answers += 1;
            if kept.verdict != Some(Label::Correct) {
                continue;
            }
            if !tasks.contains_key(&kept.task) {
                tasks.insert(kept.task.clone(), load(&kept.task)?);
            }
            let path = folder.join(&kept.file);
            let source = fs_err::read_to_string(&path).map_err(|error| Failure::user(error.to_string()))?;
            if !seen.insert((kept.task.clone(), kept.stage, source.clone())) {
                continue;
            }
            let lesson = Lesson { prose: &prose, task: &tasks[&kept.task] };
            let chat = lesson.answered(kept.stage, Role::Explore, &lesson.task.seed, &source);
            chats.push(format!("{}\n", json!({ "messages": chat.messages })));
        }
    }
    if chats.is_empty() {
        return Err(
            Failure::user(format!("none of {answers} kept answers is correct")).hint("--policy may name another")
        );
    }
    let unwritable = |error: std::io::Error| Failure::user(error.to_string()).hint("name another file with --out");
    let mut file = fs_err::File::create_new(&arguments.out).map_err(unwritable)?;
    file.write_all(chats.concat().as_bytes()).map_err(unwritable)?;
    say(&format!("{} chats from {answers} answers: {}", chats.len(), arguments.out.display()));
    Ok(Status::Fine)
}

fn read(folder: &Path) -> Result<Vec<Kept>, Failure> {
    let index = folder.join("answers.jsonl");
    let unreadable = |what: String| Failure::user(what).hint("name a folder that `hotloop evaluate --keep` wrote");
    let text = fs_err::read_to_string(&index).map_err(|error| unreadable(error.to_string()))?;
    let parse =
        |line: &str| serde_json::from_str(line).map_err(|error| unreadable(format!("{}: {error}", index.display())));
    text.lines().map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn right_answers_become_chats_once_each() {
        let folder = tempfile::tempdir().expect("a folder");
        let (kept, out) = (folder.path().join("kept"), folder.path().join("chats.jsonl"));
        std::fs::create_dir(&kept).expect("a folder");
        let seed = load("transpose").expect("it is shipped").seed;
        std::fs::write(kept.join("a.c"), &seed).expect("written");
        let line = |policy: &str, verdict: &str, stage: u8| {
            let mut line = json!({ "policy": policy, "stage": stage, "verdict": verdict });
            line["task"] = "transpose".into();
            line["file"] = "a.c".into();
            line
        };
        let lines = [line("p", "correct", 1), line("p", "correct", 1), line("p", "wrong", 2), line("q", "correct", 3)];
        std::fs::write(kept.join("answers.jsonl"), lines.map(|line| format!("{line}\n")).concat()).expect("written");
        let arguments = |policy: Option<&str>| WinnersArgs {
            kept: vec![kept.clone()],
            out: out.clone(),
            policy: policy.map(str::to_owned),
        };
        assert!(write(&arguments(Some("p"))).is_ok());
        let text = std::fs::read_to_string(&out).expect("it was written");
        assert_eq!(text.lines().count(), 1, "{text}");
        let chat: serde_json::Value = serde_json::from_str(&text).expect("one chat");
        let answer = chat["messages"][2]["content"].as_str().expect("an answer");
        let task = load("transpose").expect("it is shipped");
        let found = flow::Candidate::extract(answer, &task).expect("it holds a candidate");
        assert_eq!(found.source.trim(), seed.trim());
        assert!(write(&arguments(None)).is_err(), "the file is there already");
    }
}
