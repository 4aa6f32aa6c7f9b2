//! The items of a source: tokens and directives.

use std::borrow::Cow;

/// The language of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    C,
    /// CUDA C++: numbers may have `'` between their digits, and strings may be raw.
    Cuda,
}

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

    pub(super) fn into_owned(self) -> Token<'static> {
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
    pub(super) fn into_owned(self) -> Directive<'static> {
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
    /// The line of the first `R"` whose end is in doubt, so that the rest cannot be trusted. In C
    /// this is each of them, because compilers disagree. In C++ it is one in a source with spliced
    /// lines, because they are not spliced inside of it.
    pub raw_string: Option<u32>,
}
