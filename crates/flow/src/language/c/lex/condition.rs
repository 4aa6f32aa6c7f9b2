//! Finds the parts of a source that its `#if`s keep, as far as the text decides that.

use super::token::{Dialect, Directive, Item, Lexed, Token, TokenKind};

#[derive(Clone, Copy, PartialEq)]
enum Branch {
    Live,
    Dead,
    Unknown,
}

struct Frame {
    /// The branch being read.
    branch: Branch,
    /// Whether the whole conditional is in a dead branch, or a live branch was already read.
    settled: bool,
    /// Whether it started undecided, so that its directives are kept.
    kept: bool,
    guard: bool,
}

/// [`live_in`] for C.
pub fn live<'l, 'a>(lexed: &'l Lexed<'a>) -> Vec<&'l Item<'a>> {
    live_in(lexed, Dialect::C)
}

/// The items that may reach the compiler: without what `#if 0`, `#if 1`, an include guard and
/// `#ifdef __cplusplus` leave dead. The directives of conditionals that text alone cannot decide
/// are kept, and all their branches.
pub fn live_in<'l, 'a>(lexed: &'l Lexed<'a>, dialect: Dialect) -> Vec<&'l Item<'a>> {
    let touched = lexed.items.iter().any(|item| touches(item, "__cplusplus"));
    let plus = (!touched).then_some(dialect == Dialect::Cuda);
    let mut live = Vec::with_capacity(lexed.items.len());
    let mut frames: Vec<Frame> = Vec::new();
    let mut dead = 0usize;
    for (index, item) in lexed.items.iter().enumerate() {
        let directive = match item {
            Item::Directive(directive) if is_conditional(&directive.name) => directive,
            Item::Directive(_) | Item::Token(_) => {
                if dead == 0 {
                    live.push(item);
                }
                continue;
            }
        };
        let mut keep = false;
        match directive.name.as_ref() {
            "else" | "elif" | "elifdef" | "elifndef" => {
                if let Some(frame) = frames.last_mut() {
                    let was_dead = frame.branch == Branch::Dead;
                    next_branch(frame, directive, plus);
                    dead = dead + usize::from(frame.branch == Branch::Dead) - usize::from(was_dead);
                    keep = frame.kept;
                }
            }
            "endif" => {
                if let Some(frame) = frames.pop() {
                    dead -= usize::from(frame.branch == Branch::Dead);
                    keep = frame.kept;
                }
            }
            _ => {
                let guard = index == 0 && is_guard(directive, lexed.items.get(1));
                let branch = if dead > 0 || guard {
                    Branch::Live
                } else {
                    decide(directive, plus)
                };
                keep = branch == Branch::Unknown;
                frames.push(Frame {
                    branch,
                    settled: dead > 0 || branch == Branch::Live,
                    kept: keep,
                    guard,
                });
                dead += usize::from(branch == Branch::Dead);
            }
        }
        if keep && dead == 0 {
            live.push(item);
        }
    }
    live
}

fn next_branch(frame: &mut Frame, directive: &Directive<'_>, plus: Option<bool>) {
    frame.branch = if frame.guard || frame.branch == Branch::Unknown {
        // The other branch of a guard is live if the compiler itself defines the name.
        Branch::Unknown
    } else if frame.settled {
        Branch::Dead
    } else if directive.name == "else" {
        Branch::Live
    } else {
        decide(directive, plus)
    };
    frame.settled |= frame.branch == Branch::Live;
}

fn is_conditional(name: &str) -> bool {
    matches!(
        name,
        "if" | "ifdef" | "ifndef" | "else" | "elif" | "elifdef" | "elifndef" | "endif"
    )
}

/// `plus` says whether `__cplusplus` is defined, if that is certain.
fn decide(directive: &Directive<'_>, plus: Option<bool>) -> Branch {
    // `'0'` has the same text as `0`, but its value is 48.
    let is_literal = |token: &Token<'_>| matches!(token.kind, TokenKind::Str | TokenKind::Char);
    if directive.body.iter().any(is_literal) {
        return Branch::Unknown;
    }
    let words: Vec<&str> = directive
        .body
        .iter()
        .map(|token| token.text.as_ref())
        .collect();
    let decided = match (directive.name.as_ref(), words.as_slice()) {
        ("if" | "elif", ["0"]) => Some(false),
        ("if" | "elif", ["1"]) => Some(true),
        // `elifdef` and `elifndef` are not among them, because older compilers ignore both.
        ("ifdef", ["__cplusplus"])
        | ("if" | "elif", ["defined", "__cplusplus"] | ["defined", "(", "__cplusplus", ")"]) => {
            plus
        }
        ("ifndef", ["__cplusplus"]) => plus.map(|plus| !plus),
        _ => None,
    };
    match decided {
        Some(true) => Branch::Live,
        Some(false) => Branch::Dead,
        None => Branch::Unknown,
    }
}

