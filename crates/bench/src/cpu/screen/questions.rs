//! Questions to the preprocessor that tell which files exist.
//!
//! Where nothing closes files to the compiler, `__has_include` answers for any path, and where
//! something does, a file that exists ends the compiler. So a source may ask for headers by plain
//! names only, written down where they are asked for. Macros can paste the operator together, so
//! directives may not hold the pieces of its name either.

use std::collections::HashMap;

use hotloop_flow::language::c::lex::{Directive, Item, Lexed, Token, TokenKind};

use crate::cpu::screen::headers::is_path;

const OPERATORS: [&str; 5] = [
    "__has_include",
    "__has_include_next",
    "__has_include__",
    "__has_include_next__",
    "__has_embed",
];

/// Beginnings of the names that compilers define as numbers.
const NUMBERS: [&str; 12] = [
    "__GNUC",
    "__clang_m",
    "__AVX",
    "__SSE",
    "__FMA__",
    "__BMI",
    "__x86_64__",
    "__linux__",
    "__STDC_VERSION__",
    "__SIZEOF_",
    "_OPENMP",
    "__OPTIMIZE__",
];

/// Whether all conditions of a source speak of plain numbers only. Nothing else asks, so then its
/// macros may join `_` to a name: `a##_##b`. A macro of a header is more than a number here:
/// it may lead back to one of the source.
pub(super) fn has_plain_conditions(lexed: &Lexed<'_>) -> bool {
    let directives = || {
        lexed.items.iter().filter_map(|item| match item {
            Item::Directive(directive) => Some(directive),
            Item::Token(_) => None,
        })
    };
    // Whether each macro of the source is a number wherever it is defined.
    let mut own: HashMap<&str, bool> = HashMap::new();
    for define in directives().filter(|directive| directive.name == "define") {
        if let [name, body @ ..] = define.body.as_slice() {
            let is_plain = |token: &Token<'_>| {
                token.kind == TokenKind::Number
                    || token.kind == TokenKind::Punct && !token.is_punct("##")
            };
            let takes_none = parameters(define).is_empty();
            *own.entry(&name.text).or_insert(true) &= takes_none && body.iter().all(is_plain);
        }
    }
    let is_number = |name: &str| match own.get(name) {
        Some(is_number) => *is_number,
        None => name == "defined" || NUMBERS.iter().any(|start| name.starts_with(start)),
    };
    directives()
        .filter(|directive| matches!(directive.name.as_ref(), "if" | "elif"))
        .all(|directive| {
            (0..directive.body.len()).all(|at| {
                let word = &directive.body[at];
                word.kind != TokenKind::Ident
                    || is_number(&word.text)
                    || names_it_only(directive, at)
            })
        })
}

/// Whether the name at `at` is only `_` or `__`, beside `##` in a macro's body.
fn joins_parts(directive: &Directive<'_>, at: usize) -> bool {
    let is_joint = |at: Option<usize>| {
        let token = at.and_then(|at| directive.body.get(at));
        token.is_some_and(|token| token.is_punct("##"))
    };
    directive.name == "define"
        && matches!(directive.body[at].text.as_ref(), "_" | "__")
        && (is_joint(at.checked_sub(1)) || is_joint(Some(at + 1)))
}

/// The rule that a directive breaks. `may_join` says that all conditions are plain.
pub(super) fn refuse(directive: &Directive<'_>, source: &str, may_join: bool) -> Option<String> {
    if matches!(directive.name.as_ref(), "pragma" | "error" | "warning") {
        return None;
    }
    let body = &directive.body;
    let parameters = parameters(directive);
    let is_bad = |at: &usize| {
        let name = body[*at].text.as_ref();
        // `_` is a favourite name of parameters, which are never what their name says.
        body[*at].kind == TokenKind::Ident
            && !parameters.contains(&name)
            && !(may_join && joins_parts(directive, *at))
            && (is_piece(name)
                || (OPERATORS.contains(&name)
                    && !names_it_only(directive, *at)
                    && !asks_plainly(&body[at + 1..], source)))
    };
    let at = (0..body.len()).find(is_bad)?;
    Some(format!(
        "`{}` in `#{}`: a source may ask for headers only as `__has_include(<name.h>)`",
        body[at].text, directive.name
    ))
}

/// The parameters of a macro that a directive defines: the names between parentheses that touch the
/// macro's own.
fn parameters<'d>(directive: &'d Directive<'_>) -> Vec<&'d str> {
    let [name, open, rest @ ..] = directive.body.as_slice() else {
        return Vec::new();
    };
    if directive.name != "define" || !open.is_punct("(") || name.end != open.offset {
        return Vec::new();
    }
    let listed = rest.iter().take_while(|token| !token.is_punct(")"));
    listed.map(|token| token.text.as_ref()).collect()
}

