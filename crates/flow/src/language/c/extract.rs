//! From a completion, or a file, to a source: C or CUDA C++ that defines the entry point.
//!
//! **Which code.** The last complete fenced block that defines the entry point with the right
//! signature wins. Models improve on themselves, and a last block that was cut off must not spoil
//! the one before. If no block has the entry point, bare text counts: from its first line that
//! looks like code to the end of its last complete function.
//!
//! **What is repaired**, each time with a note:
//! - a block that was never closed ends after its last complete function;
//! - `static` and `inline` on the entry point are dropped (but `extern inline` of C stays), because
//!   the linker must see it;
//! - an entry point of CUDA without `extern "C"` gets it, because it is called by its plain name;
//! - if the chosen block calls a function that it neither defines nor declares, and exactly one
//!   other block defines it, that block is put in front. A block that redefines a function of the
//!   chosen one is not.
//!
//! A last line without its newline gets one. Nothing else is ever edited.
//!
//! **What is malformed**: no function with the entry's name; a prototype without a body, or an
//! old-style definition; an entry point that was cut off; another return type, number or types of
//! parameters. Qualifiers and parameter names are free, `double A[]` equals `double *A`, and
//! typedefs and macros of the source are resolved: macros may spell all of the entry point, and of
//! several definitions in undecided branches one has to fit. A type that stays unknown, or has another size
//! or sign (`size_t` for `int`), is wrong. Also malformed are a NUL byte, more than 256 KiB of
//! source or 1 MiB of completion, a raw string literal of C, a carriage return that ends no line,
//! `\u00e9` in a word, and `#line`. The last four hide from a scan what the compiler will see.
//!
//! The compiler judges unbalanced braces inside a closed block or a file, and macros that clash
//! with parameters. A `main` is harmless and stays.

mod blocks;
mod expand;
mod linkage;
mod outline;
mod signature;
mod wanted;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::lex::{self, Dialect, Item, Lexed, TokenKind};
use crate::extracted::{COMPLETION_BYTES, Extracted, Malformed, SOURCE_BYTES};
use blocks::{Block, BlockKind};
use outline::{Known, Outline};
pub(crate) use wanted::Wanted;

fn malformed<T>(why: impl Into<String>) -> Result<T, Malformed> {
    Err(Malformed { why: why.into() })
}

/// How close a text comes to a definition of the entry point. Later variants are closer.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Absent,
    Declared,
    WrongSignature(String),
    CutOff,
    Whole,
}

/// A text that may contain the candidate.
struct Part<'a> {
    block: Block<'a>,
    outline: Outline<'a>,
    fit: Fit,
}

impl<'a> Part<'a> {
    /// What macros take to expand is taken off `steps`.
    fn of(block: Block<'a>, wanted: &Wanted<'_>, steps: &mut usize) -> Self {
        let lexed = lex::lex_in(block.text, wanted.dialect);
        let written = Self::known(block, &lexed, wanted, Known::Last);
        if written.fit == Fit::Whole || wanted.dialect != Dialect::C {
            return written;
        }
        // The entry point may be spelled by macros, and undecided branches may define its types
        // several times.
        let mut others = vec![Self::known(block, &lexed, wanted, Known::First)];
        for known in [Known::Last, Known::First] {
            let expanded = expand::expanded(&lexed, known, steps);
            others.extend(expanded.map(|lexed| Self::known(block, &lexed, wanted, known)));
        }
        let whole = others.into_iter().find(|other| other.fit == Fit::Whole);
        whole.unwrap_or(written)
    }

    fn known(block: Block<'a>, lexed: &Lexed<'a>, wanted: &Wanted<'_>, known: Known) -> Self {
        let outline = Outline::with(lexed, wanted.dialect, known);
        let fit = fit(&outline, wanted);
        Self {
            block,
            outline,
            fit,
        }
    }

    /// The text, up to the end of its last complete function if nothing else marks its end.
    fn text(&self) -> &'a str {
        let text = self.block.text;
        if self.block.kind == BlockKind::Closed {
            return text;
        }
        let end = self
            .outline
            .functions
            .iter()
            .filter_map(|function| function.end)
            .chain(self.outline.scope_end)
            .max()
            .unwrap_or(text.len());
        // Directives after it, such as the end of a guard, belong to it.
        let belongs = |line: &&str| {
            let name = line
                .trim_start()
                .strip_prefix('#')
                .unwrap_or("")
                .trim_start();
            line.trim().is_empty()
                || ["endif", "undef", "pragma"]
                    .iter()
                    .any(|known| name.starts_with(known))
        };
        let behind: usize = text[end..]
            .split_inclusive('\n')
            .take_while(belongs)
            .map(str::len)
            .sum();
        &text[..end + behind]
    }
}