fn is_guard(directive: &Directive<'_>, next: Option<&Item<'_>>) -> bool {
    let [name] = directive.body.as_slice() else {
        return false;
    };
    directive.name == "ifndef" && next.is_some_and(|next| defines(next, &name.text))
}

fn touches(item: &Item<'_>, name: &str) -> bool {
    matches!(item, Item::Directive(directive)
        if matches!(directive.name.as_ref(), "define" | "undef") && directive.body.first().is_some_and(|first| first.is_ident(name)))
}

fn defines(item: &Item<'_>, name: &str) -> bool {
    matches!(item, Item::Directive(directive)
        if directive.name == "define" && directive.body.first().is_some_and(|first: &Token<'_>| first.is_ident(name)))
}

#[cfg(test)]
mod tests {
    use super::super::lex;
    use super::*;

    fn check(source: &str, words: &str) {
        let lexed = lex(source);
        let live = live(&lexed);
        let texts = live.iter().map(|item| match item {
            Item::Token(token) => token.text.to_string(),
            Item::Directive(directive) => format!("#{}", directive.name),
        });
        assert_eq!(texts.collect::<Vec<_>>().join(" "), words, "{source}");
    }

    #[test]
    fn known_conditionals_leave_one_branch() {
        check("a\n#if 0\nb\n#else\nc\n#endif\nd", "a c d");
        check("#if 1\na\n#else\nb\n#endif", "a");
        check(
            "#if 0\n#ifdef X\na\n#else\nb\n#endif\n#elif 1\nc\n#else\nd\n#endif",
            "c",
        );
        check("#ifdef __cplusplus\nextern \"C\" {\n#endif\na", "a");
        check("#ifndef A_H\n#define A_H\na\n#endif", "#define a");
    }

    #[test]
    fn a_dialect_says_which_language_it_is() {
        let source = "#ifdef __cplusplus\na\n#else\nb\n#endif\n#ifndef __cplusplus\nc\n#endif";
        let lexed = lex(source);
        let words = |dialect| {
            let live = live_in(&lexed, dialect);
            live.iter()
                .filter_map(|item| match item {
                    Item::Token(token) => Some(token.text.to_string()),
                    Item::Directive(_) => None,
                })
                .collect::<String>()
        };
        assert_eq!(words(Dialect::C), "bc");
        assert_eq!(words(Dialect::Cuda), "a");
        check(
            "#undef __cplusplus\n#ifdef __cplusplus\na\n#endif",
            "#undef #ifdef a #endif",
        );
    }

    #[test]
    fn unknown_conditionals_keep_every_branch() {
        check("#ifdef X\na\n#else\nb\n#endif", "#ifdef a #else b #endif");
        check("#if 0\na\n#elif X\nb\n#else\nc\n#endif", "b c");
        check("#if X\na\n#if 0\nb\n#endif\n#endif", "#if a #endif");
    }

    #[test]
    fn a_character_is_not_the_digit_that_it_shows() {
        check("#if '0'\na\n#endif", "#if a #endif");
        check("#if 0\n#elif '1'\na\n#else\nb\n#endif", "a b");
    }

    #[test]
    fn what_older_compilers_pass_over_decides_nothing() {
        check("#if 0\n#elifndef __cplusplus\na\n#else\nb\n#endif", "a b");
        check("#if 0\n#elifdef __cplusplus\na\n#else\nb\n#endif", "a b");
    }

    #[test]
    fn a_guard_with_another_branch_decides_nothing() {
        check(
            "#ifndef __x86_64__\n#define __x86_64__\na\n#else\nb\n#endif",
            "#define a b",
        );
        check(
            "#define __cplusplus 1\n#ifdef __cplusplus\na\n#endif",
            "#define #ifdef a #endif",
        );
    }

    #[test]
    fn stray_ends_do_no_harm() {
        check("#endif\n#else\na\n#if 0", "a");
    }
}
