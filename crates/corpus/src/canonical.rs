//! The canonical form of C, the only one that the nano policy knows: no comments, no unnecessary
//! spaces, one statement per line, and one space of indentation per brace.

use hotloop_flow::language::c::lex::{self, Item, Token, TokenKind};

/// The source in canonical form. Its tokens and therefore its meaning stay the same.
pub fn canonical(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut page = Page::default();
    for item in lex::lex(source).items {
        match item {
            Item::Token(token) => page.token(
                &token,
                source.get(token.offset..token.end).unwrap_or(""),
                &mut text,
            ),
            Item::Directive(directive) => {
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push('\n');
                }
                text.push('#');
                text.push_str(&directive.name);
                if let Some(header) = &directive.header {
                    text.extend(["<", header.as_ref(), ">"]);
                } else {
                    let mut end = None;
                    for token in &directive.body {
                        // A space is kept where there was one: `#define F (x)` is not
                        // `#define F(x)`.
                        if end != Some(token.offset) {
                            text.push(' ');
                        }
                        text.push_str(source.get(token.offset..token.end).unwrap_or(""));
                        end = Some(token.end);
                    }
                }
                text.push('\n');
                page = Page { last: None, ..page };
            }
        }
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// The state of the writer.
#[derive(Default)]
struct Page<'a> {
    braces: usize,
    parentheses: usize,
    /// Braces of an initialiser, which stay on their line.
    inline: usize,
    last: Option<(TokenKind, &'a str)>,
}

impl<'a> Page<'a> {
    fn token(&mut self, token: &Token<'_>, raw: &'a str, text: &mut String) {
        // Only punctuation of one byte matters below.
        let punct = match (token.kind, token.text.as_bytes()) {
            (TokenKind::Punct, [byte]) => *byte,
            _ => 0,
        };
        let is = |byte: u8| punct == byte;
        let after_equals = matches!(self.last, Some((TokenKind::Punct, "=")));
        let opens_list = is(b'{') && (self.inline > 0 || after_equals || self.parentheses > 0);
        if is(b'}') && self.inline == 0 {
            self.braces = self.braces.saturating_sub(1);
        }
        if text.ends_with('\n') {
            text.extend(std::iter::repeat_n(' ', self.braces));
        } else if self.needs_space(token) {
            text.push(' ');
        }
        text.push_str(raw);
        self.last = Some((token.kind, raw));
        if is(b'(') {
            self.parentheses += 1;
        } else if is(b')') {
            self.parentheses = self.parentheses.saturating_sub(1);
        } else if opens_list {
            self.inline += 1;
        } else if is(b'}') && self.inline > 0 {
            self.inline -= 1;
        } else if is(b'{') || is(b'}') || (is(b';') && self.parentheses == 0 && self.inline == 0) {
            self.braces += usize::from(is(b'{'));
            text.push('\n');
        }
    }

    /// Whether the last token and this one would merge without a space.
    fn needs_space(&self, token: &Token<'_>) -> bool {
        let Some((kind, last)) = &self.last else {
            return false;
        };
        let word = |kind| matches!(kind, TokenKind::Ident | TokenKind::Number);
        if word(*kind) && word(token.kind) {
            return true;
        }
        let (Some(before), Some(after)) = (last.chars().last(), token.text.chars().next()) else {
            return false;
        };
        *kind == TokenKind::Punct
            && token.kind == TokenKind::Punct
            && ("+-&|<>=".contains(before) && before == after
                || before == '/' && "*/".contains(after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expect: &str) {
        assert_eq!(canonical(source), expect);
        assert_eq!(
            canonical(expect),
            expect,
            "a canonical text is its own canonical form"
        );
    }

    #[test]
    fn statements_get_lines_and_braces_indentation() {
        check(
            "void f ( double * a , int n ) { // set\n  for (int i = 0; i < n; i++) a[i] = 0;  /* end */ }",
            "void f(double*a,int n){\n for(int i=0;i<n;i++)a[i]=0;\n}\n",
        );
    }

    #[test]
    fn initialisers_stay_on_their_line() {
        check(
            "void f(void) { double s[2][2] = { { 0 } }; }",
            "void f(void){\n double s[2][2]={{0}};\n}\n",
        );
    }

    #[test]
    fn directives_stand_alone() {
        check(
            "#include <omp.h>\nvoid f(void) {\n    #pragma omp parallel for collapse(2)\n  for (;;) ; }",
            "#include<omp.h>\nvoid f(void){\n#pragma omp parallel for collapse(2)\n for(;;);\n}\n",
        );
    }

    #[test]
    fn significant_spaces_are_kept() {
        check(
            "int f(int a) { return a - -a + + +a & ( a && a); }",
            "int f(int a){\n return a- -a+ + +a&(a&&a);\n}\n",
        );
    }
}
