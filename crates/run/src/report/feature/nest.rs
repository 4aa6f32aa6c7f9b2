//! The loops, constants and pragmas of a source, as far as its tokens show them.
//!
//! This is not a parser. It accepts any text and leaves out what it cannot read.

use std::collections::BTreeMap;
use std::ops::Range;

use hotloop_flow::language::c::lex::{Item, Lexed, Token, TokenKind, live};

/// So much of a source is read. What reads it looks at pairs of loops and at pairs of tokens, and a
/// program may consist of nothing but loops. Kernels have a few thousand tokens.
const TOKENS: usize = 10_000;
const LOOPS: usize = 500;
const PRAGMAS: usize = 200;

/// A `for` loop. Ranges count tokens.
#[derive(Debug, Clone)]
pub(super) struct Loop {
    /// The variable that its third part advances.
    pub(super) variable: String,
    /// By how much it advances, if known.
    pub(super) step: Option<u64>,
    /// What the variable starts from.
    pub(super) start: Range<usize>,
    pub(super) condition: Range<usize>,
    /// The keyword.
    pub(super) at: usize,
    /// What is repeated.
    pub(super) body: Range<usize>,
}

impl Loop {
    pub(super) fn contains(&self, at: usize) -> bool {
        self.body.contains(&at)
    }
}

/// A pragma and the token after it.
#[derive(Debug)]
pub(super) struct Pragma {
    pub(super) words: Vec<String>,
    pub(super) before: usize,
}

#[derive(Debug, Default)]
pub(super) struct Nest<'a> {
    pub(super) tokens: Vec<Token<'a>>,
    pub(super) pragmas: Vec<Pragma>,
    pub(super) constants: BTreeMap<String, u64>,
    pub(super) loops: Vec<Loop>,
}

impl<'a> Nest<'a> {
    pub(super) fn of(lexed: &Lexed<'a>) -> Self {
        let mut nest = Self::default();
        for item in live(lexed) {
            if nest.tokens.len() == TOKENS {
                break;
            }
            match item {
                Item::Token(token) => nest.tokens.push(token.clone()),
                Item::Directive(directive)
                    if directive.name == "pragma" && nest.pragmas.len() < PRAGMAS =>
                {
                    nest.pragmas.push(Pragma {
                        words: directive
                            .body
                            .iter()
                            .map(|token| token.text.to_string())
                            .collect(),
                        before: nest.tokens.len(),
                    });
                }
                Item::Directive(directive) if directive.name == "define" => {
                    if let Some((name, value)) = directive.body.split_first() {
                        nest.define(&name.text, value);
                    }
                }
                Item::Directive(_) => {}
            }
        }
        nest.read_constants();
        nest.read_loops();
        nest
    }

