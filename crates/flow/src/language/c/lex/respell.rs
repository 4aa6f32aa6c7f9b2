//! A source as this lexer reads it, spelled so that no compiler reads it in another way.
//!
//! Compilers disagree about lines that end in a backslash and blanks, apostrophes behind numbers,
//! `$` in names, digraphs, and lone carriage returns. A comment or a string that begins for one of
//! them and not for another hides code. So the text is written anew from its tokens:
//!
//! | in the source | in the text |
//! |---|---|
//! | lines that end in a backslash | one line |
//! | comments | a blank |
//! | digraphs | the punctuators that they mean |
//! | `1'000` | `1000` |
//! | a raw string | the same string with escapes |
//! | a literal directly behind a name or a number | a blank between them |
//!
//! Lines keep their numbers, except where a comment or a joined line runs into a later one.

use std::fmt::Write;

use super::lexer::Lexer;
use super::splices::{join_lines, lines_before};
use super::token::{Dialect, Directive, Item, Lexed, Token, TokenKind};

/// Spells a source anew. `Err` is the line from which on the text is in doubt.
pub fn respelled(source: &str, dialect: Dialect) -> Result<String, u32> {
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    let spliced = join_lines(source);
    let (joined, cuts) = match &spliced {
        Some((joined, cuts)) => (joined.as_str(), cuts.as_slice()),
        None => (source, &[][..]),
    };
    let mut reader = Lexer::new(joined, dialect);
    reader.spliced = spliced.is_some();
    let lexed = reader.run();
    let line_of = |offset: usize, line: u32| line + lines_before(cuts, offset);
    if let Some(line) = doubt(&lexed) {
        return Err(line);
    }
    let mut writer = Writer {
        source: joined,
        text: String::with_capacity(joined.len()),
        line: 1,
        at: 0,
        before: None,
    };
    for item in &lexed.items {
        match item {
            Item::Token(token) => {
                writer.move_to(token.offset, line_of(token.offset, token.line));
                writer.token(token);
            }
            Item::Directive(directive) => {
                writer.move_to(directive.offset, line_of(directive.offset, directive.line));
                writer.directive(directive);
            }
        }
    }
    if !writer.text.is_empty() {
        writer.text.push('\n');
    }
    Ok(writer.text)
}

/// The first line that compilers may read in different ways, however it is spelled.
fn doubt(lexed: &Lexed<'_>) -> Option<u32> {
    let stray = |token: &&Token<'_>| token.kind == TokenKind::Other && token.text == "\\";
    let backslash = || {
        lexed.items.iter().find_map(|item| match item {
            Item::Token(token) => Some(token).filter(stray),
            Item::Directive(directive) => directive.body.iter().find(stray),
        })
    };
    lexed
        .raw_string
        .or_else(|| backslash().map(|token| token.line))
}

struct Writer<'a> {
    /// The source with its lines joined.
    source: &'a str,
    text: String,
    /// The line that is being written.
    line: u32,
    /// The byte of the source up to which it is written.
    at: usize,
    /// The token before that byte; whether it is spelled as in the source.
    before: Option<(TokenKind, bool)>,
}

