//! Checks that a function can be called as its task calls it.

use super::outline::{Function, Outline, is_attribute};
use super::wanted::Wanted;
use crate::interface::{Kind, Role};
use crate::language::c::lex::{Dialect, Token, TokenKind};
use crate::language::c::prototype::type_name;

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
    wanted: &Wanted<'_>,
) -> Result<(), String> {
    let prototype = &wanted.prototype;
    let fail = |why: String| Err(format!("the entry point must be `{prototype}`, but {why}"));
    let returned = wanted.function.returned();
    let head = &outline.tokens[function.head.clone()];
    let mut returns = resolve(outline, head, true);
    if wanted.dialect == Dialect::Cuda
        && let Err(why) = take_marks(&mut returns)
    {
        return fail(why);
    }
    if !returns.is(returned.map(|arg| arg.kind), 0) {
        return fail(format!("it returns `{}`", text_of(head)));
    }
    let parameters = split(&outline.tokens[function.parameters.clone()]);
    let args: Vec<_> = wanted.function.parameters().collect();
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
        let bare = without_parentheses(parameter);
        let (kind, brackets) = parts(&bare);
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

/// Takes out what a host function of CUDA may have before its type. `Err` says what it is instead.
fn take_marks(returns: &mut Type) -> Result<(), String> {
    let has = |word: &str| returns.words.iter().any(|known| known == word);
    if has("__global__") {
        return Err(
            "it is a kernel (`__global__`): write a host function that launches your kernels"
                .to_owned(),
        );
    }
    if has("__device__") && !has("__host__") {
        return Err("it is a `__device__` function, which the host cannot call".to_owned());
    }
    if has("template") {
        return Err("it is a template".to_owned());
    }
    let is_mark = |word: &String| {
        matches!(
            word.as_str(),
            "__host__" | "__device__" | "__noinline__" | "__forceinline__"
        )
    };
    returns.words.retain(|word| !is_mark(word));
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
                ["int" | "signed" | "int32_t" | "int_least32_t" | "__int32_t"] | ["int", "signed"]
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
            Some(Kind::F16) => matches!(words.as_slice(), ["__half" | "half"]),
            Some(Kind::Bf16) => {
                matches!(words.as_slice(), ["__nv_bfloat16" | "nv_bfloat16"])
            }
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
            at += skipped(&tokens[at..], steps);
        } else if token.is_punct("*") {
            resolved.pointers += 1;
        } else if token.is_punct("[") {
            let is_attribute = is_return || opens_attribute(&tokens[at - 1..]);
            at += skipped(&tokens[at - 1..], steps).saturating_sub(1);
            resolved.pointers += usize::from(!is_attribute);
        } else if is_type_of(token) && tokens.get(at).is_some_and(|next| next.is_punct("(")) {
            // What it names must be a type: the words of an expression are none.
            let length = skipped(&tokens[at..], steps);
            let named = tokens.get(at + 1..(at + length).saturating_sub(1));
            at += length;
            add(outline, named.unwrap_or_default(), false, resolved, steps);
        } else if is_scope(token, tokens.get(at)) || is_linkage(&tokens[..at], is_return) {
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

fn is_type_of(token: &Token<'_>) -> bool {
    token.kind == TokenKind::Ident
        && matches!(token.text.as_ref(), "typeof" | "__typeof" | "__typeof__")
}

/// A parameter without parentheses that change nothing: `double (*A)` is `double *A`, and
/// `double (A)[]` is `double A[]`. Those of a pointer to an array or to a function stay.
fn without_parentheses<'a>(parameter: &[Token<'a>]) -> Vec<Token<'a>> {
    let mut plain = parameter.to_vec();
    // No honest parameter has more.
    for _ in 0..4 {
        let opens = |at: &usize| {
            let before = at.checked_sub(1).map(|before| &plain[before]);
            plain[*at].is_punct("(")
                && !before.is_some_and(|before| is_attribute(before) || is_type_of(before))
        };
        let Some(open) = (1..plain.len()).find(opens) else {
            break;
        };
        let length = group(&plain[open..]);
        let close = open + length - 1;
        let (inside, behind) = (&plain[open + 1..close], plain.get(close + 1));
        let is_declarator = inside.iter().all(|token| {
            token.kind == TokenKind::Ident
                || ["*", "(", ")"].iter().any(|mark| token.is_punct(mark))
        });
        let is_pointer = inside.iter().any(|token| token.is_punct("*"));
        let changes_nothing =
            behind.is_none_or(|behind| is_attribute(behind) || behind.is_punct("[") && !is_pointer);
        if length < 3 || !is_declarator || !changes_nothing || !plain[close].is_punct(")") {
            break;
        }
        plain.remove(close);
        plain.remove(open);
    }
    plain
}

/// How many tokens of a group to skip. What is read of it are steps, too: a macro may open a group
/// that nothing closes, and be used thousands of times.
fn skipped(tokens: &[Token<'_>], steps: &mut usize) -> usize {
    let length = group(&tokens[..tokens.len().min(*steps)]);
    *steps -= length;
    length
}

/// Whether the token is part of `std::` or `::`, which C does not have.
fn is_scope(token: &Token<'_>, next: Option<&Token<'_>>) -> bool {
    let names = token.is_ident("std") || token.is_ident("cuda");
    token.is_punct("::") || (names && next.is_some_and(|next| next.is_punct("::")))
}

/// Whether the last of the tokens is the `"C"` of `extern "C"`, which C does not have.
fn is_linkage(tokens: &[Token<'_>], is_return: bool) -> bool {
    let is_c = |language: &Token<'_>| language.kind == TokenKind::Str && language.text == "C";
    is_return && matches!(tokens, [.., word, language] if word.is_ident("extern") && is_c(language))
}

/// Whether `[[gnu::unused]]` or the like begins at `tokens[0]`.
fn opens_attribute(tokens: &[Token<'_>]) -> bool {
    let mut first = tokens.iter().take(2);
    first.len() == 2 && first.all(|token| token.is_punct("["))
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
    matches!(
        word,
        "inline" | "__inline" | "__inline__" | "__forceinline__"
    )
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
    let parameter = if opens_attribute(parameter) {
        &parameter[group(parameter)..]
    } else {
        parameter
    };
    // `=` begins a default value of C++.
    let ends =
        |token: &Token<'_>| token.is_punct("[") || token.is_punct("=") || is_attribute(token);
    let front = parameter
        .iter()
        .skip(1)
        .position(ends)
        .map_or(parameter.len(), |before| before + 1);
    let mut depth = 0usize;
    let mut brackets = 0;
    for (at, token) in parameter.iter().enumerate().skip(front) {
        let is_array = token.is_punct("[") && !opens_attribute(&parameter[at..]);
        brackets += usize::from(depth == 0 && is_array);
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
