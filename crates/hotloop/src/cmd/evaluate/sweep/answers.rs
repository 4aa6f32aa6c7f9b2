//! The answers of a sweep, kept in a file before they are judged.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use hotloop_flow::policy::{Chat, Ending};
use serde::{Deserialize, Serialize};

use super::file::{PolicyEntry, SweepFile};
use crate::cmd::bench::lines;
use crate::cmd::evaluate::suite::cell::identity;
use crate::failure::Failure;
use crate::models;

/// What a policy answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Answer {
    /// Identifies the policy and all that it was asked.
    pub(super) key: String,
    pub(super) policy: String,
    pub(super) task: String,
    /// Its number for the policy and problem, from 0.
    pub(super) number: u32,
    pub(super) ending: Ending,
    /// Tokens that were written; nothing if an API does not report them.
    pub(super) tokens: Option<usize>,
    /// The answer's share of the seconds that its batch took.
    pub(super) seconds: f64,
    pub(super) text: String,
}

/// The answers in a file, by their keys.
pub(super) struct Answers {
    known: BTreeMap<String, Answer>,
    file: File,
    path: PathBuf,
}

impl Answers {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let (known, file) = lines::open::<Answer>(path)?;
        let known = known.into_iter().map(|one| (one.key.clone(), one));
        Ok(Self {
            known: known.collect(),
            file,
            path: path.to_owned(),
        })
    }

    pub(super) fn get(&self, key: &str) -> Option<&Answer> {
        self.known.get(key)
    }

    pub(super) fn keep(&mut self, answer: Answer) -> Result<(), Failure> {
        lines::write(&mut self.file, &self.path, &answer)?;
        self.known.insert(answer.key.clone(), answer);
        Ok(())
    }
}

/// Identifies everything that the answers of a policy depend on beside the problem: its files, and
/// how it is asked.
pub(super) fn identity_of(entry: &PolicyEntry, suite: &SweepFile) -> String {
    let model = match &entry.api {
        Some(url) => format!("{url} {}", entry.model),
        None => entry.local(),
    };
    let mut parts = vec![
        entry.name.clone(),
        model,
        format!("{:?} {:?}", entry.adapter(), suite.temperature),
        format!("{} {}", suite.max_tokens, suite.seed),
    ];
    if entry.api.is_none() {
        // The path of an unpacked model says nothing.
        let place = models::find(&entry.local()).map(|place| place.path());
        parts.extend(place.iter().map(|path| identity(path)));
    }
    parts.extend(entry.adapter().iter().map(|path| identity(path)));
    hash(&parts)
}

/// Identifies an answer.
pub(super) fn key(policy: &str, chat: &Chat, number: u32) -> String {
    let text = |message: &hotloop_flow::policy::Message| message.content.clone();
    let mut parts = vec![policy.to_owned(), number.to_string()];
    parts.extend(chat.messages.iter().map(text));
    hash(&parts)
}

fn hash(parts: &[String]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use hotloop_flow::language::torch::prompt;

    use super::*;

    fn answer(key: &str) -> Answer {
        Answer {
            key: key.to_owned(),
            policy: "base".to_owned(),
            task: "kernelbench/1/19".to_owned(),
            number: 0,
            ending: Ending::Stop,
            tokens: Some(3),
            seconds: 0.5,
            text: "```python\n```".to_owned(),
        }
    }

    #[test]
    fn a_line_that_was_cut_off_is_no_answer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answers.jsonl");
        let mut answers = Answers::open(&path).unwrap();
        answers.keep(answer("a")).unwrap();
        answers.keep(answer("b")).unwrap();
        drop(answers);
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 5]).unwrap();
        let mut answers = Answers::open(&path).unwrap();
        assert_eq!(answers.get("a"), Some(&answer("a")));
        assert_eq!(answers.get("b"), None);
        answers.keep(answer("b")).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
    }

    #[test]
    fn another_problem_number_or_policy_is_another_answer() {
        let chat = prompt("class Model: pass");
        let keys = [
            key("base", &chat, 0),
            key("base", &chat, 1),
            key("tuned", &chat, 0),
            key("base", &prompt("class Model: ..."), 0),
        ];
        let distinct: std::collections::BTreeSet<&String> = keys.iter().collect();
        assert_eq!(distinct.len(), keys.len());
        assert_eq!(keys[0], key("base", &chat, 0));
    }
}
