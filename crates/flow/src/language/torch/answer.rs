//! Finds the Python in an answer.

use crate::language::reasoning;

/// The words after the backticks of a block of Python.
const WORDS: [&str; 3] = ["python", "py", "python3"];
/// The marks of a fence.
const FENCE: &str = "```";

/// What an answer defines. A block without it may show how the answer is used.
const CLASS: &str = "class ModelNew";

/// The Python of a completion, or why there is none: the last closed block that defines the class,
/// else the last that was closed, or else one that goes on to the end. `is_cut` says that the token
/// limit ended the completion.
pub fn code(completion: &str, is_cut: bool) -> Result<String, String> {
    let Some(answer) = reasoning::parts(completion).answer else {
        return Err(if is_cut {
            "the reasoning was cut off at the token limit".to_owned()
        } else {
            "the reasoning never ended".to_owned()
        });
    };
    let Blocks { closed, open } = blocks(answer);
    match (closed, open) {
        (None, Some(_)) if is_cut => Err("the answer was cut off at the token limit".to_owned()),
        (Some(code), _) | (None, Some(code)) => whole(code),
        (None, None) => Err("the answer has no block that begins with ```python".to_owned()),
    }
}

fn whole(code: &str) -> Result<String, String> {
    if code.trim().is_empty() {
        return Err("the block of Python is empty".to_owned());
    }
    Ok(code.to_owned())
}

/// The closed block that counts, and the one that was not closed.
#[derive(Default)]
struct Blocks<'a> {
    closed: Option<&'a str>,
    open: Option<&'a str>,
}

/// The blocks of Python. A fence with a word inside an open block begins the next block.
fn blocks(answer: &str) -> Blocks<'_> {
    let mut found = Blocks::default();
    // Where the open block begins, and whether it is Python.
    let mut open: Option<(usize, bool)> = None;
    let mut at = 0;
    for line in answer.split_inclusive('\n') {
        let (begin, end) = (at, at + line.len());
        at = end;
        let Some(word) = line.trim().strip_prefix(FENCE) else {
            continue;
        };
        let word = word.trim_start_matches('`').trim();
        // More backticks after it make it a span within a sentence.
        if word.contains('`') {
            continue;
        }
        let word = word.split_whitespace().next().unwrap_or("");
        open = match open {
            Some((start, is_python)) if word.is_empty() => {
                let code = &answer[start..begin];
                let counts = |before: &str| code.contains(CLASS) || !before.contains(CLASS);
                if is_python && found.closed.is_none_or(counts) {
                    found.closed = Some(code);
                }
                None
            }
            _ => Some((
                end,
                WORDS.iter().any(|name| word.eq_ignore_ascii_case(name)),
            )),
        };
    }
    found.open = open.and_then(|(start, is_python)| is_python.then(|| &answer[start..]));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_block_of_python_is_the_answer() {
        let only = "So:\n```python\nimport torch\n```\nDone.";
        assert_eq!(code(only, false).as_deref(), Ok("import torch\n"));
        let two =
            "```py\na = 1\n```\n```cpp\nint a;\n```\n```Python title=x\na = 2\n```\n```\nout\n```";
        assert_eq!(code(two, false).as_deref(), Ok("a = 2\n"));
        assert_eq!(
            code("```python\r\na = 1\r\n```", false).as_deref(),
            Ok("a = 1\r\n")
        );
    }

    #[test]
    fn a_block_that_only_uses_the_answer_is_none() {
        let shown =
            "```python\nclass ModelNew: pass\n```\nTry it:\n```python\nmodel = ModelNew()\n```";
        assert_eq!(code(shown, false).as_deref(), Ok("class ModelNew: pass\n"));
        let again = format!("{shown}\n```python\nclass ModelNew: ...\n```");
        assert_eq!(code(&again, false).as_deref(), Ok("class ModelNew: ...\n"));
    }

    #[test]
    fn a_block_that_was_cut_off_is_no_answer() {
        let open = "```python\nimport torch\n";
        assert_eq!(code(open, false).as_deref(), Ok("import torch\n"));
        assert!(code(open, true).is_err_and(|why| why.contains("token limit")));
        let again = format!("```python\na = 1\n```\nBetter:\n{open}");
        assert_eq!(code(&again, true).as_deref(), Ok("a = 1\n"));
    }

    #[test]
    fn reasoning_is_skipped() {
        let text = "<think>\n```python\na = 1\n```\n</think>\n```python\na = 2\n```";
        assert_eq!(code(text, false).as_deref(), Ok("a = 2\n"));
        let begun = "```python\na = 1\n```\n</think>\n```python\na = 2\n```";
        assert_eq!(code(begun, false).as_deref(), Ok("a = 2\n"));
        let endless = "<think>\n```python\na = 1\n```\n";
        assert!(code(endless, true).is_err_and(|why| why.contains("reasoning was cut off")));
        assert!(code(endless, false).is_err_and(|why| why.contains("never ended")));
    }

    #[test]
    fn without_python_there_is_no_answer() {
        for text in [
            "",
            "class ModelNew: pass",
            "```\na = 1\n```",
            "use ```python``` here",
        ] {
            let why = code(text, false).expect_err(text);
            assert!(why.contains("```python"), "{text}: {why}");
        }
        assert!(code("```python\n\n```", false).is_err_and(|why| why.contains("empty")));
    }
}
