//! PTX as words, for untrusted text: any input, no panic, linear time.
//!
//! It follows the assembler wherever a trick could hide: a string runs over the ends of lines and
//! knows no escapes, a label may touch its instruction, and comments do not nest.

use std::borrow::Cow;

/// A word with its modifiers: `ld.global.v4.f32`, `.shared`, `%tid.x`, `k_param_0`, `16`. Blanks
/// and comments between its parts are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word<'a> {
    pub text: Cow<'a, str>,
    /// Its line, from 1.
    pub line: u32,
}

impl Word<'_> {
    /// The number that it begins with.
    pub(super) fn number(&self) -> Option<u32> {
        let digits = self.text.split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse().ok()
    }
}

/// A piece of PTX.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece<'a> {
    Word(Word<'a>),
    /// A quoted string.
    Str(&'a str),
    /// The compiler's mark before inline assembly, with its line.
    Begin(u32),
    /// A `#` at the begin of a line.
    Hash(u32),
    /// Any other character.
    Mark(char),
}

/// Splits a PTX.
pub fn pieces(ptx: &str) -> Vec<Piece<'_>> {
    let mut reader = Reader {
        text: ptx,
        at: 0,
        line: 1,
        line_start: true,
        begins: Vec::new(),
    };
    let mut pieces = Vec::new();
    loop {
        reader.skip_blanks();
        pieces.extend(reader.begins.drain(..).map(Piece::Begin));
        let Some(next) = reader.rest().chars().next() else {
            return pieces;
        };
        let line_start = std::mem::take(&mut reader.line_start);
        let piece = match next {
            '#' if line_start => Piece::Hash(reader.line),
            '"' => {
                let inner = &reader.rest()[1..];
                let length = inner.find('"').unwrap_or(inner.len());
                reader.at += length + usize::from(length < inner.len());
                reader.line += lines_in(&inner[..length]);
                Piece::Str(&inner[..length])
            }
            next if is_word(next) || next == '.' => {
                pieces.push(Piece::Word(reader.word()));
                continue;
            }
            other => Piece::Mark(other),
        };
        reader.at += next.len_utf8();
        pieces.push(piece);
    }
}

/// The operands of an instruction: words, braces and brackets up to its semicolon.
pub(super) fn operands<'p>(rest: &'p [Piece<'_>]) -> Vec<&'p str> {
    /// A longer list is no instruction that matters here.
    const MOST: usize = 40;
    rest.iter()
        .take(MOST)
        .take_while(|piece| **piece != Piece::Mark(';'))
        .filter_map(|piece| match piece {
            Piece::Word(word) => Some(word.text.as_ref()),
            Piece::Mark('{') => Some("{"),
            Piece::Mark('}') => Some("}"),
            Piece::Mark('[') => Some("["),
            Piece::Str(_) | Piece::Begin(_) | Piece::Hash(_) | Piece::Mark(_) => None,
        })
        .collect()
}

fn lines_in(text: &str) -> u32 {
    text.bytes().filter(|&byte| byte == b'\n').count() as u32
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    line_start: bool,
    /// The lines of the marks among the skipped comments.
    begins: Vec<u32>,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            if rest.starts_with('\n') {
                self.at += 1;
                self.line += 1;
                self.line_start = true;
            } else if let Some(comment) = rest.strip_prefix("//") {
                let length = comment.find('\n').unwrap_or(comment.len());
                if comment[..length].trim() == "begin inline asm" {
                    self.begins.push(self.line);
                }
                self.at += 2 + length;
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let length = comment.find("*/").map_or(rest.len(), |inner| inner + 4);
                self.line += lines_in(&rest[..length]);
                self.at += length;
            } else if let Some(blank) = rest.chars().next().filter(|c| c.is_whitespace()) {
                self.at += blank.len_utf8();
            } else {
                return;
            }
        }
    }

    /// A word, and what follows it with dots and double colons.
    fn word(&mut self) -> Word<'a> {
        let line = self.line;
        let mut text = Cow::Borrowed("");
        loop {
            let rest = self.rest();
            let joint = if rest.starts_with("::") {
                2
            } else {
                usize::from(rest.starts_with('.'))
            };
            let length = rest[joint..]
                .find(|c| !is_word(c))
                .unwrap_or(rest.len() - joint);
            text += &rest[..joint + length];
            self.at += joint + length;
            let (at, own_line, marks) = (self.at, self.line, self.begins.len());
            if length == 0 && joint > 0 {
                // The name after a dot or a colon may follow on the next line.
                self.skip_blanks();
                if self.rest().starts_with(is_word) && self.at > at {
                    continue;
                }
            } else {
                self.skip_blanks();
                if self.rest().starts_with('.') || self.rest().starts_with("::") {
                    continue;
                }
            }
            // The blanks belong to what follows, with the marks among them.
            (self.at, self.line) = (at, own_line);
            self.begins.truncate(marks);
            return Word { text, line };
        }
    }
}
