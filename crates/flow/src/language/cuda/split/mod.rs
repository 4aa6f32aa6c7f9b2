//! A CUDA source in two halves: code for the GPU, and host code that records what it would launch.
//!
//! Both halves keep the source's lines. Each keeps of the source what it names, from its functions
//! on, so that neither compiler meets what is only for the other one:
//!
//! | declaration | device half | host half |
//! |---|---|---|
//! | `__global__` function | as it is | a stub that records its arguments |
//! | `__device__` function | as it is | a declaration |
//! | `__host__ __device__`, `constexpr` function | as it is | as it is, or a declaration if it needs a GPU |
//! | other function | nothing; a declaration in a class | as it is, its launches as calls of stubs |
//! | `__device__`, `__constant__` variable | as it is | a variable of the host, whose address names it |
//! | type, constant, alias | as it is, if named | as it is, if named |
//!
//! A launch `k<<<grid, block>>>(x)` becomes `(::hotloop::configure(grid, block), k(x))`, and the
//! body of each kernel `{ if (::hotloop::only_asked<decltype(x)>()) return;
//! ::hotloop::launch<decltype(x)>(x); }`. So C++ itself finds the kernel, converts arguments and
//! deduces template arguments. Which kernel it was the host half's symbol table says: its names are
//! those of the device compiler.

mod code;
mod declarations;
mod edits;
mod halves;
mod head;
mod holds;
mod includes;
mod kernels;
mod launches;
mod macros;
mod plain;
mod refusal;
mod spaces;
mod state;
#[cfg(test)]
mod tests;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use crate::language::c::is_asm;
use code::Code;
use declarations::{Declaration, Kind};
use edits::Edits;
use halves::{Fate, Half};
use head::Mark;
pub use includes::{is_library, is_torch};
use macros::Macros;
pub use refusal::Refusal;
use words::is_machine;

/// The halves of a source. Both keep its lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Halves {
    /// What runs on the GPU.
    pub device: String,
    /// Host code in which every kernel is a function that records its launch.
    pub host: String,
    /// The kernels by their names with namespaces, such as `detail::scale`, and whether the name
    /// alone is enough: functions may share it.
    pub kernels: BTreeMap<String, bool>,
    /// The `__device__` and `__constant__` variables, by their names with namespaces.
    pub variables: BTreeSet<String>,
    /// The first variable that a kernel can write, with the reason against it where nothing may be
    /// kept from one run to the next.
    pub keeps: Option<Refusal>,
}

/// Splits a source.
pub fn split(source: &str) -> Result<Halves, Refusal> {
    let code = Code::read(source).map_err(|line| Refusal {
        line,
        why: "a raw string or a character name makes the rest of the text uncertain".to_owned(),
    })?;
    let macros = Macros::read(&code)?;
    for directive in &code.directives {
        includes::check(directive)?;
    }
    let declarations = declarations::read(&code, &macros)?;
    check(&code, &macros, &declarations)?;
    let [on_gpu, on_host] =
        [Half::Device, Half::Host].map(|half| halves::fates(half, &code, &macros, &declarations));
    let (kernels, variables) = names(&code, &declarations);
    Ok(Halves {
        device: half_of(Half::Device, &code, &macros, &declarations, &on_gpu)?,
        host: half_of(Half::Host, &code, &macros, &declarations, &on_host)?,
        kernels,
        variables,
        keeps: state::first(&code, &macros, &declarations, &on_gpu),
    })
}

