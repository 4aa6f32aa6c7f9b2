//! C with syntax highlighting, as HTML.

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

/// The source as HTML: `k` keywords, `t` types, `n` numbers, `s` strings, `f` intrinsics,
/// `p` directives, `c` comments.
pub(super) fn c(source: &str) -> String {
    let mut html = String::with_capacity(source.len() * 2);
    let mut done = 0;
    for item in lex::lex(source).items {
        let (offset, end, class) = match &item {
            Item::Token(token) => (token.offset, token.end, class(token)),
            Item::Directive(directive) => (directive.offset, directive.end, Some("p")),
        };
        // Positions in odd sources may not match. Such a piece stays plain.
        if offset < done
            || end > source.len()
            || !source.is_char_boundary(offset)
            || !source.is_char_boundary(end)
        {
            continue;
        }
        gap(&source[done..offset], &mut html);
        match class {
            Some(class) => html.extend([
                "<span class=",
                class,
                ">",
                &escape(&source[offset..end]),
                "</span>",
            ]),
            None => html.push_str(&escape(&source[offset..end])),
        }
        done = end;
    }
    gap(&source[done..], &mut html);
    html
}

/// White space and comments between tokens.
fn gap(text: &str, html: &mut String) {
    if text.trim().is_empty() {
        html.push_str(text);
    } else {
        html.extend(["<span class=c>", &escape(text), "</span>"]);
    }
}

fn class(token: &Token<'_>) -> Option<&'static str> {
    let text = token.text.as_ref();
    match token.kind {
        TokenKind::Number => Some("n"),
        TokenKind::Str | TokenKind::Char => Some("s"),
        TokenKind::Ident if KEYWORDS.contains(&text) => Some("k"),
        TokenKind::Ident if TYPES.contains(&text) || text.starts_with("__m") => Some("t"),
        TokenKind::Ident
            if text.starts_with("_mm")
                || text.starts_with("omp_")
                || text.starts_with("__builtin") =>
        {
            Some("f")
        }
        TokenKind::Ident | TokenKind::Punct | TokenKind::Other => None,
    }
}

/// Text with HTML's special characters escaped.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_coloured_and_nothing_is_lost() {
        let source =
            "#include <omp.h>\n/* why */ for (int i = 0; i < 3; i++) x = \"a<b\"; // end\n";
        let html = c(source);
        assert!(
            html.contains("<span class=p>#include &lt;omp.h&gt;</span>"),
            "{html}"
        );
        assert!(
            html.contains("<span class=k>for</span> (<span class=t>int</span> i"),
            "{html}"
        );
        assert!(
            html.contains("<span class=s>&quot;a&lt;b&quot;</span>"),
            "{html}"
        );
        assert!(html.contains("/* why */") && html.contains("// end"));
        let plain: String = html
            .split('<')
            .map(|part| part.split_once('>').map_or(part, |(_, text)| text))
            .collect();
        assert_eq!(plain, escape(source));
    }

    #[test]
    fn odd_text_does_no_harm() {
        for source in [
            "",
            "\\\n",
            "é\\\n\"",
            "<script>alert(1)</script>",
            "R\"x(\n",
            "/* open",
        ] {
            assert!(!c(source).contains("<script"));
        }
    }
}
