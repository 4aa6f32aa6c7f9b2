//! `_Pragma("...")`, which becomes the equivalent `#pragma`.

use std::borrow::Cow;

use super::lexer::Lexer;
use super::token::{Dialect, Directive, Item, Token, TokenKind};

/// A pragma operator's operand is short. Looking further would cost quadratic time.
const PRAGMA_REACH: usize = 256;

/// Puts the equivalent `#pragma` for each `_Pragma("...")`.
pub(super) fn fold_pragmas(items: Vec<Item<'_>>) -> Vec<Item<'_>> {
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
        body: Lexer::new(&text, Dialect::C).words(operator),
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
