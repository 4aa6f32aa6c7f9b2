//! A C source as tokens for mutations.
//!
//! The reader is simpler than the bench's own and shares nothing with it. Otherwise both would have
//! the same blind spots.

use std::ops::Range;

/// The kind of a token, as far as it matters for mutations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Number,
    Literal,
    Mark,
}

/// The context of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Program,
    /// In what a macro stands for, and no operand of `#` or `##`.
    Definition,
    /// Anywhere else in a directive, where macros are not replaced or must not be.
    Directive,
}

#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) place: Place,
    pub(super) range: Range<usize>,
    /// Braces around it.
    pub(super) depth: usize,
}

#[derive(Debug, Clone)]
pub(super) struct Directive {
    pub(super) name: String,
    pub(super) range: Range<usize>,
    /// Conditions around it.
    level: usize,
}

/// A replacement of some bytes.
pub(super) struct Edit {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

#[derive(Debug)]
pub(super) struct Program<'a> {
    pub(super) source: &'a str,
    pub(super) tokens: Vec<Token>,
    pub(super) directives: Vec<Directive>,
}

/// The source with every spliced line joined.
pub(super) fn joined(source: &str) -> String {
    let mut joined = String::new();
    let mut rest = source;
    while let Some(at) = rest.find('\\') {
        let behind = rest[at + 1..].trim_start_matches([' ', '\t', '\r', '\x0b', '\x0c']);
        if let Some(next_line) = behind.strip_prefix('\n') {
            joined.push_str(&rest[..at]);
            rest = next_line;
        } else {
            joined.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
        }
    }
    joined + rest
}

impl<'a> Program<'a> {
    /// Reads a source without spliced lines.
    pub(super) fn read(source: &'a str) -> Self {
        let mut reader = Reader::default();
        let mut at = 0;
        while at < source.len() {
            let (piece, end) = piece(source, at);
            reader.take(source, piece, at..end);
            at = end;
        }
        reader.end_directive(source, at);
        Self {
            source,
            tokens: reader.tokens,
            directives: reader.directives,
        }
    }

    pub(super) fn text(&self, token: &Token) -> &'a str {
        &self.source[token.range.clone()]
    }

    /// Whether the token at `index` exists and reads `text`.
    pub(super) fn is(&self, index: usize, text: &str) -> bool {
        self.tokens
            .get(index)
            .is_some_and(|token| self.text(token) == text)
    }

    pub(super) fn is_word(&self, index: usize) -> bool {
        self.tokens
            .get(index)
            .is_some_and(|token| token.kind == Kind::Word)
    }

    /// The token that closes the bracket at `open`.
    pub(super) fn closing(&self, open: usize) -> Option<usize> {
        let opening = self.text(self.tokens.get(open)?);
        let closing = match opening {
            "(" => ")",
            "[" => "]",
            "{" => "}",
            _ => return None,
        };
        let mut depth = 0;
        for (index, token) in self.tokens.iter().enumerate().skip(open) {
            if token.place != self.tokens[open].place {
                continue;
            }
            let text = self.text(token);
            depth += usize::from(text == opening);
            depth -= usize::from(text == closing);
            if depth == 0 {
                return Some(index);
            }
        }
        None
    }

    /// The functions that are defined here: the positions of their names and of their bodies.
    pub(super) fn functions(&self) -> Vec<(usize, usize)> {
        let is_head = |index: usize| {
            let token = &self.tokens[index];
            token.kind == Kind::Word && token.place == Place::Program && token.depth == 0
        };
        (0..self.tokens.len())
            .filter(|&index| is_head(index) && self.is(index + 1, "("))
            .filter_map(|index| Some((index, self.closing(index + 1)? + 1)))
            .filter(|(_, body)| self.is(*body, "{"))
            .collect()
    }

    /// The source with `edits` applied, and with `head` before the first of them and after the
    /// headers.
    pub(super) fn rewritten(&self, head: &str, mut edits: Vec<Edit>) -> Option<String> {
        edits.sort_by_key(|edit| edit.range.start);
        let first = edits.first()?.range.start;
        let headers = self.directives.iter().filter(|directive| {
            directive.level == 0
                && directive.name.starts_with("include")
                && directive.range.end <= first
        });
        let top = headers
            .map(|directive| directive.range.end)
            .max()
            .unwrap_or(0);
        let mut text = self.source[..top].to_owned();
        if top > 0 {
            text.push('\n');
        }
        text.push_str(head);
        let mut done = top;
        for edit in edits {
            text.push_str(self.source.get(done..edit.range.start)?);
            text.push_str(&edit.text);
            done = edit.range.end;
        }
        text.push_str(&self.source[done..]);
        Some(text)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    Newline,
    Blank,
    Token(Kind),
}