fn fit(outline: &Outline<'_>, wanted: &Wanted<'_>) -> Fit {
    let is_entry = |function: &&outline::Function| outline.name(function) == wanted.function.entry;
    let of = |function: &outline::Function| match (
        signature::check(outline, function, wanted),
        function.end,
    ) {
        (Err(why), _) => Fit::WrongSignature(why),
        (Ok(()), None) => Fit::CutOff,
        (Ok(()), Some(_)) => Fit::Whole,
    };
    let declared = outline
        .prototypes
        .iter()
        .find(is_entry)
        .map(|_| Fit::Declared);
    outline
        .functions
        .iter()
        .filter(is_entry)
        .map(of)
        .chain(declared)
        .max()
        .unwrap_or(Fit::Absent)
}

/// Finds the candidate in a completion.
pub(crate) fn extract(completion: &str, wanted: &Wanted<'_>) -> Result<Extracted, Malformed> {
    if completion.len() > COMPLETION_BYTES {
        return malformed(format!(
            "the completion is longer than {COMPLETION_BYTES} bytes"
        ));
    }
    let entry = &wanted.function.entry;
    let mut steps = expand::STEPS;
    let parts: Vec<Part<'_>> = blocks::blocks(completion)
        .into_iter()
        .map(|block| Part::of(block.code(entry, wanted.dialect), wanted, &mut steps))
        .collect();
    let rank = |part: &Part<'_>| {
        let usable = part.fit == Fit::Whole
            || (part.fit == Fit::CutOff && part.block.kind == BlockKind::Closed);
        (
            usable && part.fit == Fit::Whole,
            usable,
            part.block.kind != BlockKind::Bare,
        )
    };
    // `max_by_key` returns the last of equals.
    let Some((chosen, part)) = parts
        .iter()
        .enumerate()
        .max_by_key(|(_, part)| rank(part))
        .filter(|(_, part)| rank(part).1)
    else {
        return malformed(why_none(&parts, wanted));
    };
    let mut notes = Vec::new();
    let text = part.text();
    if text.trim_end().len() < part.block.text.trim_end().len()
        && part.block.kind == BlockKind::Open
    {
        notes.push(
            "the answer was cut off; what follows its last whole function is dropped".to_owned(),
        );
    }
    let (helpers, names) = helpers(&parts, chosen);
    let merged = helpers + text;
    // An incomplete helper must not spoil a block that works without it.
    if Part::of(
        Block {
            text: &merged,
            kind: BlockKind::Closed,
        },
        wanted,
        &mut steps,
    )
    .fit < part.fit
    {
        return finish(text.to_owned(), notes, wanted);
    }
    notes.extend(
        names
            .into_iter()
            .map(|names| format!("the block that defines {names} is put in front")),
    );
    finish(merged, notes, wanted)
}

/// Makes a candidate from the content of a file.
pub(crate) fn read(bytes: &[u8], wanted: &Wanted<'_>) -> Result<Extracted, Malformed> {
    if bytes.len() > SOURCE_BYTES {
        return malformed(format!("the source is longer than {SOURCE_BYTES} bytes"));
    }
    let source = String::from_utf8_lossy(bytes);
    let mut notes = Vec::new();
    if matches!(source, Cow::Owned(_)) {
        notes.push("bytes that are not UTF-8 are replaced".to_owned());
    }
    let part = Part::of(
        Block {
            text: &source,
            kind: BlockKind::Closed,
        },
        wanted,
        &mut { expand::STEPS },
    );
    if part.fit < Fit::CutOff {
        return malformed(why_none(&[part], wanted));
    }
    finish(source.clone().into_owned(), notes, wanted)
}

fn finish(
    mut source: String,
    mut notes: Vec<String>,
    wanted: &Wanted<'_>,
) -> Result<Extracted, Malformed> {
    if source.len() > SOURCE_BYTES {
        return malformed(format!("the source is longer than {SOURCE_BYTES} bytes"));
    }
    if source.contains('\0') {
        return malformed("the source contains a NUL byte");
    }
    if let Some(line) = lone_return(&source) {
        return malformed(format!(
            "line {line} has a carriage return in it, where compilers disagree on its end"
        ));
    }
    refuse_disguises(&lex::lex_in(&source, wanted.dialect), wanted.dialect)?;
    let (repaired, told) = linkage::repaired(source, wanted)?;
    source = repaired;
    notes.extend(told);
    if !source.ends_with('\n') {
        source.push('\n');
    }
    Ok(Extracted { source, notes })
}

