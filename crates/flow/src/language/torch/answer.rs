//! Finds the code in an answer.

use crate::language::reasoning;

/// The words after the backticks of a block of Python, and of one of CUDA.
const PYTHON: [&str; 3] = ["python", "py", "python3"];
const CUDA: [&str; 4] = ["cuda", "cu", "cpp", "c++"];
/// What a file of CUDA defines that is an answer.
const ENTRY: &str = "solve";
/// The marks of a fence.
const FENCE: &str = "```";

/// What an answer in Python defines. A block without it may show how the answer is used.
const CLASS: &str = "class ModelNew";

/// The code of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Code {
    /// A module in Python.
    Python(String),
    /// A file of CUDA.
    Cuda(String),
}

impl Code {
    pub fn text(&self) -> &str {
        match self {
            Self::Python(text) | Self::Cuda(text) => text,
        }
    }
}

/// The code of a completion, or why there is none: the last closed block of Python that defines the
/// class, else the last that was closed, or else one that goes on to the end. Without Python, the
/// same of CUDA with a function `solve`. `is_cut` says that the token limit ended the completion.
pub fn code(completion: &str, is_cut: bool) -> Result<Code, String> {
    let Some(answer) = reasoning::parts(completion).answer else {
        return Err(if is_cut {
            "the reasoning was cut off at the token limit".to_owned()
        } else {
            "the reasoning never ended".to_owned()
        });
    };
    let python = blocks(answer, |word, _| is_among(word, &PYTHON));
    let cuda = blocks(answer, |word, text| {
        is_among(word, &CUDA) && text.contains(ENTRY)
    });
    match (chosen(&python, is_cut), chosen(&cuda, is_cut)) {
        (Some(python), _) => python.map(Code::Python),
        (None, Some(cuda)) => cuda.map(Code::Cuda),
        (None, None) => Err("the answer has no block that begins with ```python".to_owned()),
    }
}

/// The text of blocks of one language, or why it cannot be used; nothing where there are none.
fn chosen(found: &Blocks<'_>, is_cut: bool) -> Option<Result<String, String>> {
    match (found.closed, found.open) {
        (None, Some(_)) if is_cut => {
            Some(Err("the answer was cut off at the token limit".to_owned()))
        }
        (Some(code), _) | (None, Some(code)) => Some(whole(code)),
        (None, None) => None,
    }
}

fn whole(code: &str) -> Result<String, String> {
    if code.trim().is_empty() {
        return Err("the block of Python is empty".to_owned());
    }
    Ok(code.to_owned())
}

fn is_among(word: &str, words: &[&str]) -> bool {
    words.iter().any(|name| word.eq_ignore_ascii_case(name))
}

/// The closed block that counts, and the one that was not closed.
#[derive(Default)]
struct Blocks<'a> {
    closed: Option<&'a str>,
    open: Option<&'a str>,
}

/// The blocks that are wanted, by their word and their text. A fence with a word inside an open
/// block begins the next block.
fn blocks(answer: &str, wanted: impl Fn(&str, &str) -> bool) -> Blocks<'_> {
    let mut found = Blocks::default();
    // Where the open block begins, and its word.
    let mut open: Option<(usize, &str)> = None;
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
            Some((start, name)) if word.is_empty() => {
                let text = &answer[start..begin];
                let counts = |before: &str| text.contains(CLASS) || !before.contains(CLASS);
                if wanted(name, text) && found.closed.is_none_or(counts) {
                    found.closed = Some(text);
                }
                None
            }
            _ => Some((end, word)),
        };
    }
    let rest = open.map(|(start, name)| (name, &answer[start..]));
    found.open = rest.and_then(|(name, text)| wanted(name, text).then_some(text));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The Python of an answer.
    fn code(completion: &str, is_cut: bool) -> Result<String, String> {
        match super::code(completion, is_cut)? {
            Code::Python(text) => Ok(text),
            Code::Cuda(text) => panic!("CUDA: {text}"),
        }
    }

    #[test]
    fn without_python_cuda_with_solve_is_the_answer() {
        let solve = "extern \"C\" void solve() {}\n";
        let alone = format!("```cuda\n{solve}```\n```cpp\nint main() {{}}\n```");
        assert_eq!(super::code(&alone, false), Ok(Code::Cuda(solve.to_owned())));
        let both = format!("```cuda\n{solve}```\n```python\na = 1\n```");
        assert_eq!(
            super::code(&both, false),
            Ok(Code::Python("a = 1\n".to_owned()))
        );
        let cut = format!("```cuda\n{solve}");
        assert!(super::code(&cut, true).is_err_and(|why| why.contains("token limit")));
        assert!(super::code("```cpp\nint main() {}\n```", false).is_err());
    }

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
