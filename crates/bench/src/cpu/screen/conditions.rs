//! What a condition may ask of the preprocessor: which macros there are, and which headers.
//!
//! Whether a file exists differs between preprocessing and compiling, and a candidate that can tell the two
//! apart shows each of them other code.

use std::collections::{BTreeMap, BTreeSet};

use hotloop_flow::language::c::lex::{Item, Lexed, Token, TokenKind};

/// The rule that a condition breaks.
pub(super) fn refuse(lexed: &Lexed<'_>) -> Option<String> {
    let mut macros: BTreeMap<&str, Vec<&[Token<'_>]>> = BTreeMap::new();
    let mut asked: Vec<&[Token<'_>]> = Vec::new();
    let mut line = None;
    for item in &lexed.items {
        let Item::Directive(directive) = item else {
            continue;
        };
        match (directive.name.as_ref(), directive.body.as_slice()) {
            ("define", [name, body @ ..]) => {
                macros.entry(&name.text).or_default().push(body);
                if body.iter().any(asks_for_headers) {
                    return Some(format!(
                        "line {}: a macro may not ask for headers",
                        directive.line
                    ));
                }
            }
            ("if" | "elif", condition) => {
                asked.push(condition);
                line = line.or(Some(directive.line));
                if asks_otherwise(condition) {
                    return Some(format!(
                        "line {}: a condition may ask for <headers> only, by name",
                        directive.line
                    ));
                }
            }
            _ => {}
        }
    }
    let reached = reached(&asked, &macros);
    let unclear =
        |body: &&[Token<'_>]| asks_otherwise(body) || body.iter().any(|token| token.is_punct("##"));
    let line = line.unwrap_or(1);
    reached
        .iter()
        .any(unclear)
        .then(|| format!("line {line}: a condition's macros may not join words or name files"))
}

fn asks_for_headers(token: &Token<'_>) -> bool {
    token.kind == TokenKind::Ident
        && (token.text.starts_with("__has_include") || token.text.starts_with("__has_embed"))
}

/// Whether a condition could name a file in any other way than `__has_include(<plain/name.h>)`.
fn asks_otherwise(condition: &[Token<'_>]) -> bool {
    let mut at = 0;
    while let Some(token) = condition.get(at) {
        let behind = &condition[at + 1..];
        if asks_for_headers(token) && !is_defined(&condition[..at]) {
            let Some(length) = plain_header(behind) else {
                return true;
            };
            at += length;
        }
        // No expression has these; the name of a file does.
        let names_a_file = token.kind == TokenKind::Str
            || token.is_punct(".")
            || (token.is_punct("<") && behind.first().is_some_and(|next| next.is_punct("/")));
        if names_a_file {
            return true;
        }
        at += 1;
    }
    false
}

/// Whether the name behind is only looked for: `defined(__has_include)`.
fn is_defined(before: &[Token<'_>]) -> bool {
    match before {
        [.., word, open] if open.is_punct("(") => word.is_ident("defined"),
        [.., word] => word.is_ident("defined"),
        [] => false,
    }
}

/// The tokens that `(<plain/name.h>)` takes, if that is what stands there.
fn plain_header(tokens: &[Token<'_>]) -> Option<usize> {
    let [open, less, ..] = tokens else {
        return None;
    };
    let close = tokens.iter().position(|token| token.is_punct(">"))?;
    let ends = tokens
        .get(close + 1)
        .is_some_and(|token| token.is_punct(")"));
    let name: String = tokens
        .get(2..close)?
        .iter()
        .map(|token| token.text.as_ref())
        .collect();
    let is_plain = tokens[2..close]
        .iter()
        .all(|token| token.kind != TokenKind::Str && token.kind != TokenKind::Char)
        && !name.starts_with('/')
        && !name.split('/').any(|part| matches!(part, "." | ".." | ""));
    (open.is_punct("(") && less.is_punct("<") && ends && is_plain).then_some(close + 2)
}

/// The bodies of the macros that the conditions use, directly or through others.
fn reached<'l, 'a>(
    asked: &[&'l [Token<'a>]],
    macros: &BTreeMap<&str, Vec<&'l [Token<'a>]>>,
) -> Vec<&'l [Token<'a>]> {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut bodies: Vec<&'l [Token<'a>]> = Vec::new();
    let mut waiting: Vec<&'l [Token<'a>]> = asked.to_vec();
    while let Some(body) = waiting.pop() {
        for (at, token) in body
            .iter()
            .enumerate()
            .filter(|(_, token)| token.kind == TokenKind::Ident)
        {
            if let Some((name, found)) = macros.get_key_value(token.text.as_ref())
                && !is_defined(&body[..at])
                && seen.insert(name)
            {
                bodies.extend(found);
                waiting.extend(found);
            }
        }
    }
    bodies
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(source: &str) -> bool {
        refuse(&hotloop_flow::language::c::lex::lex(source)).is_some()
    }

    #[test]
    fn headers_may_be_asked_for_by_name() {
        for source in [
            "#if __has_include(<omp.h>)\n#endif",
            "#if defined(__has_include) && __has_include(<sys/mman.h>)\n#endif",
            "#ifdef __has_include\n#endif",
            "#if defined __AVX512F__ && N < 8 && (A / B) < C\n#endif",
            "#define AT_LEAST(a, b) (__GNUC__ > a || b)\n#if AT_LEAST(4, 5)\n#endif",
            "#define CAT(a, b) a##b\nint CAT(x, y);\n#if N\n#endif",
            "#define LOG(x) printf(\"%f\\n\", x)\n#if defined(LOG) && !defined LOG\n#endif",
        ] {
            assert!(!refused(source), "{source}");
        }
    }

    #[test]
    fn other_files_may_not() {
        for source in [
            "#if __has_include(\"candidate.o\")\n#endif",
            "#if __has_include(</proc/self/fd/5>)\n#endif",
            "#if __has_include(<../../proc/self/fd/5>)\n#endif",
            "#define H <omp.h>\n#if __has_include(H)\n#endif",
            "#define HAS __has_include\n#if HAS(\"candidate.o\")\n#endif",
            "#define CAT(a, b) a##b\n#if CAT(__has_, include)(Q)\n#endif",
            "#define Q \"candidate.o\"\n#if __CONCAT(__has_, include)(Q)\n#endif",
            "#define Q </proc/self/fd/5>\n#if __CONCAT(__has_, include)(Q)\n#endif",
            "#if 0\n#elif __has_include_next(\"x\")\n#endif",
        ] {
            assert!(refused(source), "{source}");
        }
    }
}
