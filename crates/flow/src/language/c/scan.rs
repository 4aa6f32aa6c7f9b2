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

use std::collections::{BTreeMap, BTreeSet};

use super::headers::may_change_headers;
use super::lex::{self, Directive, Item, Lexed, Token, TokenKind};
use super::line_marker::marker;
use crate::technique::Scan;

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

/// The macros of a source, each with all its bodies.
type Macros<'l, 'a> = BTreeMap<&'l str, Vec<&'l [Token<'a>]>>;

/// The techniques of a source as written.
pub fn scan(source: &str) -> Scan {
    let lexed = lex::lex(source);
    let live = lex::live(&lexed);
    let macros = macros(&live.items);
    let tokens: Vec<Token<'_>> = live.items.iter().filter_map(|item| token(item)).collect();
    let pragmas: Vec<&Directive<'_>> = live.items.iter().filter_map(|item| pragma(item)).collect();

    let is_macro = |name: &str| macros.contains_key(name);
    let mut scan = Scan::default();
    for pragma in &pragmas {
        facts::of_pragma(pragma, &mut scan);
    }
    facts::of_tokens(&tokens, is_macro, &mut scan);
    let used = used_bodies(&tokens, &pragmas, &macros);
    for body in &used {
        facts::of_tokens(body, is_macro, &mut scan);
        for pragma in lex::pragmas(body) {
            facts::of_pragma(&pragma, &mut scan);
        }
    }

    scan.needs_preprocessing |= !live.certain
        || is_disguised(&lexed)
        || may_change_headers(&lexed)
        || live.items.iter().any(|item| is_unclear(item))
        || macros.iter().any(|(name, bodies)| is_redefined(name, bodies))
        || pragmas.iter().any(|pragma| names_a_macro(pragma, &macros))
        || tokens.iter().any(|token| may_be_more(token, &macros))
        // The operand of a `_Pragma` that `lex` left alone is known to the preprocessor only.
        || tokens.iter().any(|token| token.is_ident("_Pragma"))
        || used.iter().any(|body| may_join_up(body, &macros));
    scan
}

fn token<'a>(item: &Item<'a>) -> Option<Token<'a>> {
    match item {
        Item::Token(token) => Some(token.clone()),
        Item::Directive(_) => None,
    }
}

fn pragma<'l, 'a>(item: &'l Item<'a>) -> Option<&'l Directive<'a>> {
    match item {
        Item::Directive(directive) if directive.name == "pragma" => Some(directive),
        Item::Directive(_) | Item::Token(_) => None,
    }
}

fn macros<'l, 'a>(items: &[&'l Item<'a>]) -> Macros<'l, 'a> {
    let mut macros = Macros::new();
    for item in items {
        if let Item::Directive(directive) = item
            && directive.name == "define"
            && let [name, body @ ..] = directive.body.as_slice()
        {
            macros.entry(name.text.as_ref()).or_default().push(body);
        }
    }
    macros
}

/// Literals and words that a compiler reads differently from a scan.
fn is_disguised(lexed: &Lexed<'_>) -> bool {
    lexed.raw_string.is_some() || lex::universal_name(lexed).is_some()
}

/// Whether a directive brings text, or takes a macro away, so that only the preprocessor knows the
/// outcome.
fn is_unclear(item: &Item<'_>) -> bool {
    let Item::Directive(directive) = item else {
        return false;
    };
    match directive.name.as_ref() {
        "include" => !directive
            .header
            .as_deref()
            .is_some_and(|header| PLAIN_HEADERS.contains(&header)),
        "undef" | "include_next" | "import" | "embed" | "line" => true,
        "" => !directive.body.is_empty(),
        _ => false,
    }
}

/// The operator `_Pragma` can be redefined too, and every pragma by it is then something else.
fn is_redefined(name: &str, bodies: &[&[Token<'_>]]) -> bool {
    bodies.len() > 1 || name == "_Pragma"
}

fn names_a_macro(pragma: &Directive<'_>, macros: &Macros<'_, '_>) -> bool {
    pragma
        .body
        .iter()
        .any(|token| macros.contains_key(token.text.as_ref()))
}

/// Whether a token may be a header's macro, or join macros: `[[gnu::optimize]]` may be put together
/// of them.
fn may_be_more(token: &Token<'_>, macros: &Macros<'_, '_>) -> bool {
    let is_foreign = token.kind == TokenKind::Ident
        && !macros.contains_key(token.text.as_ref())
        && facts::may_be_a_headers_macro(&token.text);
    is_foreign || (!macros.is_empty() && token.is_punct("::"))
}

/// Whether a macro's body may become something else where it is used.
fn may_join_up(body: &[Token<'_>], macros: &Macros<'_, '_>) -> bool {
    body.iter().any(|token| {
        may_be_more(token, macros)
            || token.is_punct("#")
            || token.is_punct("##")
            || opens_context(token)
    })
}

/// The bodies of the macros that a source uses, directly or through other macros.
fn used_bodies<'l, 'a>(
    tokens: &[Token<'a>],
    pragmas: &[&Directive<'a>],
    macros: &Macros<'l, 'a>,
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
    for token in tokens
        .iter()
        .chain(pragmas.iter().flat_map(|pragma| &pragma.body))
    {
        meet(token, &mut waiting);
    }
    while let Some(name) = waiting.pop() {
        for body in &macros[name] {
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

fn moved(line: u32, shift: i64) -> u32 {
    (i64::from(line) + shift).clamp(1, i64::from(u32::MAX)) as u32
}

#[cfg(test)]
mod tests;
