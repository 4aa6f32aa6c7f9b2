//! The parts of a completion that may contain code.

use crate::language::c::lex::Dialect;

/// A part of a completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block<'a> {
    pub(super) text: &'a str,
    /// How it is delimited.
    pub(super) kind: BlockKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// Between two fences.
    Closed,
    /// From a fence to the end of the completion.
    Open,
    /// Between fenced blocks, or all of a completion without fences.
    Bare,
}

impl Block<'_> {
    /// The same block. Bare text begins with the first line that looks like code.
    pub(super) fn code(self, entry: &str, dialect: Dialect) -> Self {
        match self.kind {
            BlockKind::Closed | BlockKind::Open => self,
            BlockKind::Bare => Self {
                text: code_of(self.text, entry, dialect),
                ..self
            },
        }
    }
}

/// A line of at least three marks.
struct Fence<'a> {
    mark: char,
    length: usize,
    info: &'a str,
}

fn fence(line: &str) -> Option<Fence<'_>> {
    let line = line.trim();
    let mark = line
        .chars()
        .next()
        .filter(|mark| matches!(mark, '`' | '~'))?;
    let info = line.trim_start_matches(mark);
    let length = line.len() - info.len();
    // More backticks after it make it a code span within a sentence.
    (length >= 3 && !info.contains('`')).then_some(Fence {
        mark,
        length,
        info: info.trim(),
    })
}

/// The blocks of a completion, in order. Fences may be indented, may use backticks or tildes, and
/// may have any info string. A fence with an info string inside an open block begins the next
/// block.
pub(super) fn blocks(completion: &str) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    let mut open: Option<Fence<'_>> = None;
    let mut start = 0;
    let mut at = 0;
    for line in completion.split_inclusive('\n') {
        let line_at = at;
        at += line.len();
        let Some(next) = fence(line) else {
            // The closing fence may follow the last line of code directly.
            let code = line.trim_end();
            if let Some(fence) = open.as_ref().filter(|_| code.ends_with("```"))
                && fence.mark == '`'
            {
                let end = line_at + code.trim_end_matches('`').len();
                found.push(Block {
                    text: &completion[start..end],
                    kind: BlockKind::Closed,
                });
                open = None;
                start = at;
            }
            continue;
        };
        let text = &completion[start..line_at];
        match &open {
            None => {
                found.push(Block {
                    text,
                    kind: BlockKind::Bare,
                });
                open = Some(next);
            }
            Some(fence) if next.mark != fence.mark || next.length < fence.length => continue,
            Some(_) => {
                found.push(Block {
                    text,
                    kind: BlockKind::Closed,
                });
                open = Some(next).filter(|next| !next.info.is_empty());
            }
        }
        start = at;
    }
    let kind = if open.is_some() {
        BlockKind::Open
    } else {
        BlockKind::Bare
    };
    found.push(Block {
        text: &completion[start..],
        kind,
    });
    found.retain(|block| !block.text.trim().is_empty());
    found
}

/// The part of a bare text from the first line that looks like code.
fn code_of<'a>(text: &'a str, entry: &str, dialect: Dialect) -> &'a str {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if begins_code(line, entry, dialect) {
            return &text[at..];
        }
        at += line.len();
    }
    ""
}

fn begins_code(line: &str, entry: &str, dialect: Dialect) -> bool {
    const DIRECTIVES: [&str; 6] = ["include", "define", "pragma", "ifdef", "ifndef", "if"];
    const WORDS: [&str; 18] = [
        "typedef",
        "static",
        "extern",
        "inline",
        "struct",
        "enum",
        "union",
        "void",
        "double",
        "float",
        "int",
        "long",
        "unsigned",
        "const",
        "size_t",
        "char",
        "__attribute__",
        "_Static_assert",
    ];
    const WORDS_OF_CUDA: [&str; 9] = [
        "__global__",
        "__device__",
        "__host__",
        "__constant__",
        "template",
        "namespace",
        "using",
        "constexpr",
        "bool",
    ];
    let line = line.trim();
    if line.starts_with("//") || line.starts_with("/*") {
        return true;
    }
    if let Some(directive) = line.strip_prefix('#') {
        let name = directive
            .trim_start()
            .split(|c: char| !c.is_ascii_alphabetic())
            .next()
            .unwrap_or("");
        return DIRECTIVES.contains(&name);
    }
    let first = line
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .next()
        .unwrap_or("");
    // Sentences also begin with such words, but do not end like code.
    let ends_like_code = line.ends_with([';', '{', '}', ')', ',', '\\']) || line.contains(entry);
    let is_word =
        WORDS.contains(&first) || (dialect == Dialect::Cuda && WORDS_OF_CUDA.contains(&first));
    // `template <int N>` ends in a bracket.
    let ends_like_code = ends_like_code || (first == "template" && line.ends_with('>'));
    is_word && (ends_like_code || line == first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(completion: &str, expect: &[(&str, BlockKind)]) {
        let found: Vec<(&str, BlockKind)> = blocks(completion)
            .into_iter()
            .map(|block| (block.text, block.kind))
            .collect();
        assert_eq!(found, expect, "{completion}");
    }

    use BlockKind::{Bare, Closed, Open};

    #[test]
    fn fences_come_in_many_forms() {
        check(
            "Hi\n```c\nx;\n```\nBye",
            &[("Hi\n", Bare), ("x;\n", Closed), ("Bye", Bare)],
        );
        check("```\nx;\n```", &[("x;\n", Closed)]);
        check("~~~ C\nx;\n~~~~", &[("x;\n", Closed)]);
        check("  ```cpp\r\n  x;\r\n  ```\r\n", &[("  x;\r\n", Closed)]);
        check("````c\n```\n````", &[("```\n", Closed)]);
    }

    #[test]
    fn blocks_may_lack_a_clean_end() {
        check("```c\nx;", &[("x;", Open)]);
        check(
            "```c\nx;\n```c\ny;\n```",
            &[("x;\n", Closed), ("y;\n", Closed)],
        );
        check("```c\nx; }```\nBye", &[("x; }", Closed), ("Bye", Bare)]);
        check("```\n```\nx;\n```", &[("x;\n", Bare)]);
    }

    #[test]
    fn a_code_span_within_a_sentence_is_not_a_fence() {
        check(
            "```gcc x.c``` builds it",
            &[("```gcc x.c``` builds it", Bare)],
        );
    }

    #[test]
    fn bare_code_begins_at_the_first_line_that_looks_like_it() {
        let check = |text: &str, expect: &str| assert_eq!(code_of(text, "f", Dialect::C), expect);
        check(
            "Here it is:\n\n#include <stdio.h>\nx",
            "#include <stdio.h>\nx",
        );
        check(
            "double precision matters.\nint the end.\nvoid g(int a)\n{",
            "void g(int a)\n{",
        );
        check("# Heading\n## if\nstatic int x;\n", "static int x;\n");
        check("// note\nint x;", "// note\nint x;");
        check("no code at all", "");
        let kernel = "__global__ void k(int n) {\n";
        check(kernel, "");
        assert_eq!(code_of(kernel, "f", Dialect::Cuda), kernel);
        let prose = "using shared memory is cheap.\ntemplate <int N>\n";
        assert_eq!(code_of(prose, "f", Dialect::Cuda), "template <int N>\n");
    }
}
