//! From text to items.

use std::borrow::Cow;

use super::escapes::{decode, has_other_escapes};
use super::token::{Dialect, Directive, Item, Lexed, Token, TokenKind};

/// Longest first, because the first match is taken.
const PUNCTUATORS: [(&str, &str); 30] = [
    ("%:%:", "##"),
    ("<<=", "<<="),
    (">>=", ">>="),
    ("...", "..."),
    ("<:", "["),
    (":>", "]"),
    ("<%", "{"),
    ("%>", "}"),
    ("%:", "#"),
    ("##", "##"),
    ("->", "->"),
    ("++", "++"),
    ("--", "--"),
    ("<<", "<<"),
    (">>", ">>"),
    ("<=", "<="),
    (">=", ">="),
    ("==", "=="),
    ("!=", "!="),
    ("&&", "&&"),
    ("||", "||"),
    ("+=", "+="),
    ("-=", "-="),
    ("*=", "*="),
    ("/=", "/="),
    ("%=", "%="),
    ("&=", "&="),
    ("|=", "|="),
    ("^=", "^="),
    ("::", "::"),
];

/// Reads a source whose lines are joined. It leaves `_Pragma` as it is.
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    line_start: bool,
    raw_string: Option<u32>,
    dialect: Dialect,
    /// Whether lines of the source were joined.
    pub(super) spliced: bool,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str, dialect: Dialect) -> Self {
        // Compilers skip a byte order mark, so the first line may be a directive.
        let at = if text.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        Self {
            text,
            at,
            line: 1,
            line_start: true,
            raw_string: None,
            dialect,
            spliced: false,
        }
    }

    pub(super) fn run(mut self) -> Lexed<'a> {
        let mut items = Vec::new();
        while self.skip_blanks(false) {
            let hash = match (self.byte(0), self.byte(1)) {
                (Some(b'#'), _) => 1,
                (Some(b'%'), Some(b':')) => 2,
                _ => 0,
            };
            if hash > 0 && self.line_start {
                items.push(Item::Directive(self.directive(hash)));
            } else {
                items.push(Item::Token(self.token()));
            }
        }
        Lexed {
            items,
            raw_string: self.raw_string,
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    /// Skips white space and comments. Returns false if nothing is left (of the line, if
    /// `within_line`).
    pub(super) fn skip_blanks(&mut self, within_line: bool) -> bool {
        loop {
            match (self.byte(0), self.byte(1)) {
                (None, _) => return false,
                (Some(b'\n'), _) if within_line => return false,
                (Some(b'\n'), _) => {
                    self.at += 1;
                    self.line += 1;
                    self.line_start = true;
                }
                (Some(b' ' | b'\t' | b'\r' | 0x0b | 0x0c), _) => self.at += 1,
                (Some(b'/'), Some(b'/')) => {
                    self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                }
                (Some(b'/'), Some(b'*')) => {
                    let length = self.rest()[2..]
                        .find("*/")
                        .map_or(self.rest().len(), |inner| inner + 4);
                    self.line += self.rest()[..length]
                        .bytes()
                        .filter(|&byte| byte == b'\n')
                        .count() as u32;
                    self.at += length;
                }
                _ => return true,
            }
        }
    }

    fn directive(&mut self, hash: usize) -> Directive<'a> {
        let (offset, line) = (self.at, self.line);
        self.at += hash;
        self.line_start = false;
        let mut directive = Directive {
            name: Cow::Borrowed(""),
            header: None,
            body: Vec::new(),
            offset,
            end: self.at,
            line,
        };
        while self.skip_blanks(true) {
            let is_include = matches!(
                directive.name.as_ref(),
                "include" | "include_next" | "import" | "embed"
            );
            if is_include
                && directive.header.is_none()
                && directive.body.is_empty()
                && self.byte(0) == Some(b'<')
            {
                let inner = &self.rest()[1..];
                let length = inner.find(['>', '\n']).unwrap_or(inner.len());
                directive.header = Some(Cow::Borrowed(&inner[..length]));
                self.at += 1 + length + usize::from(inner[length..].starts_with('>'));
                directive.end = self.at;
                continue;
            }
            let token = self.token();
            directive.end = self.at;
            if directive.name.is_empty()
                && directive.body.is_empty()
                && token.kind == TokenKind::Ident
            {
                directive.name = token.text;
                continue;
            }
            if is_include
                && directive.body.is_empty()
                && directive.header.is_none()
                && token.kind == TokenKind::Str
            {
                directive.header = Some(token.text.clone());
            }
            directive.body.push(token);
        }
        directive
    }

    pub(super) fn token(&mut self) -> Token<'a> {
        let (offset, line) = (self.at, self.line);
        self.line_start = false;
        let (kind, text) = self.token_text();
        let is_literal = matches!(kind, TokenKind::Str | TokenKind::Char);
        let escaped = is_literal && has_other_escapes(&self.text[offset..self.at]);
        Token {
            kind,
            text,
            escaped,
            offset,
            end: self.at,
            line,
        }
    }

    fn token_text(&mut self) -> (TokenKind, Cow<'a, str>) {
        let first = self.byte(0).unwrap_or(b'\n');
        if is_word(first) && !first.is_ascii_digit() {
            let word = self.take(|byte, _| is_word(byte));
            return match (word, self.byte(0)) {
                ("L" | "u" | "U" | "u8", Some(b'"')) => self.literal(b'"'),
                ("L" | "u" | "U" | "u8", Some(b'\'')) => self.literal(b'\''),
                ("R" | "LR" | "uR" | "UR" | "u8R", Some(b'"')) => {
                    self.raw_literal().unwrap_or_else(|| {
                        self.raw_string = self.raw_string.or(Some(self.line));
                        (TokenKind::Ident, Cow::Borrowed(word))
                    })
                }
                (word, _) => (TokenKind::Ident, Cow::Borrowed(word)),
            };
        }
        if first.is_ascii_digit()
            || (first == b'.' && self.byte(1).is_some_and(|byte| byte.is_ascii_digit()))
        {
            let start = self.at;
            loop {
                self.take(|byte, before| {
                    is_word(byte)
                        || byte == b'.'
                        || (matches!(byte, b'+' | b'-')
                            && matches!(before, b'e' | b'E' | b'p' | b'P'))
                });
                let separated = self.dialect == Dialect::Cuda
                    && self.byte(0) == Some(b'\'')
                    && self.byte(1).is_some_and(is_word);
                if !separated {
                    break;
                }
                self.at += 1;
            }
            return (TokenKind::Number, Cow::Borrowed(&self.text[start..self.at]));
        }
        if matches!(first, b'"' | b'\'') {
            return self.literal(first);
        }
        let rest = self.rest();
        // In C++ the `<` of `<::name` stands alone.
        let is_scoped = self.dialect == Dialect::Cuda
            && rest.starts_with("<::")
            && !matches!(self.byte(3), Some(b':' | b'>'));
        let may_join = !is_scoped && self.byte(1).is_some_and(|next| next.is_ascii_punctuation());
        if may_join
            && let Some((written, meant)) = PUNCTUATORS
                .into_iter()
                .find(|(written, _)| written.as_bytes()[0] == first && rest.starts_with(written))
        {
            self.at += written.len();
            return (TokenKind::Punct, Cow::Borrowed(meant));
        }
        // Every byte from 128 up is part of a word, so this byte is a complete character.
        let text = &self.text[self.at..=self.at];
        self.at += 1;
        let kind = if first.is_ascii_punctuation() && !matches!(first, b'\\' | b'@' | b'`') {
            TokenKind::Punct
        } else {
            TokenKind::Other
        };
        (kind, Cow::Borrowed(text))
    }

    /// Takes bytes while `belongs(byte, byte before)` holds.
    fn take(&mut self, belongs: impl Fn(u8, u8) -> bool) -> &'a str {
        let start = self.at;
        let mut before = 0;
        while let Some(byte) = self.byte(0).filter(|&byte| belongs(byte, before)) {
            before = byte;
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// A raw string of C++, from its quote on; `None` if its end is in doubt.
    fn raw_literal(&mut self) -> Option<(TokenKind, Cow<'a, str>)> {
        // After one in doubt nothing can be trusted, and looking on would cost quadratic time.
        if self.dialect == Dialect::C || self.spliced || self.raw_string.is_some() {
            return None;
        }
        let inner = &self.rest()[1..];
        let open = inner
            .find(|c: char| matches!(c, '(' | ')' | '\\' | '"') || c.is_whitespace())
            .filter(|open| *open <= 16 && inner[*open..].starts_with('('))?;
        let content = &inner[open + 1..];
        let close = format!("){}\"", &inner[..open]);
        let length = content.find(&close)?;
        let content = &content[..length];
        self.at += 1 + open + 1 + length + close.len();
        self.line += content.bytes().filter(|&byte| byte == b'\n').count() as u32;
        Some((TokenKind::Str, Cow::Borrowed(content)))
    }

    /// A string or character literal. An unclosed one ends with its line.
    fn literal(&mut self, quote: u8) -> (TokenKind, Cow<'a, str>) {
        self.at += 1;
        let start = self.at;
        while let Some(byte) = self.byte(0).filter(|&byte| byte != quote && byte != b'\n') {
            let escaped = byte == b'\\' && self.byte(1).is_some_and(|next| next != b'\n');
            self.at += if escaped { 2 } else { 1 };
        }
        // An escape may have ended inside a multi-byte character.
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
        let content = &self.text[start..self.at];
        self.at += usize::from(self.byte(0) == Some(quote));
        let kind = if quote == b'"' {
            TokenKind::Str
        } else {
            TokenKind::Char
        };
        (
            kind,
            if content.contains('\\') {
                Cow::Owned(decode(content))
            } else {
                Cow::Borrowed(content)
            },
        )
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}
