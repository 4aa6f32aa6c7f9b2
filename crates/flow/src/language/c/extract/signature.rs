//! Checks that a function can be called as its task calls it.

use super::outline::{Function, Outline, is_attribute};
use crate::interface::{self, Kind, Role};
use crate::language::c::lex::{Token, TokenKind};
use crate::language::c::prototype::{prototype, type_name};

/// Maximum number of steps to resolve one type, because macros may name each other in a loop.
const STEPS: usize = 400;

/// A type as far as it matters for a call: its sorted words and the number of pointer levels.
#[derive(Debug, Default)]
struct Type {
    words: Vec<String>,
    pointers: usize,
    /// Whether it contains something that no plain declaration has.
    odd: bool,
}

/// `Err` describes what is wrong with the signature, for a repair prompt.
pub(super) fn check(
    outline: &Outline<'_>,
    function: &Function,
    wanted: &interface::Function,
) -> Result<(), String> {
    let prototype = prototype(wanted, &wanted.entry);
    let fail = |why: String| Err(format!("the entry point must be `{prototype}`, but {why}"));
    let returned = wanted.returned();
    let head = &outline.tokens[function.head.clone()];
    let returns = resolve(outline, head, true);
    if !returns.is(returned.map(|arg| arg.kind), 0) {
        return fail(format!("it returns `{}`", text_of(head)));
    }
    let parameters = split(&outline.tokens[function.parameters.clone()]);
    let args: Vec<_> = wanted.parameters().collect();
    if parameters.len() != args.len() {
        return fail(format!(
            "it takes {} parameters instead of {}",
            parameters.len(),
            args.len()
        ));
    }
    for (number, (parameter, arg)) in parameters.into_iter().zip(args).enumerate() {
        let (pointers, star) = if arg.role == Role::Scalar {
            (0, "")
        } else {
            (1, " *")
        };
        let (kind, brackets) = parts(parameter);
        let mut found = resolve(outline, kind, false);
        found.pointers += brackets;
        if !found.is(Some(arg.kind), pointers) {
            return fail(format!(
                "parameter {} is `{}` instead of `{}{star}`",
                number + 1,
                text_of(parameter),
                type_name(arg.kind)
            ));
        }
    }
    Ok(())
}

impl Type {
    fn is(&self, kind: Option<Kind>, pointers: usize) -> bool {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let fits = match kind {
            None => words == ["void"],
            Some(Kind::F64) => matches!(words.as_slice(), ["double" | "double_t" | "_Float64"]),
            Some(Kind::F32) => matches!(words.as_slice(), ["float" | "float_t" | "_Float32"]),
            Some(Kind::I32) => matches!(
                words.as_slice(),
                ["int" | "signed" | "int32_t"] | ["int", "signed"]
            ),
            // `long` and `long long` have the same 64 bits in the same register.
            Some(Kind::I64) => matches!(
                words.as_slice(),
                ["int64_t" | "ptrdiff_t" | "ssize_t" | "intptr_t" | "long"]
                    | ["int" | "long", "long"]
                    | ["int", "long", "long"]
                    | ["long", "signed"]
                    | ["int" | "long", "long", "signed"]
                    | ["int", "long", "long", "signed"]
            ),
            Some(Kind::F16 | Kind::Bf16) => false,
        };
        fits && self.pointers == pointers && !self.odd
    }
}

fn resolve(outline: &Outline<'_>, tokens: &[Token<'_>], is_return: bool) -> Type {
    let mut resolved = Type::default();
    let mut steps = STEPS;
    add(outline, tokens, is_return, &mut resolved, &mut steps);
    resolved.odd |= steps == 0;
    resolved.words.sort_unstable();
    resolved
}

