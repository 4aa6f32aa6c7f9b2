//! Which techniques a source uses, told from its tokens.
//!
//! What counts:
//! - **SIMD**: x86 intrinsics and vector types, NEON and SVE ones, vector attributes,
//!   `#pragma omp simd`, and inline assembly with vector registers or mnemonics.
//!   `omp simd` and `omp declare simd` alone are SIMD and not OpenMP; `omp for simd` is both.
//! - **OpenMP**: any other `#pragma omp`, and the names of its runtime.
//! - **Prefetch**: the builtins, their hints, and `prefetch` in inline assembly.
//!
//! Including a header is no use of it. Comments, strings (but for those of inline
//! assembly), dead branches and macros that nothing uses never count. Where text alone
//! cannot tell, [`Scan::needs_preprocessing`] says so, and [`scan_preprocessed`] reads
//! what the compiler's preprocessor made of it.

mod facts;
mod headers;

pub use headers::{headers_alone, may_change_headers, own_text};

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::language::c::lex::{self, Item, Token, TokenKind};

/// A way of making code fast that a stage or an experiment may forbid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Technique {
    /// Explicit vector code.
    Simd,
    /// OpenMP, but for `omp simd`.
    Openmp,
    /// Explicit prefetching.
    Prefetch,
    /// A pragma or attribute that changes the optimisation level or the target.
    OptimizePragma,
    /// Inline assembly of any kind.
    InlineAsm,
    /// Threads made by hand.
    Threads,
}

impl Technique {
    /// The name as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Simd => "SIMD",
            Self::Openmp => "OpenMP",
            Self::Prefetch => "prefetch",
            Self::OptimizePragma => "optimisation pragmas",
            Self::InlineAsm => "inline assembly",
            Self::Threads => "threads",
        }
    }
}

/// Where a technique was seen first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The line, from 1.
    pub line: u32,
    /// The words that gave it away.
    pub text: String,
}

/// The techniques of one source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scan {
    /// What was found, each with its first place.
    pub techniques: BTreeMap<Technique, Evidence>,
    /// The text alone does not tell: preprocess it and scan that.
    pub needs_preprocessing: bool,
}

impl Scan {
    fn note(&mut self, technique: Technique, line: u32, text: impl Into<String>) {
        let evidence = Evidence {
            line,
            text: text.into(),
        };
        let first = self
            .techniques
            .entry(technique)
            .or_insert_with(|| evidence.clone());
        if evidence.line < first.line {
            *first = evidence;
        }
    }

    /// Whether `technique` was found.
    pub fn uses(&self, technique: Technique) -> bool {
        self.techniques.contains_key(&technique)
    }
}

/// Headers that bring names but no tricks.
const PLAIN_HEADERS: [&str; 47] = [
    "alloca.h",
    "arm_neon.h",
    "arm_sve.h",
    "assert.h",
    "avx2intrin.h",
    "avx512fintrin.h",
    "avxintrin.h",
    "complex.h",
    "ctype.h",
    "emmintrin.h",
    "errno.h",
    "fenv.h",
    "float.h",
    "fmaintrin.h",
    "immintrin.h",
    "inttypes.h",
    "limits.h",
    "locale.h",
    "malloc.h",
    "math.h",
    "memory.h",
    "mm_malloc.h",
    "nmmintrin.h",
    "omp.h",
    "pmmintrin.h",
    "pthread.h",
    "sched.h",
    "setjmp.h",
    "signal.h",
    "smmintrin.h",
    "stdalign.h",
    "stdarg.h",
    "stdatomic.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
    "strings.h",
    "sys/time.h",
    "sys/types.h",
    "threads.h",
    "time.h",
    "tmmintrin.h",
    "unistd.h",
    "x86intrin.h",
];

/// Where a fact depends on what stands around a name, a macro could supply it.
fn opens_context(token: &Token<'_>) -> bool {
    token.kind == TokenKind::Ident
        && (facts::is_attribute(&token.text)
            || facts::is_asm(&token.text)
            || token.text == "_Pragma")
}

#[derive(Default)]
struct Macro<'l, 'a> {
    bodies: Vec<&'l [Token<'a>]>,
}

