//! The distance of a program from the nearest of others, which shows whether a model repeats its
//! training data.
//!
//! The distance is the edit distance in tokens, as a share of the longer program. Comments, white
//! space, `#include` and `register`, which chats may add, do not count. Names are a matter of
//! taste, so there are two distances. The first treats all names that a program defines as equal,
//! so renaming cannot raise it. The second compares names, too.

use std::collections::HashSet;

use hotloop_flow::language::c::lex::{self, Item, Token, TokenKind};

/// Words that mean the same in every program.
const KEYWORDS: [&str; 32] = [
    "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
    "extern", "float", "for", "goto", "if", "inline", "int", "long", "restrict", "return", "short",
    "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void",
    "volatile", "while",
];

/// A program as tokens, ready for comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokens {
    /// As written.
    written: Vec<u64>,
    /// All names that the program defines are equal.
    nameless: Vec<u64>,
}

impl Tokens {
    /// The tokens of a source.
    pub fn of(source: &str) -> Self {
        let items = lex::lex(source).items;
        let mut found: Vec<(String, bool)> = Vec::new();
        for (at, item) in items.iter().enumerate() {
            match item {
                Item::Token(token) if token.text == "register" => {}
                Item::Token(token) => {
                    let called =
                        matches!(items.get(at + 1), Some(Item::Token(next)) if next.is_punct("("));
                    found.push((text(token, source), is_name(token) && !called));
                }
                Item::Directive(directive) if directive.name == "include" => {}
                Item::Directive(directive) => {
                    found.push((format!("#{}", directive.name), false));
                    found.extend(
                        directive
                            .body
                            .iter()
                            .map(|token| (text(token, source), false)),
                    );
                }
            }
        }
        // A word in a directive is a name if the rest of the program uses it as one.
        let own: HashSet<&str> = found
            .iter()
            .filter(|(_, name)| *name)
            .map(|(text, _)| text.as_str())
            .collect();
        let nameless = found.iter().map(|(text, _)| {
            if own.contains(text.as_str()) {
                hash("\0")
            } else {
                hash(text)
            }
        });
        Self {
            nameless: nameless.collect(),
            written: found.iter().map(|(text, _)| hash(text)).collect(),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.written.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.written.is_empty()
    }

    /// The distance from another program.
    pub fn distance(&self, other: &Self) -> Distance {
        Distance {
            nameless: share(
                edits(&self.nameless, &other.nameless),
                self.len(),
                other.len(),
            ),
            written: share(
                edits(&self.written, &other.written),
                self.len(),
                other.len(),
            ),
        }
    }
}

/// The distance of two programs, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distance {
    /// The names that they define are equal.
    pub nameless: f64,
    /// Names count.
    pub written: f64,
}

/// The index of the nearest of `others` and its distance. The distance without names decides first,
/// and the one with names breaks ties.
pub fn nearest<'a>(
    program: &Tokens,
    others: impl IntoIterator<Item = &'a Tokens>,
) -> Option<(usize, Distance)> {
    let mut best: Option<(usize, Distance)> = None;
    for (at, other) in others.into_iter().enumerate() {
        // The difference in length alone is a lower bound of the distance.
        let least = share(
            program.len().abs_diff(other.len()),
            program.len(),
            other.len(),
        );
        if best.is_some_and(|(_, best)| least > best.nameless) {
            continue;
        }
        let distance = program.distance(other);
        let key = |distance: Distance| (distance.nameless, distance.written);
        if best.is_none_or(|(_, best)| key(distance) < key(best)) {
            best = Some((at, distance));
        }
    }
    best
}

fn share(edits: usize, one: usize, other: usize) -> f64 {
    edits as f64 / one.max(other).max(1) as f64
}

/// The text as written, because a decoded literal could look like another token.
fn text(token: &Token<'_>, source: &str) -> String {
    match token.kind {
        TokenKind::Str | TokenKind::Char => source
            .get(token.offset..token.end)
            .unwrap_or(&token.text)
            .to_owned(),
        TokenKind::Ident | TokenKind::Number | TokenKind::Punct | TokenKind::Other => {
            token.text.to_string()
        }
    }
}

