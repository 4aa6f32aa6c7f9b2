//! The line markers of preprocessed text.

use super::lex::{self, Directive, Item, Lexed, TokenKind};

/// The number and file of the line after a line marker.
pub(super) fn marker(line: &str) -> Option<(i64, String)> {
    let rest = line
        .strip_prefix("# ")
        .or_else(|| line.strip_prefix("#line "))?;
    if !rest.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let Some(Item::Directive(directive)) = lex::lex(line).items.pop() else {
        return None;
    };
    let [number, file, ..] = directive.body.as_slice() else {
        return None;
    };
    let number = number.text.parse::<i64>().ok()?.min(i64::from(u32::MAX));
    (file.kind == TokenKind::Str).then(|| (number, file.text.to_string()))
}

/// Splits a text into items. Line markers are not items; they determine the line numbers of items.
///
/// The text is read once, as a compiler reads it: what looks like a marker within a comment is
/// none.
pub fn lex_marked(text: &str) -> Lexed<'_> {
    let Lexed { items, raw_string } = lex::lex(text);
    // What is added to the numbers of lines behind each marker's own.
    let mut shifts: Vec<(u32, i64)> = vec![(0, 0)];
    let mut kept = Vec::with_capacity(items.len());
    for mut item in items {
        let shift = shifts.last().map_or(0, |(_, shift)| *shift);
        match &mut item {
            Item::Token(token) => token.line = moved(token.line, shift),
            Item::Directive(directive) => {
                if let Some(number) = number_of(text, directive) {
                    shifts.push((directive.line, number - i64::from(directive.line) - 1));
                    continue;
                }
                directive.line = moved(directive.line, shift);
                for token in &mut directive.body {
                    token.line = moved(token.line, shift);
                }
            }
        }
        kept.push(item);
    }
    let raw_string = raw_string.map(|line| {
        let before = shifts.iter().rev().find(|(marker, _)| *marker < line);
        moved(line, before.map_or(0, |(_, shift)| *shift))
    });
    Lexed {
        items: kept,
        raw_string,
    }
}

/// The number in a directive that is a line marker, from the first column on.
fn number_of(text: &str, directive: &Directive<'_>) -> Option<i64> {
    let (before, rest) = text.split_at_checked(directive.offset)?;
    if !before.is_empty() && !before.ends_with('\n') {
        return None;
    }
    let line = rest.lines().next()?;
    marker(line).map(|(number, _)| number)
}

fn moved(line: u32, shift: i64) -> u32 {
    (i64::from(line) + shift).clamp(1, i64::from(u32::MAX)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_say_where_an_item_stands() {
        let lexed = lex_marked("a\n# 7 \"x.c\" 3\n\nb\n#pragma c\n # 9 \"y.c\"\n");
        let lines: Vec<u32> = lexed
            .items
            .iter()
            .map(|item| match item {
                Item::Token(token) => token.line,
                Item::Directive(directive) => directive.line,
            })
            .collect();
        assert_eq!(
            lines,
            [1, 8, 9, 10],
            "only a compiler's markers are believed"
        );
    }

    #[test]
    fn a_marker_within_a_comment_is_none() {
        for text in [
            "/*\n# 7 \"candidate.c\"\n/*/\nint hidden;\n/**/\n",
            "/*\n# 7 \"candidate.c\"\n// */ int hidden;\n",
            "/*\n#line 7 \"candidate.c\"\n/*/\nint hidden;\n/**/\n",
        ] {
            let items = lex_marked(text).items;
            let is_hidden =
                |item: &Item<'_>| matches!(item, Item::Token(token) if token.is_ident("hidden"));
            assert!(items.iter().any(is_hidden), "{text}");
        }
    }
}