/// Whether a name begins an operator's, or is all of it that a header's macro could not add.
fn is_piece(name: &str) -> bool {
    let is_one = |operator: &str| {
        let missing = operator.len().saturating_sub(name.len());
        operator.starts_with(name) && missing > 0
            || operator.ends_with(name) && (1..=2).contains(&missing)
    };
    !OPERATORS.contains(&name) && OPERATORS.iter().any(|operator| is_one(operator))
}

/// Whether the operator at `at` is looked for or defined, and asks nothing.
fn names_it_only(directive: &Directive<'_>, at: usize) -> bool {
    let before = |count: usize| at.checked_sub(count).map(|index| &directive.body[index]);
    let is_defined =
        |token: Option<&Token<'_>>| token.is_some_and(|token| token.is_ident("defined"));
    match directive.name.as_ref() {
        "ifdef" | "ifndef" | "elifdef" | "elifndef" => true,
        "define" | "undef" if at == 0 => true,
        _ => {
            is_defined(before(1))
                || (before(1).is_some_and(|token| token.is_punct("(")) && is_defined(before(2)))
        }
    }
}

/// Whether `(<name.h>)` or `("name.h")` follows.
fn asks_plainly(behind: &[Token<'_>], source: &str) -> bool {
    let [open, first, rest @ ..] = behind else {
        return false;
    };
    let (header, rest) = if first.kind == TokenKind::Str {
        (Some(first.text.as_ref()), rest)
    } else if first.is_punct("<") {
        let end = rest.iter().position(|token| token.is_punct(">"));
        let header = end.and_then(|end| source.get(first.end..rest[end].offset));
        (header, end.map_or(&[][..], |end| &rest[end + 1..]))
    } else {
        (None, rest)
    };
    let is_plain = |header: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-+./".contains(c);
        header.chars().all(plain) && !is_path(header)
    };
    open.is_punct("(")
        && header.is_some_and(is_plain)
        && rest.first().is_some_and(|token| token.is_punct(")"))
}

#[cfg(test)]
mod tests {
    use crate::cpu::screen;

    #[test]
    fn a_source_may_ask_for_headers_by_name() {
        for line in [
            "#if __has_include(<omp.h>) && __has_include ( \"immintrin.h\" )",
            "#if defined(__has_include) && __has_include(<sys/mman.h>)",
            "#ifdef __has_include",
            "#if defined __has_include",
            "#define __has_include(header) 0",
            "#define HAS_THREADS __has_include(<threads.h>)",
            "#if __has_builtin(__builtin_fma)",
            "#define JOIN(a, b) a##b",
            "#error __has_",
            "#define FOUR(_) _(0) _(1) _(2) _(3)",
            "#define JOIN(a, b) a##_##b",
            "#define JOIN(a, b) a##__##b\n#define N 3\n#if defined(JOIN) && N > 2 && __GNUC__ > 4\n#endif",
        ] {
            assert_eq!(screen::source(&format!("{line}\n")), None, "{line}");
        }
    }

    #[test]
    fn no_other_question_is_understood() {
        for line in [
            "#if __has_include(\"/etc/passwd\")",
            "#if __has_include(</etc/passwd>)",
            "#if __has_include(<../x.h>)",
            "#if __has_include(<a//etc/passwd>)",
            "#if __has_include(PLACE)",
            "#if __has_include(<a.h> PLACE)",
            "#if __has_include_next(PLACE)",
            "#define ASK __has_include",
            "#define ASK(x) __has_include(x)",
            "#define ASK(x) __has_##x",
            "#define ASK (_) _##_has_include",
            "#define U _",
            "#define J(a, b) a##_##b\n#if J(, X)(PLACE)",
            "#define J(a, b) a##_##b\n#define K L\n#define L J(, X)\n#if 0\n#elif K (PLACE)",
            "#define J(a, b) a##b\n#define L(x) x##_\n#if J(L(), X)(PLACE)",
            // Through macros of headers.
            "#define J(a, b) a##_##b\n#define vL J(, X)\n#if INT64_C(v)(PLACE)",
            "#define J(a, b) a##_##b\n#define __INT64_C(x) J(, X)\n#if INT64_MAX",
            "#define J(a, b) a##_##b\n#define __GNUC__ J(, X)\n#if __GNUC__(PLACE)",
            "#define ASK(_) _##has_include __",
            "#if JOIN(__has_, include)(PLACE)",
            "#if JOIN(_, JOIN(_has_inc, lude))(PLACE)",
            "#if HEADER_MACRO(has_include)(PLACE)",
            "#if __has_embed(__FILE__)",
        ] {
            assert!(
                screen::source(&format!("{line}\n#endif\n")).is_some(),
                "{line}"
            );
        }
    }
}
