//! A C lexer for untrusted text: any input, no panic, linear time.
//!
//! It follows compilers with `gnu17` wherever a trick could hide: spliced lines join even inside a
//! word or a `//` comment, digraphs are plain punctuators, a directive may follow a comment, and
//! trigraphs do nothing. `_Pragma("...")` becomes the equivalent `#pragma`.

mod condition;
mod escapes;

use std::borrow::Cow;

pub use condition::live;
use escapes::{decode, has_other_escapes};

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// A name or a keyword.
    Ident,
    /// A preprocessing number.
    Number,
    /// A string literal. The text is its content.
    Str,
    /// A character literal. The text is its content.
    Char,
    /// A punctuator. Digraphs appear as the plain form.
    Punct,
    /// Anything that is not C.
    Other,
}

/// One token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token<'a> {
    /// What it is.
    pub kind: TokenKind,
    /// Its text without splices. For literals this is the decoded content.
    pub text: Cow<'a, str>,
    /// Whether it is a literal with other escapes than `\\"` and `\\\\`, the two that `_Pragma`
    /// decodes.
    pub escaped: bool,
    /// Its first byte in the source.
    pub offset: usize,
    /// The byte after its last one.
    pub end: usize,
    /// Its line, from 1.
    pub line: u32,
}

impl Token<'_> {
    /// Whether this is the name `text`.
    pub fn is_ident(&self, text: &str) -> bool {
        self.kind == TokenKind::Ident && self.text == text
    }

    /// Whether this is the punctuator `text`.
    pub fn is_punct(&self, text: &str) -> bool {
        self.kind == TokenKind::Punct && self.text == text
    }

    fn into_owned(self) -> Token<'static> {
        Token {
            kind: self.kind,
            text: Cow::Owned(self.text.into_owned()),
            escaped: self.escaped,
            offset: self.offset,
            end: self.end,
            line: self.line,
        }
    }
}

/// A preprocessor directive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directive<'a> {
    /// `include`, `define`, `pragma`, ...; empty for `#` alone and for line markers.
    pub name: Cow<'a, str>,
    /// The literal name in an `#include`.
    pub header: Option<Cow<'a, str>>,
    /// The tokens after the name.
    pub body: Vec<Token<'a>>,
    /// The first byte in the source.
    pub offset: usize,
    /// The byte after the last one.
    pub end: usize,
    /// The line, from 1.
    pub line: u32,
}

impl Directive<'_> {
    fn into_owned(self) -> Directive<'static> {
        Directive {
            name: Cow::Owned(self.name.into_owned()),
            header: self.header.map(|header| Cow::Owned(header.into_owned())),
            body: self.body.into_iter().map(Token::into_owned).collect(),
            offset: self.offset,
            end: self.end,
            line: self.line,
        }
    }
}

/// A token of the program, or a directive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item<'a> {
    /// A token.
    Token(Token<'a>),
    /// A directive.
    Directive(Directive<'a>),
}

/// A source as items, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lexed<'a> {
    /// The items.
    pub items: Vec<Item<'a>>,
    /// The line of the first `R"`. Compilers disagree on where such a literal ends, so the rest
    /// cannot be trusted.
    pub raw_string: Option<u32>,
}

/// Splits a source into items.
pub fn lex(source: &str) -> Lexed<'_> {
    let Some((joined, cuts)) = join_lines(source) else {
        return Lexer::new(source).run();
    };
    let Lexed { items, raw_string } = Lexer::new(&joined).run();
    let items = items
        .into_iter()
        .map(|item| match item {
            Item::Token(token) => Item::Token(unjoin_token(token.into_owned(), &cuts)),
            Item::Directive(directive) => {
                let mut directive = directive.into_owned();
                directive.line += lines_before(&cuts, directive.offset);
                (directive.offset, directive.end) = unjoin(&cuts, directive.offset, directive.end);
                directive.body = directive
                    .body
                    .into_iter()
                    .map(|token| unjoin_token(token, &cuts))
                    .collect();
                Item::Directive(directive)
            }
        })
        .collect();
    Lexed { items, raw_string }
}

/// The line of the first `\u00e9` in a word. A compiler reads it as that character, but this lexer
/// does not.
pub fn universal_name(lexed: &Lexed<'_>) -> Option<u32> {
    let mut after_backslash = false;
    let mut is_one = |token: &Token<'_>| {
        let begins = token.kind == TokenKind::Ident
            && token.text.starts_with(['u', 'U'])
            && token.text.len() > 4;
        let found = after_backslash && begins;
        after_backslash = token.text == "\\" && token.kind == TokenKind::Other;
        found
    };
    lexed.items.iter().find_map(|item| match item {
        Item::Token(token) => is_one(token).then_some(token.line),
        Item::Directive(directive) => directive
            .body
            .iter()
            .find(|token| is_one(token))
            .map(|token| token.line),
    })
}

/// A place where a spliced line was joined.
struct Cut {
    /// Position in the joined text.
    at: usize,
    /// Bytes taken out up to here.
    bytes: usize,
    /// Lines joined up to here.
    lines: u32,
}

