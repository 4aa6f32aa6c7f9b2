//! Ways to hide a whole statement in what a header's macro calls.

use super::program::{Edit, Kind, Place, Program};
use super::shapes::operators;
use super::words::{is_opener, telling};

/// Hides a statement in `redefined`, which `used` expands to; `value` makes an expression of it.
fn in_macro(source: &str, head: &str, value: &str, used: &str) -> Option<String> {
    let source = operators(source);
    let program = Program::read(&source);
    let telling = telling(&program);
    let gives_away = |range: &std::ops::Range<usize>| {
        let words = || {
            program.tokens[range.clone()]
                .iter()
                .map(|token| program.text(token))
        };
        telling
            .iter()
            .position(|word| words().any(|text| text == word.text))
    };
    let hidden = statements(&program)
        .into_iter()
        .min_by_key(|range| gives_away(range).unwrap_or(usize::MAX))?;
    let tokens = &program.tokens[hidden];
    let words: Vec<&str> = tokens.iter().map(|token| program.text(token)).collect();
    let edit = Edit {
        range: tokens.first()?.range.start..tokens.last()?.range.end,
        text: used.to_owned(),
    };
    let head = format!("{head} ({{ {}; {value}; }})\n", words.join(" "));
    program.rewritten(&head, vec![edit])
}

/// The statements that are expressions or assembly, without their semicolons.
fn statements(program: &Program<'_>) -> Vec<std::ops::Range<usize>> {
    let begins = |index: usize| {
        let token = &program.tokens[index];
        let behind_another =
            index > 0 && [";", "{", "}"].iter().any(|end| program.is(index - 1, end));
        let is_expression = ["(", "[", "=", "+", "-", "."]
            .iter()
            .any(|mark| program.is(index + 1, mark));
        let text = program.text(token);
        token.kind == Kind::Word
            && token.place == Place::Program
            && token.depth > 0
            && behind_another
            && (is_expression && text != "_Pragma" || is_opener(text) && text.contains("asm"))
            && !["for", "if", "while", "switch", "return", "do", "sizeof"].contains(&text)
    };
    let ends = |start: usize| {
        let end = (start..program.tokens.len())
            .find(|&index| [";", "{", "}"].iter().any(|mark| program.is(index, mark)))?;
        let plain = program.tokens[start..end]
            .iter()
            .all(|token| token.place == Place::Program && program.text(token) != "_Pragma");
        (plain && program.is(end, ";")).then_some(start..end)
    };
    (0..program.tokens.len())
        .filter(|&index| begins(index))
        .filter_map(ends)
        .collect()
}

pub(super) fn int64_max(source: &str) -> Option<String> {
    in_macro(
        source,
        "#undef __INT64_C\n#define __INT64_C(x)",
        "0",
        "INT64_MAX",
    )
}

pub(super) fn uint64_max(source: &str) -> Option<String> {
    in_macro(
        source,
        "#undef __UINT64_C\n#define __UINT64_C(x)",
        "0",
        "UINTMAX_MAX",
    )
}

pub(super) fn errno(source: &str) -> Option<String> {
    in_macro(
        source,
        "#include <errno.h>\n#define __errno_location()",
        "&(int){0}",
        "errno",
    )
}
