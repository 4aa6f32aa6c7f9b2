//! A source with its own macros expanded, to find an entry point that they spell.
//!
//! Only the outline of a source is made of this: what is compiled stays as it was written. So the
//! expansion may be rough. It knows no header, and after so many steps it leaves macros as they are.

use std::collections::BTreeMap;

use super::outline::Known;
use crate::language::c::lex::{self, Item, Lexed, Token, TokenKind};

/// Tokens that are read or made for the macros of one completion. Each macro may stand for many
/// others.
pub(super) const STEPS: usize = 1 << 17;
/// How deep macros and their arguments may stand in each other.
const DEEP: usize = 16;

struct Macro<'a> {
    /// `None` if it takes no arguments. The last one may take all others.
    parameters: Option<Vec<String>>,
    takes_all: bool,
    body: Vec<Token<'a>>,
}

/// The source without its definitions of macros, and with what they stand for. Nothing if it
/// defines none. What it takes is taken off `steps`.
pub(super) fn expanded<'a>(
    lexed: &Lexed<'a>,
    known: Known,
    steps: &mut usize,
) -> Option<Lexed<'a>> {
    let is_define =
        |item: &Item<'_>| matches!(item, Item::Directive(directive) if directive.name == "define");
    if !lexed.items.iter().any(is_define) {
        return None;
    }
    let mut expander = Expander {
        macros: BTreeMap::new(),
        known,
        steps: *steps,
        active: Vec::new(),
    };
    let mut items = Vec::with_capacity(lexed.items.len());
    let mut between: Vec<Token<'a>> = Vec::new();
    for item in lex::live(lexed) {
        let directive = match item {
            Item::Token(token) => {
                between.push(token.clone());
                continue;
            }
            Item::Directive(directive) => directive,
        };
        items.extend(expander.expand(&between, 0).into_iter().map(Item::Token));
        between.clear();
        match directive.name.as_ref() {
            "define" => expander.define(&directive.body),
            "undef" => {
                let name = directive.body.first().map(|name| name.text.as_ref());
                expander.macros.remove(name.unwrap_or_default());
            }
            _ => items.push(item.clone()),
        }
    }
    items.extend(expander.expand(&between, 0).into_iter().map(Item::Token));
    *steps = expander.steps;
    Some(Lexed {
        items,
        raw_string: lexed.raw_string,
    })
}

struct Expander<'a> {
    macros: BTreeMap<String, Macro<'a>>,
    known: Known,
    steps: usize,
    /// The macros that are being expanded, none of which is expanded again within itself.
    active: Vec<String>,
}