/// The token at `at`, and its end.
fn piece(source: &str, at: usize) -> (Piece, usize) {
    let rest = &source[at..];
    let first = rest.chars().next().unwrap_or(' ');
    let until = |end: Option<usize>| at + end.unwrap_or(rest.len());
    let in_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$' || !c.is_ascii();
    if first == '\n' {
        return (Piece::Newline, at + 1);
    }
    if rest.starts_with("//") {
        return (Piece::Blank, until(rest.find('\n')));
    }
    if let Some(comment) = rest.strip_prefix("/*") {
        return (Piece::Blank, until(comment.find("*/").map(|end| end + 4)));
    }
    if first.is_ascii_whitespace() || first == '\x0b' {
        return (Piece::Blank, at + 1);
    }
    let digit = rest.trim_start_matches('.');
    if digit.starts_with(|c: char| c.is_ascii_digit()) && rest.len() - digit.len() <= 1 {
        let mut before = ' ';
        let end = rest.find(|c: char| {
            let exponent = "+-".contains(c) && "eEpP".contains(before);
            before = c;
            !(in_word(c) || c == '.' || exponent)
        });
        return (Piece::Token(Kind::Number), until(end));
    }
    let prefix = ["u8", "L", "u", "U", ""]
        .into_iter()
        .find(|prefix| {
            rest.strip_prefix(prefix)
                .is_some_and(|r| r.starts_with(['"', '\'']))
        })
        .map(str::len);
    if let Some(quote) = prefix {
        return (Piece::Token(Kind::Literal), at + literal(rest, quote));
    }
    if in_word(first) {
        let end = rest.find(|c: char| !in_word(c));
        return (Piece::Token(Kind::Word), until(end));
    }
    let length = ["%:%:", "##", "%:", "<:", ":>", "<%", "%>"]
        .into_iter()
        .find(|mark| rest.starts_with(mark))
        .map_or(first.len_utf8(), str::len);
    (Piece::Token(Kind::Mark), at + length)
}

/// The length of a literal whose quote is at `quote`; it ends with its line at the latest.
fn literal(rest: &str, quote: usize) -> usize {
    let bytes = rest.as_bytes();
    let mut at = quote + 1;
    while at < bytes.len() && bytes[at] != b'\n' {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == bytes[quote] => return at + 1,
            _ => at += 1,
        }
    }
    let mut end = at.min(rest.len());
    while !rest.is_char_boundary(end) {
        end += 1;
    }
    end
}

/// The state of the reader.
#[derive(Default)]
struct Reader {
    tokens: Vec<Token>,
    directives: Vec<Directive>,
    depth: usize,
    level: usize,
    line_has_token: bool,
    /// The first token of the directive that is being read.
    directive: Option<usize>,
}

impl Reader {
    fn take(&mut self, source: &str, piece: Piece, range: Range<usize>) {
        let kind = match piece {
            Piece::Blank => return,
            Piece::Newline => {
                self.end_directive(source, range.start);
                self.line_has_token = false;
                return;
            }
            Piece::Token(kind) => kind,
        };
        let text = &source[range.clone()];
        if !self.line_has_token && matches!(text, "#" | "%:") {
            self.directive = Some(self.tokens.len());
        }
        self.line_has_token = true;
        let place = if self.directive.is_some() {
            Place::Directive
        } else {
            Place::Program
        };
        let in_program = place == Place::Program;
        if in_program && matches!(text, "}" | "%>") {
            self.depth = self.depth.saturating_sub(1);
        }
        let depth = self.depth;
        self.tokens.push(Token {
            kind,
            place,
            range,
            depth,
        });
        if in_program && matches!(text, "{" | "<%") {
            self.depth += 1;
        }
    }

    fn end_directive(&mut self, source: &str, end: usize) {
        let Some(first) = self.directive.take() else {
            return;
        };
        let start = self.tokens[first].range.start;
        let words = &mut self.tokens[first + 1..];
        let name = words
            .first()
            .map_or("", |token| &source[token.range.clone()])
            .to_owned();
        if name == "endif" {
            self.level = self.level.saturating_sub(1);
        }
        if name == "define" {
            let body = definition(source, words);
            for token in &mut words[body..] {
                token.place = Place::Definition;
            }
        }
        self.directives.push(Directive {
            range: start..end,
            level: self.level,
            name,
        });
        self.level += usize::from(
            self.directives
                .last()
                .is_some_and(|d| d.name.starts_with("if")),
        );
    }
}

/// Where the body begins in the words of a `#define`; at their end if it has `#` in it.
fn definition(source: &str, words: &[Token]) -> usize {
    let text = |token: &Token| &source[token.range.clone()];
    let mut body = 2.min(words.len());
    let takes_arguments =
        words.len() > 2 && text(&words[2]) == "(" && words[1].range.end == words[2].range.start;
    if takes_arguments {
        body = words
            .iter()
            .position(|token| text(token) == ")")
            .map_or(words.len(), |at| at + 1);
    }
    let pastes = words[body..]
        .iter()
        .any(|token| matches!(text(token), "#" | "##" | "%:" | "%:%:"));
    if pastes { words.len() } else { body }
}