    fn define(&mut self, name: &str, value: &[Token<'_>]) {
        if let Some(value) = self.value(value) {
            self.constants.insert(name.to_owned(), value);
        }
    }

    /// Finds `NAME = number` after `const` or `constexpr`, inside `enum`, and after their commas.
    fn read_constants(&mut self) {
        let mut constant = false;
        for at in 0..self.tokens.len() {
            let token = &self.tokens[at];
            if token.is_ident("const") || token.is_ident("enum") || token.is_ident("constexpr") {
                constant = true;
            } else if token.is_punct(";") || token.is_punct(")") {
                constant = false;
            } else if constant && token.is_punct("=") && at > 0 {
                let end = (at + 1..self.tokens.len())
                    .find(|end| {
                        [",", ";", "}"]
                            .iter()
                            .any(|punct| self.tokens[*end].is_punct(punct))
                    })
                    .unwrap_or(self.tokens.len());
                let name = self.tokens[at - 1].text.to_string();
                if let Some(value) = self.value(&self.tokens[at + 1..end]) {
                    self.constants.insert(name, value);
                }
            }
        }
    }

    /// A number, a constant, or a product of those.
    pub(super) fn value(&self, tokens: &[Token<'_>]) -> Option<u64> {
        let plain: Vec<&Token<'_>> = tokens
            .iter()
            .filter(|token| !token.is_punct("(") && !token.is_punct(")"))
            .collect();
        let mut product = 1u64;
        for (at, token) in plain.iter().enumerate() {
            if at % 2 == 1 {
                token.is_punct("*").then_some(())?;
            } else {
                product = product.checked_mul(self.factor(token)?)?;
            }
        }
        (plain.len() % 2 == 1).then_some(product)
    }

    fn factor(&self, token: &Token<'_>) -> Option<u64> {
        match token.kind {
            TokenKind::Number => token
                .text
                .trim_end_matches(['u', 'U', 'l', 'L'])
                .parse()
                .ok(),
            TokenKind::Ident => self.constants.get(token.text.as_ref()).copied(),
            TokenKind::Str | TokenKind::Char | TokenKind::Punct | TokenKind::Other => None,
        }
    }

    fn read_loops(&mut self) {
        for at in 0..self.tokens.len() {
            if self.loops.len() < LOOPS
                && self.tokens[at].is_ident("for")
                && self.is_punct(at + 1, "(")
            {
                self.loops.extend(self.loop_at(at));
            }
        }
    }

    fn loop_at(&self, at: usize) -> Option<Loop> {
        let close = self.closing(at + 1)?;
        let mut parts = vec![at + 2];
        let mut depth = 0;
        for index in at + 2..close {
            let token = &self.tokens[index];
            depth += i32::from(token.is_punct("(")) - i32::from(token.is_punct(")"));
            if depth == 0 && token.is_punct(";") {
                parts.push(index + 1);
            }
        }
        let [start, condition, advance] = parts[..] else {
            return None;
        };
        let (variable, step) = self.advance(&self.tokens[advance..close])?;
        let equals = (start..condition).find(|index| self.tokens[*index].is_punct("="));
        Some(Loop {
            variable,
            step,
            start: equals.map_or(start..start, |equals| equals + 1..condition - 1),
            condition: condition..advance - 1,
            at,
            body: close + 1..self.statement_end(close + 1),
        })
    }

    /// `i++`, `++i`, `i += n` and `i = i + n`.
    fn advance(&self, tokens: &[Token<'_>]) -> Option<(String, Option<u64>)> {
        let name = tokens
            .iter()
            .find(|token| token.kind == TokenKind::Ident)?
            .text
            .to_string();
        if tokens.iter().any(|token| token.is_punct("++")) {
            return Some((name, Some(1)));
        }
        let plus = tokens
            .iter()
            .position(|token| token.is_punct("+=") || token.is_punct("+"))?;
        Some((name, self.value(&tokens[plus + 1..])))
    }

    /// The token after the statement that begins at `at`.
    pub(super) fn statement_end(&self, at: usize) -> usize {
        let mut at = at;
        // `for (...) for (...) x;` ends where its innermost statement does.
        while ["for", "while", "if"].iter().any(|word| {
            self.tokens
                .get(at)
                .is_some_and(|token| token.is_ident(word))
        }) {
            match self.closing(at + 1) {
                Some(close) => at = close + 1,
                None => return self.tokens.len(),
            }
        }
        if self.is_punct(at, "{") {
            return self
                .closing(at)
                .map_or(self.tokens.len(), |close| close + 1);
        }
        (at..self.tokens.len())
            .find(|end| self.is_punct(*end, ";"))
            .map_or(self.tokens.len(), |end| end + 1)
    }

    /// Where the bracket that opens at `at` closes.
    pub(super) fn closing(&self, at: usize) -> Option<usize> {
        let mut depth = 0i32;
        for (index, token) in self.tokens.iter().enumerate().skip(at) {
            if token.kind == TokenKind::Punct {
                match token.text.as_ref() {
                    "(" | "[" | "{" => depth += 1,
                    ")" | "]" | "}" => depth -= 1,
                    _ => {}
                }
            }
            if depth <= 0 {
                return (index > at).then_some(index);
            }
        }
        None
    }

    pub(super) fn is_punct(&self, at: usize, text: &str) -> bool {
        self.tokens
            .get(at)
            .is_some_and(|token| token.is_punct(text))
    }

    /// The loops around a token, outermost first.
    pub(super) fn around(&self, at: usize) -> impl Iterator<Item = &Loop> {
        self.loops.iter().filter(move |each| each.contains(at))
    }

    /// How deep loops are nested within a range.
    pub(super) fn depth(&self, range: &Range<usize>) -> usize {
        let inside = |each: &&Loop| range.contains(&each.at);
        self.loops
            .iter()
            .filter(inside)
            .map(|each| {
                self.loops
                    .iter()
                    .filter(inside)
                    .filter(|other| other.contains(each.at))
                    .count()
                    + 1
            })
            .max()
            .unwrap_or(0)
    }
}