/// Adds `tokens` to a type, with typedefs and plain macros resolved.
fn add(
    outline: &Outline<'_>,
    tokens: &[Token<'_>],
    is_return: bool,
    resolved: &mut Type,
    steps: &mut usize,
) {
    let mut at = 0;
    while at < tokens.len() && *steps > 0 {
        *steps -= 1;
        let token = &tokens[at];
        at += 1;
        if is_attribute(token) {
            at += group(&tokens[at..]);
        } else if token.is_punct("*") {
            resolved.pointers += 1;
        } else if token.is_punct("[") {
            at += group(&tokens[at - 1..]).saturating_sub(1);
            // Before a function they are attributes: `[[gnu::hot]]`.
            resolved.pointers += usize::from(!is_return);
        } else if token.kind != TokenKind::Ident {
            resolved.odd = true;
        } else if is_qualifier(&token.text) || (is_return && is_storage(&token.text)) {
        } else if let Some(body) = outline.macros.get(token.text.as_ref()) {
            add(outline, body, is_return, resolved, steps);
        } else if let Some(range) = outline.typedefs.get(token.text.as_ref()) {
            add(
                outline,
                &outline.tokens[range.clone()],
                is_return,
                resolved,
                steps,
            );
        } else {
            resolved.words.push(token.text.to_string());
        }
    }
}

/// How many tokens the group that opens at `tokens[0]` takes.
fn group(tokens: &[Token<'_>]) -> usize {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate() {
        depth += usize::from(token.is_punct("(") || token.is_punct("["));
        if depth == 0 {
            return 0;
        }
        depth -= usize::from(token.is_punct(")") || token.is_punct("]"));
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

fn is_qualifier(word: &str) -> bool {
    matches!(
        word.trim_matches('_'),
        "const" | "volatile" | "restrict" | "register" | "extension"
    )
}

fn is_storage(word: &str) -> bool {
    matches!(word, "static" | "extern" | "_Noreturn") || is_inline(word)
}

pub(super) fn is_inline(word: &str) -> bool {
    matches!(word, "inline" | "__inline" | "__inline__")
}

/// The parameters between the parentheses.
fn split<'t, 'a>(tokens: &'t [Token<'a>]) -> Vec<&'t [Token<'a>]> {
    if tokens.is_empty() || matches!(tokens, [only] if only.is_ident("void")) {
        return Vec::new();
    }
    let mut depth = 0usize;
    let is_comma = |token: &Token<'_>| {
        depth += usize::from(token.is_punct("(") || token.is_punct("["));
        depth = depth.saturating_sub(usize::from(token.is_punct(")") || token.is_punct("]")));
        depth == 0 && token.is_punct(",")
    };
    tokens.split(is_comma).collect()
}

/// The tokens before a parameter's name, and the number of brackets after it. The name is left out,
/// because it may also be a macro's.
fn parts<'t, 'a>(parameter: &'t [Token<'a>]) -> (&'t [Token<'a>], usize) {
    let ends = |token: &Token<'_>| token.is_punct("[") || is_attribute(token);
    let front = parameter
        .iter()
        .skip(1)
        .position(ends)
        .map_or(parameter.len(), |before| before + 1);
    let mut depth = 0usize;
    let mut brackets = 0;
    for token in &parameter[front..] {
        brackets += usize::from(depth == 0 && token.is_punct("["));
        depth += usize::from(token.is_punct("(") || token.is_punct("["));
        depth = depth.saturating_sub(usize::from(token.is_punct(")") || token.is_punct("]")));
    }
    let is_word = |token: &Token<'_>| token.kind == TokenKind::Ident && !is_qualifier(&token.text);
    let is_keyword = |word: &str| {
        matches!(
            word,
            "double" | "float" | "int" | "long" | "short" | "char" | "signed" | "unsigned" | "void"
        )
    };
    match &parameter[..front] {
        [kind @ .., name]
            if is_word(name) && !is_keyword(&name.text) && kind.iter().any(is_word) =>
        {
            (kind, brackets)
        }
        unnamed => (unnamed, brackets),
    }
}

fn text_of(tokens: &[Token<'_>]) -> String {
    let text = tokens
        .iter()
        .map(|token| token.text.as_ref())
        .collect::<Vec<_>>()
        .join(" ")
        .replace("* ", "*");
    if text.chars().count() > 60 {
        format!("{}...", text.chars().take(60).collect::<String>())
    } else {
        text
    }
}