/// The techniques of a source as written.
pub fn scan(source: &str) -> Scan {
    let lexed = lex::lex(source);
    let live = lex::live(&lexed);
    let is_disguised = lexed.raw_string.is_some() || lex::universal_name(&lexed).is_some();
    let unsure = !live.certain || is_disguised || may_change_headers(&lexed);
    let mut scan = Scan {
        needs_preprocessing: unsure,
        ..Scan::default()
    };
    let mut macros: BTreeMap<&str, Macro<'_, '_>> = BTreeMap::new();
    let mut tokens: Vec<Token<'_>> = Vec::new();
    for item in &live.items {
        match item {
            Item::Token(token) => tokens.push(token.clone()),
            Item::Directive(directive) => match directive.name.as_ref() {
                "define" => {
                    if let [name, body @ ..] = directive.body.as_slice() {
                        let known = macros.entry(name.text.as_ref()).or_default();
                        known.bodies.push(body);
                        // The operator itself can be redefined, and every pragma by it is then something else.
                        scan.needs_preprocessing |=
                            known.bodies.len() > 1 || name.is_ident("_Pragma");
                    }
                }
                "include" => {
                    let plain = directive
                        .header
                        .as_deref()
                        .is_some_and(|header| PLAIN_HEADERS.contains(&header));
                    scan.needs_preprocessing |= !plain;
                }
                "undef" | "include_next" | "import" | "embed" | "line" => {
                    scan.needs_preprocessing = true;
                }
                "" => scan.needs_preprocessing |= !directive.body.is_empty(),
                _ => {}
            },
        }
    }
    let pragmas = live.items.iter().filter_map(|item| match item {
        Item::Directive(directive) if directive.name == "pragma" => Some(directive),
        Item::Directive(_) | Item::Token(_) => None,
    });
    let mut words: Vec<&Token<'_>> = tokens.iter().collect();
    for pragma in pragmas {
        facts::of_pragma(pragma, &mut scan);
        words.extend(&pragma.body);
        scan.needs_preprocessing |= pragma
            .body
            .iter()
            .any(|token| macros.contains_key(token.text.as_ref()));
    }
    let is_macro = |name: &str| macros.contains_key(name);
    facts::of_tokens(&tokens, is_macro, &mut scan);
    // What is left of these after `lex` has an operand that only the preprocessor knows.
    scan.needs_preprocessing |= tokens.iter().any(|token| token.is_ident("_Pragma"));
    let is_foreign = |token: &Token<'_>| {
        token.kind == TokenKind::Ident
            && !is_macro(&token.text)
            && facts::may_be_a_headers_macro(&token.text)
    };
    // `[[gnu::optimize]]` may be put together of macros.
    let may_join = |token: &Token<'_>| !macros.is_empty() && token.is_punct("::");
    scan.needs_preprocessing |= tokens
        .iter()
        .any(|token| is_foreign(token) || may_join(token));
    for body in used_bodies(&words, &macros) {
        scan.needs_preprocessing |= body
            .iter()
            .any(|token| is_foreign(token) || may_join(token));
        scan.needs_preprocessing |= body
            .iter()
            .any(|token| token.is_punct("#") || token.is_punct("##") || opens_context(token));
        facts::of_tokens(body, is_macro, &mut scan);
        for pragma in lex::pragmas(body) {
            facts::of_pragma(&pragma, &mut scan);
        }
    }
    scan
}

/// The bodies of the macros that `words` use, directly or through other macros.
fn used_bodies<'l, 'a>(
    words: &[&Token<'a>],
    macros: &BTreeMap<&str, Macro<'l, 'a>>,
) -> Vec<&'l [Token<'a>]> {
    let mut used: BTreeSet<&str> = BTreeSet::new();
    let mut bodies = Vec::new();
    let mut waiting: Vec<&str> = Vec::new();
    let mut meet = |token: &Token<'_>, waiting: &mut Vec<_>| {
        if let Some((name, _)) = macros.get_key_value(token.text.as_ref())
            && token.kind == TokenKind::Ident
            && used.insert(name)
        {
            waiting.push(*name);
        }
    };
    for token in words {
        meet(token, &mut waiting);
    }
    while let Some(name) = waiting.pop() {
        for body in &macros[name].bodies {
            bodies.push(*body);
            for token in *body {
                meet(token, &mut waiting);
            }
        }
    }
    bodies
}