/// Refuses what neither half can say.
fn check(code: &Code<'_>, macros: &Macros, declarations: &[Declaration]) -> Result<(), Refusal> {
    let words = code.directives.iter().flat_map(|directive| &directive.body);
    let reserved = code.tokens.iter().chain(words).find(|token| {
        token.kind == crate::language::c::lex::TokenKind::Ident && token.text.starts_with("hotloop")
    });
    if let Some(token) = reserved {
        return Err(Refusal {
            line: token.line,
            why: format!("`{}` is a name of the bench", token.text),
        });
    }
    for declaration in declarations {
        let refuse = |at: usize, why: String| {
            Err(Refusal {
                line: code.line(at),
                why,
            })
        };
        let start = declaration.tokens.start;
        match &declaration.kind {
            Kind::Assembly => return refuse(start, "assembly at file scope is not allowed".into()),
            Kind::Macro => {
                let name = code.ident(start).unwrap_or_default();
                if macros.spaces(name).is_device() {
                    let why = format!(
                        "the macro `{name}` defines code for the GPU; write its kernels and \
                         functions out, or use a template"
                    );
                    return refuse(start, why);
                }
            }
            Kind::Function(function) if !declaration.spaces.is_device() => {
                for at in function.body.clone().unwrap_or_default() {
                    if code.is_ident(at, "__device__") {
                        let why = "a lambda for the GPU in host code cannot be split from it; write a \
                                   structure with `__device__ operator()`";
                        return refuse(at, why.into());
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn half_of(
    half: Half,
    code: &Code<'_>,
    macros: &Macros,
    declarations: &[Declaration],
    fates: &[Fate],
) -> Result<String, Refusal> {
    let mut edits = Edits::default();
    let mut gone = vec![false; code.tokens.len()];
    // What goes with its class needs no blank of its own: classes may be nested as deep as the text
    // is long.
    let goes_with_class = |declaration: &Declaration| {
        declaration.class.is_some_and(|class| {
            let tokens = &declarations[class].tokens;
            fates[class] == Fate::Drop && tokens.contains(&declaration.tokens.start)
        })
    };
    for (declaration, fate) in declarations.iter().zip(fates.iter().copied()) {
        if goes_with_class(declaration) {
            continue;
        }
        let blank = match (&declaration.kind, fate) {
            (_, Fate::Drop) => declaration.tokens.clone(),
            (Kind::Function(function), _) if halves::is_shortened(fate) => {
                let Some(body) = function.body.clone() else {
                    continue;
                };
                let text = match fate {
                    Fate::Stub => kernels::stub(code, function.parameters.clone(), &mut edits),
                    _ => ";".to_owned(),
                };
                edits.insert(code.tokens[body.start].offset, text);
                body
            }
            _ => continue,
        };
        gone[blank.clone()].fill(true);
        edits.blank(code, blank);
    }
    for directive in &code.directives {
        let header = directive.header.as_deref().unwrap_or_default();
        let is_gone = match (directive.name.as_ref(), half) {
            ("include", Half::Device) => includes::is_standard(header) || is_torch(header),
            ("include", Half::Host) => includes::is_cuda(header),
            ("pragma", Half::Host) => {
                let first = directive.body.first();
                !first.is_some_and(|word| word.is_ident("pack"))
            }
            // Only code for the GPU may use it.
            ("define", Half::Host) => directive.body.iter().any(|word| is_machine(&word.text)),
            _ => false,
        };
        if is_gone {
            edits.blank_bytes(directive.offset..directive.end);
        }
    }
    if half == Half::Host {
        check_host(code, macros, declarations, gone.clone())?;
        launches::rewrite(code, &mut edits, |at| !gone[at])?;
        for directive in code
            .directives
            .iter()
            .filter(|found| found.name == "define")
        {
            let body = Code::of_body(code.source, &directive.body);
            launches::rewrite(&body, &mut edits, |_| true)?;
        }
    }
    Ok(edits.apply(code.source))
}

/// Refuses what an answer's host code may not ask of a processor. The compiler refuses what two
/// halves of a word come to, and what stands in a branch for the GPU alone it never meets: the
/// words are poisoned in the first header.
fn check_host(
    code: &Code<'_>,
    macros: &Macros,
    declarations: &[Declaration],
    mut gone: Vec<bool>,
) -> Result<(), Refusal> {
    for declaration in declarations.iter().filter(|one| one.spaces.is_device()) {
        if let Kind::Function(function) = &declaration.kind
            && let Some(body) = function.body.clone()
            && halves::asks_where(code, &body)
        {
            gone[body].fill(true);
        }
    }
    let words = (0..gone.len()).filter(|at| !gone[*at]);
    for (at, word) in words.filter_map(|at| Some((at, code.ident(at)?))) {
        let why = if is_asm(word) {
            "assembly in host code is not allowed".to_owned()
        } else if is_machine(word) {
            format!("`{word}` asks the processor, which host code may not")
        } else if macros.holds(word).is_machine() {
            format!("the macro `{word}` is assembly or asks the processor, which host code may not")
        } else {
            continue;
        };
        return Err(Refusal {
            line: code.line(at),
            why,
        });
    }
    Ok(())
}

fn names(
    code: &Code<'_>,
    declarations: &[Declaration],
) -> (BTreeMap<String, bool>, BTreeSet<String>) {
    let mut kernels: BTreeMap<String, bool> = BTreeMap::new();
    let mut variables = BTreeSet::new();
    let mut defined: BTreeMap<String, usize> = BTreeMap::new();
    let full = |declaration: &Declaration, name: usize| {
        format!(
            "{}{}",
            declaration.scope,
            code.ident(name).unwrap_or_default()
        )
    };
    for declaration in declarations.iter().filter(|found| found.spaces.is_device()) {
        match &declaration.kind {
            Kind::Function(function) if declaration.class.is_none() => {
                let name = full(declaration, function.name);
                if function.body.is_some() && !function.is(Mark::Special) {
                    *defined.entry(name.clone()).or_default() += 1;
                }
                if declaration.spaces.is_global() {
                    kernels.insert(name, true);
                }
            }
            Kind::Named => {
                let names = declaration.names.iter();
                variables.extend(names.map(|name| full(declaration, *name)));
            }
            _ => {}
        }
    }
    for (name, is_alone) in &mut kernels {
        *is_alone = defined.get(name).is_none_or(|count| *count < 2);
    }
    (kernels, variables)
}