fn why_none(parts: &[Part<'_>], wanted: &Wanted<'_>) -> String {
    let (entry, prototype) = (&wanted.function.entry, &wanted.prototype);
    match parts.iter().map(|part| &part.fit).max() {
        None | Some(Fit::Absent) => {
            format!("no function `{entry}` is defined; expected `{prototype}`")
        }
        Some(Fit::Declared) => {
            format!("`{entry}` is declared but has no body of the form `{prototype} {{ ... }}`")
        }
        Some(Fit::WrongSignature(why)) => why.clone(),
        Some(Fit::CutOff | Fit::Whole) => format!("the definition of `{entry}` is cut off"),
    }
}

/// The line of the first carriage return without a newline after it. Some compilers read it as a
/// newline. For others it undoes the splice of a backslash before it.
fn lone_return(source: &str) -> Option<usize> {
    let at = source
        .match_indices('\r')
        .find(|(at, _)| !source[at + 1..].starts_with('\n'))?
        .0;
    Some(source[..at].bytes().filter(|&byte| byte == b'\n').count() + 1)
}

/// Refuses three constructs that let a compiler see other code than a scan does.
fn refuse_disguises(lexed: &Lexed<'_>, dialect: Dialect) -> Result<(), Malformed> {
    if let Some(line) = lexed.raw_string {
        let why = match dialect {
            Dialect::C => "which is not C",
            Dialect::Cuda => {
                "which does not end, or which stands in a source with lines that end in a backslash"
            }
        };
        return malformed(format!("line {line} has a raw string literal, {why}"));
    }
    if let Some(line) = lex::universal_name(lexed) {
        return malformed(format!(
            "line {line} has a universal character name in a word, which is the same as another \
             word"
        ));
    }
    let marker = lexed.items.iter().find_map(|item| match item {
        Item::Directive(directive) if directive.name == "line" => Some(directive.line),
        Item::Directive(directive) if directive.name.is_empty() => directive
            .body
            .first()
            .filter(|first| first.kind == TokenKind::Number)
            .map(|_| directive.line),
        Item::Directive(_) | Item::Token(_) => None,
    });
    marker.map_or(Ok(()), |line| {
        malformed(format!(
            "line {line} has a `#line` directive, which hides where code comes from"
        ))
    })
}

/// The blocks that define functions which the chosen block calls but lacks, with the names that
/// each block defines.
fn helpers(parts: &[Part<'_>], chosen: usize) -> (String, Vec<String>) {
    let part = &parts[chosen];
    let own = part.outline.defined();
    let declared = part
        .outline
        .prototypes
        .iter()
        .map(|prototype| part.outline.name(prototype))
        .collect();
    let others: Vec<(&Part<'_>, BTreeSet<&str>)> = parts
        .iter()
        .enumerate()
        .filter(|(at, other)| {
            *at != chosen
                && other.block.kind == BlockKind::Closed
                && part.block.kind != BlockKind::Bare
        })
        .map(|(_, other)| (other, other.outline.defined()))
        .collect();
    // The only block that defines a name; `None` if several do. A map, because an answer may
    // contain thousands of blocks and calls.
    let mut definers: BTreeMap<&str, Option<usize>> = BTreeMap::new();
    for (at, (_, defined)) in others.iter().enumerate() {
        for name in defined {
            definers
                .entry(name)
                .and_modify(|only| *only = None)
                .or_insert(Some(at));
        }
    }
    let mut wanted = vec![false; others.len()];
    for name in &(&part.outline.called() - &own) - &declared {
        if let Some(Some(only)) = definers.get(name) {
            wanted[*only] = true;
        }
    }
    let mut source = String::new();
    let mut names = Vec::new();
    for ((other, defined), _) in others
        .iter()
        .zip(wanted)
        .filter(|((_, defined), wanted)| *wanted && defined.is_disjoint(&own))
    {
        source.push_str(other.block.text);
        names.push(
            defined
                .iter()
                .map(|name| format!("`{name}`"))
                .collect::<Vec<_>>()
                .join(", "),
        );
    }
    (source, names)
}