/// The techniques of the compiler's `-E` output, as far as it comes from `file_name`
/// (or `<stdin>`): the headers around it name every intrinsic there is.
///
/// Line markers (`# 12 "file" 2`) tell which lines those are; without any, all are.
pub fn scan_preprocessed(text: &str, file_name: &str) -> Scan {
    let mut scan = Scan::default();
    let mut tokens = Vec::new();
    let mut read = |part: std::ops::Range<usize>, first_line: i64, ours: bool| {
        // Most of the text is headers: it is passed over unread.
        let items = if ours {
            lex::lex(&text[part]).items
        } else {
            Vec::new()
        };
        for item in items {
            match item {
                Item::Directive(mut pragma) if pragma.name == "pragma" => {
                    pragma.line = moved(pragma.line, first_line - 1);
                    pragma
                        .body
                        .iter_mut()
                        .for_each(|token| token.line = moved(token.line, first_line - 1));
                    facts::of_pragma(&pragma, &mut scan);
                }
                Item::Token(mut token) => {
                    token.line = moved(token.line, first_line - 1);
                    tokens.push(token);
                }
                Item::Directive(_) => {}
            }
        }
    };
    let (mut start, mut at) = (0, 0);
    let (mut first_line, mut ours) = (1, true);
    for line in text.split_inclusive('\n') {
        at += line.len();
        if let Some((number, file)) = marker(line) {
            read(start..at - line.len(), first_line, ours);
            (start, first_line) = (at, number);
            ours = file == file_name || file == "<stdin>";
        }
    }
    read(start..at, first_line, ours);
    facts::of_tokens(&tokens, |_| false, &mut scan);
    scan.needs_preprocessing = false;
    scan
}

/// The line that follows a line marker, and its file.
fn marker(line: &str) -> Option<(i64, String)> {
    let rest = line
        .strip_prefix("# ")
        .or_else(|| line.strip_prefix("#line "))?;
    if !rest.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let Some(Item::Directive(directive)) = lex::lex(line).items.pop() else {
        return None;
    };
    let [number, file, ..] = directive.body.as_slice() else {
        return None;
    };
    let number = number.text.parse::<i64>().ok()?.min(i64::from(u32::MAX));
    (file.kind == TokenKind::Str).then(|| (number, file.text.to_string()))
}

fn moved(line: u32, shift: i64) -> u32 {
    (i64::from(line) + shift).clamp(1, i64::from(u32::MAX)) as u32
}

/// What the paper's plain patterns find: raw text, comments and all.
pub fn paper_scan(source: &str) -> Scan {
    let mut scan = Scan::default();
    let line_of = |at: usize| source[..at].bytes().filter(|&byte| byte == b'\n').count() as u32 + 1;
    let patterns: [(Technique, &[&str]); 3] = [
        (
            Technique::Simd,
            &["_mm512", "__m512", "_mm256", "__m256", "_mm_", "__m128"],
        ),
        (Technique::Openmp, &["omp_get_", "omp_set_"]),
        (Technique::Prefetch, &["prefetch", "_MM_HINT_"]),
    ];
    for (technique, pattern) in patterns
        .iter()
        .flat_map(|(technique, all)| all.iter().map(move |one| (*technique, *one)))
    {
        // A prefetch intrinsic is no vector code.
        let found = source.match_indices(pattern).find(|(at, _)| {
            technique != Technique::Simd || !source[*at..].starts_with("_mm_prefetch")
        });
        if let Some((at, _)) = found {
            scan.note(technique, line_of(at), pattern);
        }
    }
    let is_omp = |at: usize| {
        let rest = source[at + "#".len()..].trim_start();
        rest.strip_prefix("pragma").is_some_and(|rest| {
            rest.starts_with(char::is_whitespace) && rest.trim_start().starts_with("omp")
        })
    };
    if let Some((at, _)) = source.match_indices('#').find(|(at, _)| is_omp(*at)) {
        scan.note(Technique::Openmp, line_of(at), "#pragma omp");
    }
    scan
}

#[cfg(test)]
mod tests;
