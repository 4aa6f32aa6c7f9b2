//! The line markers of preprocessed text.

use super::lex::{self, Item, TokenKind};

/// The line that follows a line marker, and its file.
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
