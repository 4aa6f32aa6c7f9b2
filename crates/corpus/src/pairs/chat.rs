//! A record as a chat: what the paper's chats say, in our own words.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::record::Record;
use super::tree::name;

const SYSTEM: &str = "You speed up CUDA code. You are given a kernel that is right but slow. Answer with a faster \
version that computes the same.";

/// A kernel in a code block.
fn block(code: &str) -> String {
    format!("```cuda\n{}\n```", code.trim_end())
}

/// A chat of three messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chat {
    pub system: String,
    pub user: String,
    pub assistant: String,
}

impl Chat {
    pub fn of(record: &Record) -> Self {
        let (benchmark, file) = (&record.benchmark, name(&record.file));
        Self {
            system: SYSTEM.to_owned(),
            user: format!(
                "Make this CUDA kernel of the benchmark {benchmark} ({file}) faster.\n\n\
                 **Description**: {}\n\n**The kernel now**:\n\n{}\n",
                record.description,
                block(&record.slow)
            ),
            assistant: format!(
                "This version is faster and computes the same:\n\n{}\n",
                block(&record.fast)
            ),
        }
    }

    /// All of its text, for counting.
    pub fn text(&self) -> String {
        [&*self.system, &self.user, &self.assistant].join("\n")
    }

    /// One line of a chat file.
    pub fn line(&self) -> String {
        let message = |role: &str, content: &str| json!({ "role": role, "content": content });
        json!({ "messages": [
            message("system", &self.system),
            message("user", &self.user),
            message("assistant", &self.assistant),
        ] })
        .to_string()
    }
}
