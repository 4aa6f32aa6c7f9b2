//! `k<<<grid, block>>>(arguments)` becomes `(configure(grid, block), k(arguments))`: a launch is a
//! call of the kernel's stub, so overloads, templates and pointers to kernels need no special care.

use super::code::Code;
use super::edits::Edits;
use super::refusal::Refusal;

/// Words that end the search for what is launched.
const KEYWORDS: [&str; 12] = [
    "return",
    "else",
    "do",
    "case",
    "throw",
    "co_return",
    "if",
    "while",
    "for",
    "switch",
    "and",
    "or",
];

/// Rewrites the launches among the tokens that `wanted` holds for.
pub(super) fn rewrite(
    code: &Code<'_>,
    edits: &mut Edits,
    wanted: impl Fn(usize) -> bool,
) -> Result<(), Refusal> {
    for at in 0..code.tokens.len() {
        if code.is_punct(at, "<<") && code.is_punct(at + 1, "<") && wanted(at) {
            rewrite_one(code, edits, at)?;
        }
    }
    Ok(())
}

fn rewrite_one(code: &Code<'_>, edits: &mut Edits, open: usize) -> Result<(), Refusal> {
    let refuse = |why: &str| {
        Err(Refusal {
            line: code.line(open),
            why: why.to_owned(),
        })
    };
    let Some(close) = configuration_end(code, open + 2) else {
        return refuse("a launch begins with `<<<` and has no `>>>`");
    };
    let arguments = close + 2;
    let Some(end) = code
        .partner(arguments)
        .filter(|_| code.is_punct(arguments, "("))
    else {
        return refuse("a launch has no arguments in parentheses behind its `>>>`");
    };
    let Some(callee) = callee(code, open) else {
        return refuse("the expression before `<<<` is not a kernel");
    };
    let mut configuration = String::new();
    for at in open + 2..close {
        if code.is_punct(at, "<<") && code.is_punct(at + 1, "<") {
            return refuse("a launch within the configuration of another one");
        }
        let token = &code.tokens[at];
        configuration.push(' ');
        let text = &code.source[token.offset..token.end];
        if text.contains('\n') {
            // A word over the end of a line.
            configuration.push_str(&token.text);
        } else {
            configuration.push_str(text);
        }
    }
    if configuration.is_empty() {
        return refuse("a launch without grid and block");
    }
    let text = format!("(::hotloop::configure({configuration}), ");
    edits.insert(code.tokens[callee].offset, text);
    edits.blank_bytes(code.tokens[open].offset..code.tokens[close + 1].end);
    edits.insert(code.tokens[end].end, ")");
    Ok(())
}

/// The `>>` of the `>>>` that ends a configuration.
fn configuration_end(code: &Code<'_>, from: usize) -> Option<usize> {
    let mut at = from;
    while at < code.tokens.len() {
        match code.punct(at) {
            "(" | "[" | "{" => at = code.partner(at)?,
            ")" | "]" | "}" | ";" => return None,
            ">>" if code.is_punct(at + 1, ">") => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Where the expression begins that is launched: a name with its template arguments, an element of
/// a table, what a function returns.
fn callee(code: &Code<'_>, open: usize) -> Option<usize> {
    let mut at = open;
    loop {
        let last = at.checked_sub(1)?;
        match code.punct(last) {
            ")" | "]" => {
                at = code.partner(last)?;
                let before = at.checked_sub(1);
                let goes_on = before.is_some_and(|before| {
                    is_name(code, before) || matches!(code.punct(before), ")" | "]" | ">")
                });
                let goes_on = goes_on && !is_behind_condition(code, at);
                if !goes_on {
                    return Some(at);
                }
            }
            ">" | ">>" => at = code.angle_open(last)?,
            _ if is_name(code, last) => {
                at = last;
                let Some(mut before) = at.checked_sub(1) else {
                    return Some(at);
                };
                if code.is_ident(before, "template") {
                    at = before;
                    before = at.checked_sub(1)?;
                }
                match code.punct(before) {
                    "." | "->" => at = before,
                    "::" => {
                        at = before;
                        let outer = at.checked_sub(1);
                        let is_scoped = outer
                            .is_some_and(|outer| is_name(code, outer) || code.is_punct(outer, ">"));
                        if !is_scoped {
                            return Some(at);
                        }
                    }
                    _ => return Some(at),
                }
            }
            _ => return (at < open).then_some(at),
        }
    }
}

/// Whether what begins at `at` is the statement of an `if`, a `for` or a `while`.
fn is_behind_condition(code: &Code<'_>, at: usize) -> bool {
    let condition = at.checked_sub(1).filter(|last| code.is_punct(*last, ")"));
    let word = condition
        .and_then(|last| code.partner(last))
        .and_then(|open| open.checked_sub(1))
        .and_then(|word| code.ident(word));
    word.is_some_and(|word| KEYWORDS.contains(&word) || word == "constexpr")
}

fn is_name(code: &Code<'_>, at: usize) -> bool {
    code.ident(at).is_some_and(|name| !KEYWORDS.contains(&name))
}

#[cfg(test)]
mod tests {
    use crate::language::cuda::split;

    #[test]
    fn a_launch_behind_a_condition_ends_at_it() {
        for before in [
            "if (n > 0)",
            "if constexpr (N > 0)",
            "for (int i = 0; i < n; i++)",
            "while (more(n))",
            "if (n) f(); else",
        ] {
            let source = format!("void solve() {{ {before} (*kernel)<<<1, 2>>>(x); }}\n");
            let host = split(&source).unwrap().host;
            let words: Vec<_> = host.split_whitespace().collect();
            let expect = format!(
                "void solve() {{ {before} (::hotloop::configure( 1 , 2), (*kernel) (x)); }}"
            );
            assert_eq!(words.join(" "), expect);
        }
        let host = split("void solve() { pick(n)(m)<<<1, 2>>>(x); }\n")
            .unwrap()
            .host;
        assert!(
            host.contains("(::hotloop::configure( 1 , 2), pick(n)(m)"),
            "{host}"
        );
    }
}
