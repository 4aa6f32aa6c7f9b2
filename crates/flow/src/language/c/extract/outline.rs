//! The file scope of a source: its functions, prototypes, typedefs and macros.
//!
//! This is not a parser. It finds declarations at file scope, and accepts text that is not code at
//! all. In C++ the inside of a namespace counts as file scope.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::language::c::lex::{self, Dialect, Item, Lexed, Token, TokenKind};

/// A function or its prototype. Ranges count tokens.
#[derive(Debug, Clone)]
pub(super) struct Function {
    /// The tokens before the name.
    pub(super) head: Range<usize>,
    /// The name.
    pub(super) name: usize,
    /// The tokens between the parentheses.
    pub(super) parameters: Range<usize>,
    /// The byte after its last one, if its braces are balanced.
    pub(super) end: Option<usize>,
    /// Whether it stands in `extern "C" { }`.
    pub(super) linked: bool,
}

/// The file scope of a source, without dead branches.
#[derive(Debug, Default)]
pub(super) struct Outline<'a> {
    pub(super) tokens: Vec<Token<'a>>,
    pub(super) functions: Vec<Function>,
    pub(super) prototypes: Vec<Function>,
    /// The type of each typedef.
    pub(super) typedefs: BTreeMap<String, Range<usize>>,
    /// Macros without parameters.
    pub(super) macros: BTreeMap<String, Vec<Token<'a>>>,
    /// The byte after the last namespace or `extern "C" { }`.
    pub(super) scope_end: Option<usize>,
    /// Which definition counts where undecided branches have several.
    known: Known,
}

/// Which of several definitions of a name counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Known {
    #[default]
    Last,
    First,
}

/// The namespaces and `extern "C" { }` around a place.
#[derive(Clone, Copy, Default)]
struct Scopes {
    open: u32,
    /// The number of open ones when the outermost `extern "C"` opened.
    linkage: Option<u32>,
}

impl Scopes {
    fn enter(&mut self, is_linkage: bool) {
        if is_linkage {
            self.linkage = self.linkage.or(Some(self.open));
        }
        self.open += 1;
    }

    /// False if none was open.
    fn leave(&mut self) -> bool {
        let was_open = self.open > 0;
        self.open = self.open.saturating_sub(1);
        self.linkage = self.linkage.filter(|at| *at < self.open);
        was_open
    }
}

#[derive(Clone, Copy, Default)]
struct Place {
    scopes: Scopes,
    braces: usize,
    parentheses: usize,
    /// The start of the current declaration.
    start: usize,
    /// The function whose body this is.
    body: Option<usize>,
}

pub(super) fn is_attribute(token: &Token<'_>) -> bool {
    token.kind == TokenKind::Ident
        && matches!(
            token.text.as_ref(),
            "__attribute__"
                | "__attribute"
                | "__declspec"
                | "asm"
                | "__asm"
                | "__asm__"
                | "_Alignas"
                | "alignas"
                | "noexcept"
                | "__align__"
                | "__launch_bounds__"
                | "__maxnreg__"
                | "__cluster_dims__"
                | "__block_size__"
        )
}

impl<'a> Outline<'a> {
    pub(super) fn of(lexed: &Lexed<'a>, dialect: Dialect) -> Self {
        Self::with(lexed, dialect, Known::Last)
    }

    pub(super) fn with(lexed: &Lexed<'a>, dialect: Dialect, known: Known) -> Self {
        let mut outline = Self {
            known,
            ..Self::default()
        };
        let mut place = Place::default();
        let mut places = Vec::new();
        for item in lex::live_in(lexed, dialect) {
            match item {
                Item::Token(token) => outline.meet(token, &mut place),
                Item::Directive(directive) => match directive.name.as_ref() {
                    // Each branch of an undecided conditional starts with the same open braces.
                    "if" | "ifdef" | "ifndef" => places.push(place),
                    "else" | "elif" | "elifdef" | "elifndef" => {
                        if let Some(before) = places.last() {
                            place = Place {
                                start: outline.tokens.len(),
                                ..*before
                            };
                        }
                    }
                    "endif" => drop(places.pop()),
                    "define" => outline.meet_macro(&directive.body),
                    _ => {}
                },
            }
        }
        outline
    }

