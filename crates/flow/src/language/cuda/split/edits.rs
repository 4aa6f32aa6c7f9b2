//! Changes of a source that keep its lines.

use std::fmt::Write;
use std::ops::Range;

use super::code::Code;

/// Changes of a source.
#[derive(Default)]
pub(super) struct Edits {
    /// Bytes that become blank.
    blanks: Vec<Range<usize>>,
    /// Texts to put before a byte.
    inserts: Vec<(usize, String)>,
}

impl Edits {
    /// Blanks tokens, and the pragmas among them. Other directives stay, so that every `#if` keeps
    /// its `#endif`.
    pub(super) fn blank(&mut self, code: &Code<'_>, tokens: Range<usize>) {
        let (Some(first), Some(last)) = (
            code.tokens.get(tokens.start),
            tokens
                .end
                .checked_sub(1)
                .and_then(|last| code.tokens.get(last)),
        ) else {
            return;
        };
        if tokens.is_empty() {
            return;
        }
        let (mut start, end) = (first.offset, last.end);
        for directive in code.directives_between(start, end) {
            if directive.name != "pragma" {
                self.blanks.push(start..directive.offset);
                start = directive.end;
            }
        }
        self.blanks.push(start..end.max(start));
    }

    pub(super) fn blank_bytes(&mut self, bytes: Range<usize>) {
        self.blanks.push(bytes);
    }

    pub(super) fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.inserts.push((at, text.into()));
    }

    /// The changed source.
    pub(super) fn apply(mut self, source: &str) -> String {
        self.blanks.sort_by_key(|range| range.start);
        // Those at one place stay in their order.
        self.inserts.sort_by_key(|(at, _)| *at);
        let mut text = String::with_capacity(source.len() + 64 * self.inserts.len());
        let mut inserts = self.inserts.into_iter().peekable();
        let mut at = 0;
        let mut pour = |until: usize, text: &mut String, is_blank: bool| {
            while at < until {
                let next = inserts.peek().map_or(until, |(place, _)| *place).min(until);
                let part = &source[at.min(next)..next];
                if is_blank {
                    blank_into(part, &source[next..], text);
                } else {
                    text.push_str(part);
                }
                at = at.max(next);
                while let Some((_, insert)) = inserts.next_if(|(place, _)| *place <= at) {
                    text.write_str(&insert).expect("a string takes all");
                }
            }
        };
        for blank in self.blanks {
            pour(blank.start, &mut text, false);
            pour(blank.end, &mut text, true);
        }
        pour(source.len(), &mut text, false);
        text
    }
}

/// Keeps the ends of lines, also those that a backslash joins.
fn blank_into(part: &str, behind: &str, text: &mut String) {
    for (at, c) in part.char_indices() {
        let joins = c == '\\' && {
            let rest = part[at + 1..].trim_start_matches([' ', '\t', '\r']);
            rest.starts_with('\n') || (rest.is_empty() && behind.starts_with('\n'))
        };
        text.push(if joins || c == '\n' || c == '\r' {
            c
        } else {
            ' '
        });
    }
}
