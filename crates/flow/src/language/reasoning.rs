//! Answers of models that think aloud first: `<think>...</think>` and then the answer.
//!
//! Some chat templates put `<think>` into the prompt, so an answer may only have the end of it.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// A completion in its two parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts<'a> {
    /// The text between the tags; `None` if the model did not think aloud.
    pub reasoning: Option<&'a str>,
    /// What follows it; `None` if the reasoning never ended.
    pub answer: Option<&'a str>,
}

/// Splits a completion.
pub fn parts(completion: &str) -> Parts<'_> {
    let opened = completion.trim_start().strip_prefix(OPEN);
    let text = opened.unwrap_or(completion);
    match text.split_once(CLOSE) {
        // Code may speak of the tags, so only those count that stand before it.
        Some((reasoning, answer)) if opened.is_some() || !reasoning.contains(OPEN) => Parts {
            reasoning: Some(reasoning.trim()),
            answer: Some(answer.trim_start()),
        },
        None if opened.is_some() => Parts {
            reasoning: Some(text.trim()),
            answer: None,
        },
        _ => Parts {
            reasoning: None,
            answer: Some(completion),
        },
    }
}

/// The part of a completion that answers; empty if the reasoning never ended.
pub fn answer(completion: &str) -> &str {
    parts(completion).answer.unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_what_follows_the_reasoning() {
        let whole = parts("\n<think>\nfirst\n```c\nint a;\n```\n</think>\n\nanswer </think>");
        assert_eq!(whole.reasoning, Some("first\n```c\nint a;\n```"));
        assert_eq!(whole.answer, Some("answer </think>"));
        assert_eq!(answer("begun by the prompt</think>answer"), "answer");
        assert_eq!(answer("plain"), "plain");
        assert_eq!(
            answer("int a; // <think> b </think> c"),
            "int a; // <think> b </think> c"
        );
    }

    #[test]
    fn reasoning_that_never_ends_gives_no_answer() {
        let cut = parts("<think> and so on");
        assert_eq!((cut.reasoning, cut.answer), (Some("and so on"), None));
        assert_eq!(answer("<think>"), "");
    }
}