/// Whether a word may be a name that the program defines: not a keyword, not a vector type, and not
/// a called function, because its name says what the code does.
fn is_name(token: &Token<'_>) -> bool {
    token.kind == TokenKind::Ident
        && !KEYWORDS.contains(&token.text.as_ref())
        && !token.text.starts_with("__")
}

/// FNV-1a. 64 bits do not collide among the few thousand words of a corpus.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Levenshtein's distance.
fn edits(one: &[u64], other: &[u64]) -> usize {
    // A common beginning and end cost nothing.
    let front = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[front..], &other[front..]);
    let back = one
        .iter()
        .rev()
        .zip(other.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let (one, other) = (&one[..one.len() - back], &other[..other.len() - back]);
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (above, a) in one.iter().enumerate() {
        let mut diagonal = above;
        row[0] = above + 1;
        for (at, b) in other.iter().enumerate() {
            let changed = diagonal + usize::from(a != b);
            diagonal = row[at + 1];
            row[at + 1] = changed.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(one: &str, other: &str) -> Distance {
        let (one, other) = (Tokens::of(one), Tokens::of(other));
        let there = one.distance(&other);
        assert_eq!(there, other.distance(&one), "it is as far there as back");
        there
    }

    fn is(value: f64, wanted: f64) {
        assert!((value - wanted).abs() < 1e-12, "{value} is not {wanted}");
    }

    #[test]
    fn edits_are_levenshteins() {
        let words = |text: &str| text.bytes().map(u64::from).collect::<Vec<u64>>();
        for (one, other, wanted) in [
            ("", "", 0),
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("flaw", "lawn", 2),
            ("abcd", "abcd", 0),
        ] {
            assert_eq!(edits(&words(one), &words(other)), wanted, "{one} {other}");
        }
    }

    #[test]
    fn space_comments_and_headers_do_not_count() {
        let found = distance(
            "#include <omp.h>\nint f ( void ) { /* one */ return 1; }",
            "int f(void){return 1;}",
        );
        is(found.written, 0.0);
        is(found.nameless, 0.0);
    }

    #[test]
    fn a_number_that_differs_is_one_edit() {
        // int f ( void ) { return 1 ; } are ten tokens.
        let found = distance("int f(void){return 1;}", "int f(void){return 2;}");
        is(found.written, 0.1);
        is(found.nameless, 0.1);
    }

    #[test]
    fn renaming_counts_only_as_written() {
        // int f ( int a ) { return a + a ; } are thirteen tokens, three of them the name.
        let found = distance("int f(int a){return a+a;}", "int f(int b){return b+b;}");
        is(found.written, 3.0 / 13.0);
        is(found.nameless, 0.0);
    }

    #[test]
    fn called_functions_and_pragmas_count() {
        // void f ( void ) { g ( ) ; } are eleven tokens.
        is(
            distance("void f(void){g();}", "void f(void){h();}").nameless,
            1.0 / 11.0,
        );
        // The pragma has four tokens: its name and three words.
        let plain = "void f(void){for(;;);}";
        let with = "void f(void){\n#pragma omp parallel for\nfor(;;);}";
        is(distance(plain, with).nameless, 4.0 / 17.0);
    }

    #[test]
    fn an_extra_statement_counts_its_tokens() {
        // Eight tokens without, twelve with `a = 1 ;`.
        is(
            distance("void f(int a){}", "void f(int a){a=1;}").written,
            4.0 / 12.0,
        );
    }

    #[test]
    fn the_nearest_is_found_and_names_decide_between_equals() {
        let all = [
            "int f(int x){return x;}",
            "int f(int a){return a;}",
            "void g(void){}",
        ]
        .map(Tokens::of);
        let (at, found) =
            nearest(&Tokens::of("int f(int a){return a;}"), &all).expect("there are some");
        assert_eq!(at, 1);
        is(found.written, 0.0);
        assert!(nearest(&all[0], []).is_none());
    }
}
