//! A lexer of C and C++ for untrusted text: any input, no panic, linear time.
//!
//! It follows compilers with `gnu17` and `c++17` wherever a trick could hide: spliced lines join
//! even inside a word or a `//` comment, digraphs are plain punctuators, a directive may follow a
//! comment, and trigraphs do nothing. `_Pragma("...")` becomes the equivalent `#pragma`.

mod condition;
mod escapes;
mod lexer;
mod pragmas;
mod respell;
mod splices;
mod token;

pub use condition::{live, live_in};
use lexer::Lexer;
use pragmas::fold_pragmas;
pub use respell::respelled;
use splices::{join_lines, lines_before, unjoin, unjoin_token};
pub use token::{Dialect, Directive, Item, Lexed, Token, TokenKind};

/// Splits a C source into items.
pub fn lex(source: &str) -> Lexed<'_> {
    lex_in(source, Dialect::C)
}

/// Splits a source into items.
pub fn lex_in(source: &str, dialect: Dialect) -> Lexed<'_> {
    let Some((joined, cuts)) = join_lines(source) else {
        return folded(Lexer::new(source, dialect));
    };
    let mut lexer = Lexer::new(&joined, dialect);
    lexer.spliced = true;
    let Lexed { items, raw_string } = folded(lexer);
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

/// What the lexer finds, with `#pragma` for `_Pragma`.
fn folded(lexer: Lexer<'_>) -> Lexed<'_> {
    let Lexed { items, raw_string } = lexer.run();
    Lexed {
        items: fold_pragmas(items),
        raw_string,
    }
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

#[cfg(test)]
mod tests;