    fn meet_macro(&mut self, body: &[Token<'a>]) {
        if let [name, body @ ..] = body
            && !body
                .first()
                .is_some_and(|next| next.is_punct("(") && next.offset == name.end)
        {
            let counts = self.known == Known::Last || !self.macros.contains_key(name.text.as_ref());
            if counts {
                self.macros.insert(name.text.to_string(), body.to_vec());
            }
        }
    }

    fn meet(&mut self, token: &Token<'a>, place: &mut Place) {
        let at = self.tokens.len();
        self.tokens.push(token.clone());
        if token.kind != TokenKind::Punct {
            return;
        }
        match (token.text.as_ref(), place.braces) {
            ("{", 0) => {
                let open = &self.tokens[place.start..at];
                place.parentheses = 0;
                let is_linkage = matches!(open, [word, language] if word.is_ident("extern") && language.kind == TokenKind::Str);
                if is_linkage || is_namespace(open) {
                    // The next token is still at file scope.
                    place.scopes.enter(is_linkage);
                    place.start = at + 1;
                    return;
                }
                place.braces = 1;
                if let Some(function) = self.declarator(place.start..at, *place) {
                    place.body = Some(self.functions.len());
                    self.functions.push(function);
                }
            }
            ("{", _) => place.braces += 1,
            ("}", 0) => {
                if place.scopes.leave() {
                    self.scope_end = Some(token.end);
                }
                *place = Place {
                    scopes: place.scopes,
                    start: at + 1,
                    ..Place::default()
                }
            }
            ("}", 1) => {
                place.braces = 0;
                // This also applies after a structure, whose name alone does not matter here.
                place.start = at + 1;
                if let Some(body) = place.body.take() {
                    self.functions[body].end = Some(token.end);
                }
            }
            ("}", _) => place.braces -= 1,
            ("(" | "[", 0) => place.parentheses += 1,
            (")" | "]", 0) => place.parentheses = place.parentheses.saturating_sub(1),
            (";", 0) if place.parentheses == 0 => {
                let marks = self.tokens[place.start..at].iter();
                let marks = marks.take_while(|token| token.is_ident("__extension__"));
                let start = place.start + marks.count();
                if self.tokens[start].is_ident("typedef") {
                    self.meet_typedef(start + 1..at);
                } else if let [word, name, equals, ..] = &self.tokens[place.start..at]
                    && word.is_ident("using")
                    && equals.is_punct("=")
                {
                    let name = name.text.to_string();
                    self.typedefs.insert(name, place.start + 3..at);
                } else if let Some(prototype) = self.declarator(place.start..at, *place) {
                    self.prototypes.push(prototype);
                }
                place.start = at + 1;
            }
            _ => {}
        }
    }

    /// Reads `range` as the tokens before a function's body. The last parentheses that belong to no
    /// attribute are the parameters, and the word before them is the name. It may stand in
    /// parentheses of its own.
    fn declarator(&self, range: Range<usize>, place: Place) -> Option<Function> {
        let mut depth = 0usize;
        let mut found = None;
        let mut open = None;
        let is_word = |at: usize| {
            let word = &self.tokens[at];
            range.contains(&at) && word.kind == TokenKind::Ident && !is_attribute(word)
        };
        for at in range.clone() {
            let token = &self.tokens[at];
            match token.text.as_ref() {
                "(" if token.kind == TokenKind::Punct => {
                    if depth == 0 {
                        let bare = at.checked_sub(1).filter(|word| is_word(*word));
                        open = match (bare, self.enclosed(range.start, at)) {
                            (Some(name), _) => Some((name, name, at)),
                            (None, Some(name)) => Some((name - 1, name, at)),
                            (None, None) => None,
                        };
                    }
                    depth += 1;
                }
                ")" if token.kind == TokenKind::Punct => {
                    depth = depth.saturating_sub(1);
                    if depth == 0
                        && let Some((start, name, open)) = open.take()
                    {
                        found = Some(Function {
                            head: range.start..start,
                            name,
                            parameters: open + 1..at,
                            end: None,
                            linked: place.scopes.linkage.is_some(),
                        });
                    }
                }
                "=" if token.kind == TokenKind::Punct && depth == 0 => return None,
                _ => {}
            }
        }
        found
    }

    /// The word that stands in parentheses of its own before `at`: `void (f)(int)`.
    fn enclosed(&self, start: usize, at: usize) -> Option<usize> {
        let [before @ .., open, word, close] = &self.tokens[start..at] else {
            return None;
        };
        let is_enclosed = open.is_punct("(")
            && word.kind == TokenKind::Ident
            && close.is_punct(")")
            && !before.last().is_some_and(is_attribute);
        is_enclosed.then_some(at - 2)
    }

    fn meet_typedef(&mut self, range: Range<usize>) {
        let mut depth = 0usize;
        let mut name = None;
        for at in range.clone() {
            let token = &self.tokens[at];
            depth += usize::from(token.is_punct("(") || token.is_punct("{") || token.is_punct("["));
            if depth == 0 && token.kind == TokenKind::Ident && !is_attribute(token) {
                name = Some(at);
            }
            depth = depth.saturating_sub(usize::from(
                token.is_punct(")") || token.is_punct("}") || token.is_punct("]"),
            ));
        }
        let Some(name) = name else { return };
        // Only attributes may follow. An array or a vector is not the type that its name suggests.
        let behind = &self.tokens[name + 1..range.end];
        let plain = behind.first().is_none_or(is_attribute);
        let vector = self.tokens[range.clone()].iter().any(|token| {
            matches!(
                token.text.trim_matches('_'),
                "vector_size" | "ext_vector_type" | "mode"
            )
        });
        let text = self.tokens[name].text.as_ref();
        let counts = self.known == Known::Last || !self.typedefs.contains_key(text);
        if plain && !vector && counts {
            self.typedefs.insert(text.to_owned(), range.start..name);
        }
    }

    pub(super) fn name(&self, function: &Function) -> &str {
        &self.tokens[function.name].text
    }

    /// The names of all functions with a body.
    pub(super) fn defined(&self) -> BTreeSet<&str> {
        self.functions
            .iter()
            .map(|function| self.name(function))
            .collect()
    }

    /// The names of called functions. A kernel is called by `k<<<...>>>(...)`, and a template by
    /// `f<...>(...)`.
    pub(super) fn called(&self) -> BTreeSet<&str> {
        let opens = |token: &Token<'_>| ["(", "<", "<<"].iter().any(|open| token.is_punct(open));
        let calls = self
            .tokens
            .windows(2)
            .filter(|pair| pair[0].kind == TokenKind::Ident && opens(&pair[1]));
        calls.map(|pair| pair[0].text.as_ref()).collect()
    }
}

/// Whether `namespace x::y` or the like stands before a brace. C has no such word.
fn is_namespace(open: &[Token<'_>]) -> bool {
    let mut words = open.iter().skip_while(|word| word.is_ident("inline"));
    words.next().is_some_and(|word| word.is_ident("namespace"))
        && words.all(|word| word.kind == TokenKind::Ident || word.is_punct("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, defined: &[&str], prototypes: &[&str]) {
        check_in(Dialect::C, source, defined, prototypes);
    }

    fn check_in(dialect: Dialect, source: &str, defined: &[&str], prototypes: &[&str]) {
        let lexed = lex::lex_in(source, dialect);
        let outline = Outline::of(&lexed, dialect);
        let names = |functions: &[Function]| {
            functions
                .iter()
                .map(|function| outline.name(function).to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&outline.functions), defined, "{source}");
        assert_eq!(names(&outline.prototypes), prototypes, "{source}");
    }

    #[test]
    fn functions_are_found_at_file_scope() {
        check(
            "int a[2] = {1, 2}; struct s { int x; }; void f(int a) { if (a) { g(a); } } int h(void);",
            &["f"],
            &["h"],
        );
        check(
            "__attribute__((noinline)) void f(int a) __attribute__((hot)) { }",
            &["f"],
            &[],
        );
        check(
            "ALIGNED(64) void f(int a) {}\nextern \"C\" { void g(void) {} }",
            &["f", "g"],
            &[],
        );
        check("void f(void) { void nested(int b) { } }", &["f"], &[]);
    }

    #[test]
    fn kernels_templates_and_namespaces_are_outlined() {
        check_in(
            Dialect::Cuda,
            "template <int N> __global__ void __launch_bounds__(256) k(float *x) { auto f = [=](int i) { return i; }; }\n\
             namespace a::b { __device__ int d() { return 1; } namespace { int e(); } }\n\
             struct alignas(16) V { float x; float get() const { return x; } };\n\
             extern \"C\" { void f() { k<1><<<1, 1>>>(0); } }\nvoid g() {}",
            &["k", "d", "f", "g"],
            &["e"],
        );
        let linked = |source| {
            let lexed = lex::lex_in(source, Dialect::Cuda);
            let outline = Outline::of(&lexed, Dialect::Cuda);
            outline.functions.last().map(|last| last.linked)
        };
        assert_eq!(
            linked("extern \"C\" { namespace n { } void f() {} }"),
            Some(true)
        );
        assert_eq!(linked("extern \"C\" { } void f() {}"), Some(false));
        assert_eq!(
            linked("} extern \"C\" { int x; } } void f() {}"),
            Some(false)
        );
    }

    #[test]
    fn branches_begin_with_the_same_braces_open() {
        check(
            "#ifdef X\nvoid f(int a) {\n#else\nvoid f(int b) {\n#endif\n}\nvoid g(void) {}",
            &["f", "f", "g"],
            &[],
        );
        check(
            "void f(void) {\n#if A\nfor (;;) {\n#else\nwhile (1) {\n#endif\n}\n}\nvoid g(void) {}",
            &["f", "g"],
            &[],
        );
    }

    #[test]
    fn dead_branches_define_nothing() {
        check(
            "#if 0\nvoid f(void) {}\n#endif\nvoid g(void) {}",
            &["g"],
            &[],
        );
    }

    #[test]
    fn text_that_is_no_c_does_no_harm() {
        check("}}})((( ; { ) } [ don't; = {", &[], &[]);
        check("old style: void f(a) double *a; { }", &[], &["f"]);
    }
}
