//! C with syntax highlighting: pieces of text, each with its class.

use hotloop_flow::language::c::lex::{self, Item, Token, TokenKind};

const KEYWORDS: [&str; 22] = [
    "break", "case", "const", "continue", "do", "else", "enum", "extern", "for", "goto", "if",
    "inline", "register", "restrict", "return", "sizeof", "static", "struct", "switch", "typedef",
    "volatile", "while",
];
const TYPES: [&str; 12] = [
    "void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "size_t",
    "bool", "_Bool",
];

/// A piece of a source: its class, and its text. The classes are `k` keywords, `t` types,
/// `n` numbers, `s` strings, `f` intrinsics, `p` directives and `c` comments; none is the rest.
pub type Piece = (&'static str, String);

/// The source in pieces. Together they are the source.
pub(super) fn c(source: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut done = 0;
    for item in lex::lex(source).items {
        let (offset, end, class) = match &item {
            Item::Token(token) => (token.offset, token.end, class(token)),
            Item::Directive(directive) => (directive.offset, directive.end, "p"),
        };
        // Positions in odd sources may not match. Such a piece stays plain.
        if offset < done
            || end > source.len()
            || !source.is_char_boundary(offset)
            || !source.is_char_boundary(end)
        {
            continue;
        }
        gap(&source[done..offset], &mut pieces);
        put(class, &source[offset..end], &mut pieces);
        done = end;
    }
    gap(&source[done..], &mut pieces);
    pieces
}

/// White space and comments between tokens.
fn gap(text: &str, pieces: &mut Vec<Piece>) {
    put(if text.trim().is_empty() { "" } else { "c" }, text, pieces);
}

/// Adds text, to the last piece if that has the same class.
fn put(class: &'static str, text: &str, pieces: &mut Vec<Piece>) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some((last, before)) if *last == class => before.push_str(text),
        _ => pieces.push((class, text.to_owned())),
    }
}

fn class(token: &Token<'_>) -> &'static str {
    let text = token.text.as_ref();
    match token.kind {
        TokenKind::Number => "n",
        TokenKind::Str | TokenKind::Char => "s",
        TokenKind::Ident if KEYWORDS.contains(&text) => "k",
        TokenKind::Ident if TYPES.contains(&text) || text.starts_with("__m") => "t",
        TokenKind::Ident
            if text.starts_with("_mm")
                || text.starts_with("omp_")
                || text.starts_with("__builtin") =>
        {
            "f"
        }
        TokenKind::Ident | TokenKind::Punct | TokenKind::Other => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_coloured_and_nothing_is_lost() {
        let source =
            "#include <omp.h>\n/* why */ for (int i = 0; i < 3; i++) x = \"a<b\"; // end\n";
        let pieces = c(source);
        let has = |class, text: &str| pieces.contains(&(class, text.to_owned()));
        assert!(has("p", "#include <omp.h>"), "{pieces:?}");
        assert!(has("k", "for") && has("t", "int") && has("n", "3"));
        assert!(has("s", "\"a<b\"") && has("c", " // end\n"), "{pieces:?}");
        assert_eq!(whole(&pieces), source);
    }

    fn whole(pieces: &[Piece]) -> String {
        pieces.iter().map(|(_, text)| text.as_str()).collect()
    }

    #[test]
    fn odd_text_stays_as_it_is() {
        for source in [
            "",
            "\\\n",
            "é\\\n\"",
            "<script>alert(1)</script>",
            "R\"x(\n",
            "/* open",
        ] {
            assert_eq!(whole(&c(source)), source);
        }
    }
}