impl Writer<'_> {
    /// Writes what lies between the last item and the one at `offset`, whose line is `line`.
    fn move_to(&mut self, offset: usize, line: u32) {
        let gap = &self.source[self.at..offset];
        self.at = offset;
        if breaks_line(gap) {
            let lines = line.saturating_sub(self.line).max(1);
            self.text.extend((0..lines).map(|_| '\n'));
            self.line += lines;
            let indent = gap.trim_end_matches([' ', '\t']).len();
            self.text.push_str(&gap[indent..]);
            self.before = None;
        } else if gap.bytes().all(|byte| matches!(byte, b' ' | b'\t')) {
            self.text.push_str(gap);
            self.before = self.before.filter(|_| gap.is_empty());
        } else {
            self.text.push(' ');
            self.before = None;
        }
    }

    fn token(&mut self, token: &Token<'_>) {
        let written = &self.source[token.offset..token.end];
        let spelled = match token.kind {
            TokenKind::Ident | TokenKind::Punct | TokenKind::Other => token.text.to_string(),
            TokenKind::Number => token.text.replace('\'', ""),
            TokenKind::Str | TokenKind::Char => literal(written, &token.text),
        };
        let same = spelled == written;
        if let Some((kind, was_same)) = self.before {
            let is_literal = matches!(token.kind, TokenKind::Str | TokenKind::Char);
            let is_word = matches!(kind, TokenKind::Ident | TokenKind::Number);
            // `<::` is no digraph in C++11, and older rules would make it one.
            let is_angle = self.text.ends_with('<') && spelled.starts_with(':');
            if !same || !was_same || is_literal && is_word || is_angle {
                self.text.push(' ');
            }
        }
        self.text.push_str(&spelled);
        self.at = token.end;
        self.before = Some((token.kind, same));
    }

    fn directive(&mut self, directive: &Directive<'_>) {
        self.text.push('#');
        self.text.push_str(&directive.name);
        let first = directive.body.first();
        if let Some(header) = &directive.header
            && first.is_none_or(|first| first.text != *header)
        {
            write!(self.text, " <{header}>").expect("a string takes all");
        }
        self.before = None;
        self.at = first.map_or(directive.end, |first| first.offset);
        for token in &directive.body {
            if self.at < token.offset || self.before.is_none() {
                self.text.push(' ');
                self.before = None;
            }
            self.token(token);
        }
        self.at = directive.end;
        self.before = None;
    }
}

/// Whether the text between two tokens ends a line outside of its comments.
fn breaks_line(mut gap: &str) -> bool {
    while let Some(at) = gap.find(['\n', '/']) {
        if gap[at..].starts_with('\n') {
            return true;
        }
        // Nothing but comments has slashes there.
        let comment = &gap[at..];
        gap = if comment.starts_with("//") {
            comment.find('\n').map_or("", |end| &comment[end..])
        } else {
            let inner = comment.get(2..).unwrap_or_default();
            inner.find("*/").map_or("", |end| &inner[end + 2..])
        };
    }
    false
}

/// A literal as it is written, but for raw strings and for carriage returns, which are line ends
/// to some.
fn literal(written: &str, content: &str) -> String {
    let quote = written.find(['"', '\'']).unwrap_or(0);
    let Some(prefix) = written[..quote].strip_suffix('R') else {
        return written.replace('\r', "\\r");
    };
    let mut spelled = format!("{prefix}\"");
    for letter in content.chars() {
        match letter {
            '"' => spelled.push_str("\\\""),
            '\\' => spelled.push_str("\\\\"),
            '\n' => spelled.push_str("\\n"),
            '\r' => spelled.push_str("\\r"),
            '?' => spelled.push_str("\\?"),
            letter => spelled.push(letter),
        }
    }
    spelled.push('"');
    spelled
}

#[cfg(test)]
mod tests {
    use super::super::lex_in;
    use super::*;

    fn spelled(source: &str) -> Result<String, u32> {
        let spelled = respelled(source, Dialect::Cuda);
        if let Ok(text) = &spelled {
            assert_eq!(
                respelled(text, Dialect::Cuda).as_ref(),
                Ok(text),
                "what is spelled anew stays as it is"
            );
        }
        spelled
    }

    fn check(source: &str, expect: &str) {
        assert_eq!(spelled(source).as_deref(), Ok(expect), "{source}");
    }

    #[test]
    fn joined_lines_are_one_and_lines_keep_their_numbers() {
        check("#define A x \\ \n  + y\nb\n", "#define A x + y\n\nb\n");
        check("// a \\  \nb\nc", "\n\nc\n");
        check("a\\\nb\nc", "ab\n\nc\n");
        check("  a\r\n\tb", "  a\n\tb\n");
    }

    #[test]
    fn an_apostrophe_behind_a_number_begins_no_other_literal() {
        check("1'000'000u 0x1'f", "1000000u 0x1f\n");
        check("1'a'/*b*/'c'", "1a '/*b*/'c '\n");
        check("x = 1'a' /* '; */ y", "x = 1a ' /* '; */ y\n");
        check("1'0'c'", "10c '\n");
    }