impl<'a> Expander<'a> {
    fn define(&mut self, words: &[Token<'a>]) {
        let [name, rest @ ..] = words else { return };
        if self.known == Known::First && self.macros.contains_key(name.text.as_ref()) {
            return;
        }
        let takes = rest
            .first()
            .is_some_and(|open| open.is_punct("(") && open.offset == name.end);
        let close = rest.iter().position(|token| token.is_punct(")"));
        let (parameters, takes_all, body) = match close.filter(|_| takes) {
            Some(close) => {
                let listed = &rest[1..close];
                let takes_all = listed.last().is_some_and(|last| last.is_punct("..."));
                let mut names: Vec<String> = listed
                    .iter()
                    .filter(|token| token.kind == TokenKind::Ident)
                    .map(|token| token.text.to_string())
                    .collect();
                // `args...` names what it takes, and `...` does not.
                let is_named = listed.len() > 1 && !listed[listed.len() - 2].is_punct(",");
                if takes_all && !is_named {
                    names.push("__VA_ARGS__".to_owned());
                }
                (Some(names), takes_all, &rest[close + 1..])
            }
            None if takes => return,
            None => (None, false, rest),
        };
        let defined = Macro {
            parameters,
            takes_all,
            body: body.to_vec(),
        };
        self.macros.insert(name.text.to_string(), defined);
    }

    fn expand(&mut self, tokens: &[Token<'a>], depth: usize) -> Vec<Token<'a>> {
        if depth > 0 {
            // What macros stand for is read again at each of their depths.
            self.steps = self.steps.saturating_sub(tokens.len());
            if self.steps == 0 {
                return tokens.to_vec();
            }
        }
        let mut out = Vec::with_capacity(tokens.len());
        let mut at = 0;
        while at < tokens.len() {
            let token = &tokens[at];
            at += 1;
            if let Some((made, taken)) = self.made_of(token, &tokens[at..], depth) {
                at += taken;
                out.extend(made);
            } else {
                out.push(token.clone());
            }
        }
        out
    }

    /// What a macro stands for, and how many tokens behind its name are its arguments. Nothing if
    /// the name is no macro's, or is one that stays.
    fn made_of(
        &mut self,
        name: &Token<'a>,
        behind: &[Token<'a>],
        depth: usize,
    ) -> Option<(Vec<Token<'a>>, usize)> {
        let found = (name.kind == TokenKind::Ident).then(|| self.macros.get(name.text.as_ref()));
        let found = found.flatten()?;
        let is_active = self.active.iter().any(|active| *active == name.text);
        if depth >= DEEP || is_active || self.steps == 0 {
            return None;
        }
        let body = found.body.clone();
        let (parameters, takes_all) = (found.parameters.clone(), found.takes_all);
        let (given, taken) = match &parameters {
            None => (Vec::new(), 0),
            Some(parameters) => {
                let most = if takes_all {
                    parameters.len()
                } else {
                    usize::MAX
                };
                arguments(&behind[..behind.len().min(self.steps)], most)?
            }
        };
        self.steps = self.steps.saturating_sub(taken + body.len() + 1);
        let end = taken
            .checked_sub(1)
            .map_or(name.end, |last| behind[last].end);
        let names = parameters.unwrap_or_default();
        let mut made = self.substituted(&body, &names, &given, depth);
        // All of it stands where the macro stands.
        for token in &mut made {
            (token.offset, token.end, token.line) = (name.offset, end, name.line);
        }
        self.steps = self.steps.saturating_sub(made.len());
        self.active.push(name.text.to_string());
        let made = self.expand(&made, depth + 1);
        self.active.pop();
        Some((made, taken))
    }

    /// A macro's body with its arguments in place of its parameters.
    fn substituted(
        &mut self,
        body: &[Token<'a>],
        names: &[String],
        given: &[&[Token<'a>]],
        depth: usize,
    ) -> Vec<Token<'a>> {
        let argument = |token: &Token<'a>| {
            let at = names.iter().position(|name| token.is_ident(name))?;
            Some(given.get(at).copied().unwrap_or_default())
        };
        let mut out: Vec<Token<'a>> = Vec::new();
        let mut pastes = false;
        for (at, token) in body.iter().enumerate() {
            if token.is_punct("##") {
                pastes = true;
                continue;
            }
            let is_pasted = pastes || body.get(at + 1).is_some_and(|next| next.is_punct("##"));
            let mut part = match argument(token) {
                Some(given) if is_pasted => given.to_vec(),
                Some(given) => self.expand(given, depth + 1),
                None => vec![token.clone()],
            };
            if std::mem::take(&mut pastes)
                && let Some(first) = part.first()
                && let Some(last) = out.last_mut()
            {
                last.text.to_mut().push_str(&first.text);
                part.remove(0);
            }
            self.steps = self.steps.saturating_sub(part.len());
            out.extend(part);
            if self.steps == 0 {
                break;
            }
        }
        out
    }
}

/// The arguments behind a macro's name, at most so many, and how many tokens they take with their
/// parentheses. The last of them takes all commas that are left.
fn arguments<'t, 'a>(
    behind: &'t [Token<'a>],
    most: usize,
) -> Option<(Vec<&'t [Token<'a>]>, usize)> {
    if !behind.first()?.is_punct("(") {
        return None;
    }
    let mut given = Vec::new();
    let mut depth = 0usize;
    let mut start = 1;
    for (at, token) in behind.iter().enumerate() {
        depth += usize::from(token.is_punct("("));
        depth -= usize::from(token.is_punct(")"));
        if depth == 0 {
            given.push(&behind[start..at]);
            return Some((given, at + 1));
        }
        if depth == 1 && token.is_punct(",") && given.len() + 1 < most {
            given.push(&behind[start..at]);
            start = at + 1;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str, known: Known) -> String {
        let lexed = lex::lex(source);
        let expanded = expanded(&lexed, known, &mut { STEPS }).expect("it defines a macro");
        let words = expanded.items.iter().filter_map(|item| match item {
            Item::Token(token) => Some(token.text.as_ref()),
            Item::Directive(_) => None,
        });
        words.collect::<Vec<_>>().join(" ")
    }

    fn check(source: &str, expect: &str) {
        assert_eq!(words(source, Known::Last), expect, "{source}");
    }

    #[test]
    fn macros_stand_for_what_they_say() {
        check("#define N 4\nint a[N];", "int a [ 4 ] ;");
        check("#define F(t, n) t n##_f\nF(int, g);", "int g_f ;");
        check(
            "#define X(f) f(a) f(b)\n#define D(n) int n;\nX(D)",
            "int a ; int b ;",
        );
        check(
            "#define V(f, ...) f(__VA_ARGS__)\nV(g, 1, 2)",
            "g ( 1 , 2 )",
        );
        check("#define V(a...) g(a)\nV(1, (2, 3))", "g ( 1 , ( 2 , 3 ) )");
        check("#define A B\n#define B A\nA B", "A B");
        check("#define F(x) x\nF F(F)(1)", "F F ( 1 )");
        check("#define N 1\n#undef N\n#define N 2\nN", "2");
        check("#define E()\nE() a E", "a E");
        check("#define double double\ndouble x;", "double x ;");
    }

    #[test]
    fn one_of_several_definitions_counts() {
        let source = "#ifdef S\n#define R float\n#else\n#define R double\n#endif\nR";
        assert_eq!(words(source, Known::First), "float");
        assert_eq!(words(source, Known::Last), "double");
    }

    #[test]
    fn what_grows_without_end_is_left_as_it_is() {
        let double = |n: u32| format!("#define m{n}(x) m{}(x x)\n", n + 1);
        let doubles = (0..60).map(double).collect::<Vec<_>>().concat();
        let lexed_as = |text: &str| {
            let lexed = lex::lex(text);
            expanded(&lexed, Known::Last, &mut { STEPS }).map_or(0, |expanded| expanded.items.len())
        };
        assert!(lexed_as(&format!("{doubles}m0(1)")) < 2 * STEPS);
        let deep = format!(
            "#define f(x) x\n{}1{}",
            "f(".repeat(20_000),
            ")".repeat(20_000)
        );
        assert!(lexed_as(&deep) > 40_000);
        assert!(lexed_as(&format!("#define f(x) x\n{}", "f(".repeat(20_000))) > 39_000);
    }
}
