//! The line markers of preprocessed text.

use super::lex::{self, Item, Lexed, TokenKind};

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
pub fn lex_marked(text: &str) -> Lexed<'_> {
    let mut whole = Lexed {
        items: Vec::new(),
        raw_string: None,
    };
    let mut read = |part: &std::ops::Range<usize>, first_line: i64| {
        let Lexed { items, raw_string } = lex::lex(&text[part.clone()]);
        let shift = first_line - 1;
        whole.raw_string = whole
            .raw_string
            .or(raw_string.map(|line| moved(line, shift)));
        for mut item in items {
            match &mut item {
                Item::Token(token) => token.line = moved(token.line, shift),
                Item::Directive(directive) => {
                    directive.line = moved(directive.line, shift);
                    for token in &mut directive.body {
                        token.line = moved(token.line, shift);
                    }
                }
            }
            whole.items.push(item);
        }
    };
    let (mut start, mut at, mut first_line) = (0, 0, 1);
    for line in text.split_inclusive('\n') {
        at += line.len();
        if let Some((number, _)) = marker(line) {
            read(&(start..at - line.len()), first_line);
            (start, first_line) = (at, number);
        }
    }
    read(&(start..at), first_line);
    whole
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
}
