//! The normal form of a source.

use super::lex::{self, Dialect, Item, Token, TokenKind};

/// The source without comments and white space. It is equal for sources that differ in nothing
/// else.
pub fn normalise(source: &str) -> String {
    normalise_in(source, Dialect::C)
}

/// [`normalise`] for a dialect.
pub(crate) fn normalise_in(source: &str, dialect: Dialect) -> String {
    let mut text = String::with_capacity(source.len());
    for item in lex::lex_in(source, dialect).items {
        match item {
            Item::Token(token) => {
                write(source, &token, &mut text);
                text.push(' ');
            }
            Item::Directive(directive) => {
                text.push_str("\n#");
                text.push_str(&directive.name);
                let mut end = directive.offset;
                if let Some(header) = &directive.header {
                    text.extend([" <", header.as_ref(), ">"]);
                }
                for token in directive.body.iter().filter(|_| directive.header.is_none()) {
                    // The space matters: `#define F (x)` differs from `#define F(x)`.
                    if !token.is_punct("(") || token.offset != end {
                        text.push(' ');
                    }
                    write(source, token, &mut text);
                    end = token.end;
                }
                text.push('\n');
            }
        }
    }
    text
}

fn write(source: &str, token: &Token<'_>, text: &mut String) {
    match token.kind {
        // As written, because a decoded literal could look like another one.
        TokenKind::Str | TokenKind::Char => {
            text.push_str(source.get(token.offset..token.end).unwrap_or(&token.text));
        }
        TokenKind::Ident | TokenKind::Number | TokenKind::Punct | TokenKind::Other => {
            text.push_str(&token.text);
        }
    }
}
