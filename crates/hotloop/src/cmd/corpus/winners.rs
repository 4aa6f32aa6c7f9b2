//! What policies answered rightly, as chats: a warm start from verified answers instead of synthetic ones.

use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::path::Path;

use flow::policy::{Message, Speaker};
use flow::prompt::{Ask, Prose, Shown, Wording};
use flow::{Label, Render, Role, Stage, Task};
use serde::Deserialize;
use serde_json::json;

use crate::cli::corpus::WinnersArgs;
use crate::cmd::judge::load;
use crate::failure::{Failure, Status};
use crate::output::say;

/// What is read of a line of `answers.jsonl`, as `hotloop evaluate --keep` writes it.
#[derive(Deserialize)]
struct Kept {
    policy: String,
    task: String,
    stage: u8,
    verdict: Option<Label>,
    file: String,
}

/// Writes the chats of all right answers in some kept folders, each program once for a prompt.
pub(super) fn write(arguments: &WinnersArgs) -> Result<Status, Failure> {
    let prose = Prose { wording: Wording::default(), begin: true, simd: bench::survey::simd().to_owned() };
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
            let stage =
                stage(kept.stage).ok_or_else(|| broken(folder, &format!("there is no stage {}", kept.stage)))?;
            if !seen.insert((kept.task.clone(), kept.stage, source.clone())) {
                continue;
            }
            let messages = messages(&prose, &tasks[&kept.task], stage, &source);
            chats.push(format!("{}\n", json!({ "messages": messages })));
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

/// A stage's prompt from the task's seed, as it was asked, and the answer.
fn messages(prose: &Prose, task: &Task, stage: Stage, source: &str) -> Vec<Message> {
    let shown = Shown { source: &task.seed, verdict: None };
    let ask = Ask { task, role: Role::Explore, stage: Some(stage), variant: 0, parent: Some(shown) };
    let mut messages = prose.chat(&ask).messages;
    messages.push(Message { role: Speaker::Assistant, content: format!("```c\n{}\n```", source.trim_end()) });
    messages
}

fn stage(number: u8) -> Option<Stage> {
    Stage::ALL.into_iter().find(|stage| stage.number() == number)
}

fn read(folder: &Path) -> Result<Vec<Kept>, Failure> {
    let index = folder.join("answers.jsonl");
    let text = fs_err::read_to_string(&index)
        .map_err(|error| Failure::user(error.to_string()).hint("name a folder that `hotloop evaluate --keep` wrote"))?;
    let parse = |line: &str| serde_json::from_str(line).map_err(|error| broken(folder, &error.to_string()));
    text.lines().map(parse).collect()
}

fn broken(folder: &Path, what: &str) -> Failure {
    Failure::user(format!("{}: {what}", folder.join("answers.jsonl").display()))
        .hint("name a folder that `hotloop evaluate --keep` wrote")
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
        let line = |policy: &str, verdict: &str, stage: u8| json!({ "policy": policy, "task": "transpose", "stage": stage, "verdict": verdict, "file": "a.c", "answer": 0 });
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