    #[test]
    fn a_string_behind_a_name_is_an_ordinary_one() {
        check("$R\"x(\" y", "$R \"x(\" y\n");
        check("aR\"(\" b'c'", "aR \"(\" b 'c'\n");
        check("u8\"a\" L'b'", "u8\"a\" L'b'\n");
    }

    #[test]
    fn raw_strings_have_escapes() {
        check(
            "asm(R\"x(a\n\\ \"?)\")x\");\nb",
            "asm( \"a\\n\\\\ \\\"\\?)\\\"\" );\n\nb\n",
        );
        check("LR\"(/*)\"", "L\"/*\"\n");
        assert_eq!(spelled("a\nR\"(b"), Err(2));
        assert_eq!(spelled("a\\\nb R\"(c)\""), Err(1));
    }

    #[test]
    fn comments_digraphs_and_carriage_returns_are_plain() {
        check("a/* b\n */c", "a c\n");
        check("a /* \n */ # b\nc", "a # b\n\nc\n");
        check("%:define A <:0:> %:%: b", "#define A [ 0 ] ## b\n");
        check("v<::n> a%:#", "v< ::n> a # #\n");
        check("// a\rb\nc", "\nc\n");
        check("\"a\rb\" '\r'", "\"a\\rb\" '\\r'\n");
        check("\u{feff}#if 1 // a\n#endif", "#if 1\n#endif\n");
    }

    #[test]
    fn directives_keep_what_decides_their_meaning() {
        check("#  include /**/ <a.h> // b", "#include <a.h>\n");
        check(
            "# include \"a.h\"\n# include A",
            "#include \"a.h\"\n#include A\n",
        );
        check(
            "#define F(x) x\n#define G (x) #x",
            "#define F(x) x\n#define G (x) #x\n",
        );
        check("#define A /* \n */ 1\nb", "#define A 1\n\nb\n");
        check(
            "#pragma unroll 4\n_Pragma(\"unroll\") a",
            "#pragma unroll 4\n_Pragma(\"unroll\") a\n",
        );
        check(
            "#\n# 1 \"a\"\n#error don't\n",
            "#\n# 1 \"a\"\n#error don 't\n",
        );
    }

    #[test]
    fn a_stray_backslash_is_in_doubt() {
        // A comment that is left out would make it join lines.
        assert_eq!(spelled("a\nb \\ /* c */\nd"), Err(2));
        assert_eq!(spelled("#define A \\ /* c */\nd"), Err(1));
        assert_eq!(spelled("caf\\u00e9"), Err(1));
        assert_eq!(spelled("a \\"), Err(1));
    }

    #[test]
    fn it_says_the_same_tokens() {
        let source = "#define X(a) a ## b \\\n + '\\''\n__global__ void k(float *x) { // c\n  \
                      x[0] = 1'0.5e-3f /* d */ ? \"e\" R\"(f)\" : x<:1:>;\n}\n";
        let words = |text: &str| -> Vec<(String, u32)> {
            let mut words = Vec::new();
            for item in lex_in(text, Dialect::Cuda).items {
                match item {
                    Item::Token(token) => words.push((token.text.replace('\'', ""), token.line)),
                    Item::Directive(directive) => {
                        let body = directive.body.iter().map(|token| token.text.to_string());
                        words.push((body.collect::<Vec<_>>().join(" "), directive.line));
                    }
                }
            }
            words
        };
        // A source without joined lines may hold raw strings.
        let source = source.replace("\\\n", "");
        assert_eq!(words(&spelled(&source).unwrap()), words(&source));
    }

    #[test]
    fn any_text_is_survived() {
        for text in [
            "",
            "\\",
            "'",
            "\"",
            "/*",
            "//",
            "#",
            "#include <",
            "é'é\"",
            "1'",
            "/",
            "\r",
        ] {
            drop(spelled(text));
        }
        for unit in [
            "1'a'",
            "/**/",
            "\\\n",
            "a\"",
            "#define a\\\n",
            "R\"(\n)\"",
            "\"\\\"\r",
        ] {
            drop(respelled(&unit.repeat(200_000), Dialect::Cuda));
        }
    }
}