/// Joins lines that end in a backslash (spaces may follow it, as compilers allow).
fn join_lines(source: &str) -> Option<(String, Vec<Cut>)> {
    let mut joined = String::new();
    let mut cuts: Vec<Cut> = Vec::new();
    let mut kept = 0;
    for (at, _) in source.match_indices('\\') {
        let rest = &source[at + 1..];
        let blanks = rest
            .bytes()
            .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c))
            .count();
        if rest.as_bytes().get(blanks) != Some(&b'\n') {
            continue;
        }
        joined.push_str(&source[kept..at]);
        kept = at + 1 + blanks + 1;
        let lines = cuts.len() as u32 + 1;
        cuts.push(Cut {
            at: joined.len(),
            bytes: kept - joined.len(),
            lines,
        });
    }
    if cuts.is_empty() {
        return None;
    }
    joined.push_str(&source[kept..]);
    Some((joined, cuts))
}

fn cut_before(cuts: &[Cut], at: usize) -> Option<&Cut> {
    cuts[..cuts.partition_point(|cut| cut.at <= at)].last()
}

fn lines_before(cuts: &[Cut], at: usize) -> u32 {
    cut_before(cuts, at).map_or(0, |cut| cut.lines)
}

fn unjoin(cuts: &[Cut], offset: usize, end: usize) -> (usize, usize) {
    let bytes = |at| cut_before(cuts, at).map_or(0, |cut| cut.bytes);
    // The end follows its last byte, not a splice after it.
    (
        offset + bytes(offset),
        end + bytes(end.saturating_sub(1).max(offset)),
    )
}

fn unjoin_token(mut token: Token<'static>, cuts: &[Cut]) -> Token<'static> {
    token.line += lines_before(cuts, token.offset);
    (token.offset, token.end) = unjoin(cuts, token.offset, token.end);
    token
}

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

/// A pragma operator's operand is short. Looking further would cost quadratic time.
const PRAGMA_REACH: usize = 256;

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    line_start: bool,
    raw_string: Option<u32>,
}

impl<'a> Lexer<'a> {
    fn new(text: &'a str) -> Self {
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
        }
    }

    fn run(mut self) -> Lexed<'a> {
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
            items: fold_pragmas(items),
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
    fn skip_blanks(&mut self, within_line: bool) -> bool {
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

    fn token(&mut self) -> Token<'a> {
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
                (word, next) => {
                    if next == Some(b'"') && matches!(word, "R" | "LR" | "uR" | "UR" | "u8R") {
                        self.raw_string = self.raw_string.or(Some(self.line));
                    }
                    (TokenKind::Ident, Cow::Borrowed(word))
                }
            };
        }
        if first.is_ascii_digit()
            || (first == b'.' && self.byte(1).is_some_and(|byte| byte.is_ascii_digit()))
        {
            let number = self.take(|byte, before| {
                is_word(byte)
                    || byte == b'.'
                    || (matches!(byte, b'+' | b'-') && matches!(before, b'e' | b'E' | b'p' | b'P'))
            });
            return (TokenKind::Number, Cow::Borrowed(number));
        }
        if matches!(first, b'"' | b'\'') {
            return self.literal(first);
        }
        let rest = self.rest();
        let may_join = self.byte(1).is_some_and(|next| next.is_ascii_punctuation());
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

fn fold_pragmas(items: Vec<Item<'_>>) -> Vec<Item<'_>> {
    let is_operator =
        |item: &Item<'_>| matches!(item, Item::Token(token) if token.is_ident("_Pragma"));
    if !items.iter().any(is_operator) {
        return items;
    }
    let mut folded = Vec::with_capacity(items.len());
    let mut at = 0;
    while at < items.len() {
        let token = |ahead: usize| match items.get(at + ahead) {
            Some(Item::Token(token)) => Some(token),
            Some(Item::Directive(_)) | None => None,
        };
        if let Some((pragma, length)) = pragma_at(token) {
            folded.push(Item::Directive(pragma));
            at += length;
        } else {
            folded.push(items[at].clone());
            at += 1;
        }
    }
    folded
}

/// The pragma that begins at token 0, and how many tokens it takes. One whose string has escapes
/// stays as it is: to a compiler they are no escapes there, and what they hide is for its
/// preprocessor to tell.
fn pragma_at<'t, 'a: 't>(
    token: impl Fn(usize) -> Option<&'t Token<'a>>,
) -> Option<(Directive<'static>, usize)> {
    let operator = token(0).filter(|first| first.is_ident("_Pragma"))?;
    token(1).filter(|open| open.is_punct("("))?;
    let mut close = 2;
    while token(close).filter(|_| close < PRAGMA_REACH)?.kind == TokenKind::Str {
        close += 1;
    }
    let end = token(close)
        .filter(|token| token.is_punct(")") && close > 2)?
        .end;
    let inner = || (2..close).filter_map(&token);
    if inner().any(|token| token.escaped) {
        return None;
    }
    let text: String = inner().map(|token| token.text.as_ref()).collect();
    let pragma = Directive {
        name: Cow::Borrowed("pragma"),
        header: None,
        body: Lexer::new(&text).words(operator),
        offset: operator.offset,
        end,
        line: operator.line,
    };
    Some((pragma, close + 1))
}

impl Lexer<'_> {
    /// All tokens, at the position of `place`.
    fn words(mut self, place: &Token<'_>) -> Vec<Token<'static>> {
        let mut words = Vec::new();
        while self.skip_blanks(false) {
            words.push(Token {
                offset: place.offset,
                end: place.end,
                line: place.line,
                ..self.token().into_owned()
            });
        }
        words
    }
}

#[cfg(test)]
mod tests;
