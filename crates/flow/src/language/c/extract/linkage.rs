//! Makes the entry point visible to the linker under its own name.

use std::ops::Range;

use super::outline::{Function, Outline};
use super::signature;
use super::wanted::Wanted;
use crate::extracted::Malformed;
use crate::language::c::lex::{self, Dialect, Item, Lexed, Token, TokenKind};

/// One change of a source: the text at `at` is replaced by `by`.
struct Edit {
    at: Range<usize>,
    by: &'static str,
}

const LINKAGE: &str = "extern \"C\" ";
const LANGUAGE: &str = " \"C\"";

/// The source whose entry point the linker sees, with a note on each kind of change.
pub(super) fn repaired(
    source: String,
    wanted: &Wanted<'_>,
) -> Result<(String, Vec<String>), Malformed> {
    let entry = &wanted.function.entry;
    let lexed = lex::lex_in(&source, wanted.dialect);
    let outline = Outline::of(&lexed, wanted.dialect);
    let mut notes = Vec::new();
    let mut edits = storage_words(&outline, wanted);
    if !edits.is_empty() {
        notes.push(format!(
            "storage words are dropped from `{entry}`: the linker must see it"
        ));
    }
    let linkage = match wanted.dialect {
        Dialect::C => Vec::new(),
        Dialect::Cuda => missing_linkage(&outline, wanted),
    };
    if !linkage.is_empty() {
        notes.push(format!(
            "`{entry}` gets `extern \"C\"`: it is called by its plain name"
        ));
    }
    edits.extend(linkage);
    if edits.is_empty() {
        return Ok((source, notes));
    }
    // The sort is stable, and an insertion before a word that is dropped came after it.
    edits.sort_by_key(|edit| (edit.at.start, edit.at.end));
    let text = applied(&source, &edits);
    if means_the_same(&text, &lexed, &edits, wanted.dialect) {
        return Ok((text, notes));
    }
    Err(Malformed {
        why: format!("without the storage words of `{entry}` the code would change its meaning"),
    })
}

fn entries<'o>(
    outline: &'o Outline<'_>,
    wanted: &'o Wanted<'_>,
) -> impl Iterator<Item = &'o Function> {
    outline
        .functions
        .iter()
        .chain(&outline.prototypes)
        .filter(|function| outline.name(function) == wanted.function.entry)
        // In C++ a function of another type may have the same name.
        .filter(|function| {
            wanted.dialect == Dialect::C || signature::check(outline, function, wanted).is_ok()
        })
}

/// The words that hide the entry point from the linker.
fn storage_words(outline: &Outline<'_>, wanted: &Wanted<'_>) -> Vec<Edit> {
    let mut edits = Vec::new();
    for function in entries(outline, wanted) {
        let head = &outline.tokens[function.head.clone()];
        // In C `extern inline` is seen by the linker, but not in C++.
        let is_seen =
            wanted.dialect == Dialect::C && head.iter().any(|token| token.is_ident("extern"));
        let hides = |token: &&Token<'_>| {
            token.is_ident("static") || (signature::is_inline(&token.text) && !is_seen)
        };
        edits.extend(head.iter().filter(hides).map(|token| Edit {
            at: token.offset..token.end,
            by: "",
        }));
    }
    edits
}

/// Where `extern "C"` is missing.
fn missing_linkage(outline: &Outline<'_>, wanted: &Wanted<'_>) -> Vec<Edit> {
    let edit = |function: &Function| {
        let head = &outline.tokens[function.head.clone()];
        let at = |offset| offset..offset;
        match head.iter().position(|token| token.is_ident("extern")) {
            Some(word) if head.get(word + 1).map(|next| next.kind) == Some(TokenKind::Str) => None,
            Some(word) => Some(Edit {
                at: at(head[word].end),
                by: LANGUAGE,
            }),
            None => head.first().map(|first| Edit {
                at: at(first.offset),
                by: LINKAGE,
            }),
        }
    };
    entries(outline, wanted)
        .filter(|function| !function.linked)
        .filter_map(edit)
        .collect()
}

/// The source with the edits. A blank after a dropped word is dropped with it.
fn applied(source: &str, edits: &[Edit]) -> String {
    let mut text = String::with_capacity(source.len() + 16);
    let mut kept = 0;
    for Edit { at, by } in edits {
        text.push_str(source.get(kept..at.start).unwrap_or(""));
        text.push_str(by);
        let blank = !at.is_empty() && source[at.end..].starts_with([' ', '\t']);
        kept = at.end + usize::from(blank);
    }
    text.push_str(&source[kept..]);
    text
}

/// Whether the text has the items of the source, but for the edits. A `#` after `static` begins no
/// directive, but it does once `static` is gone.
fn means_the_same(text: &str, source: &Lexed<'_>, edits: &[Edit], dialect: Dialect) -> bool {
    type Told = (Option<TokenKind>, String);
    let told = |item: &Item<'_>| -> Told {
        match item {
            Item::Token(token) => (Some(token.kind), token.text.to_string()),
            Item::Directive(directive) => (None, directive.name.to_string()),
        }
    };
    let mut wanted: Vec<Told> = Vec::with_capacity(source.items.len() + 4);
    let mut edits = edits.iter().peekable();
    for item in &source.items {
        let (offset, end) = match item {
            Item::Token(token) => (token.offset, token.end),
            Item::Directive(directive) => (directive.offset, directive.end),
        };
        while let Some(insertion) =
            edits.next_if(|edit| edit.at.is_empty() && edit.at.start <= offset)
        {
            let added = lex::lex_in(insertion.by, dialect);
            wanted.extend(added.items.iter().map(told));
        }
        if edits.next_if(|edit| edit.at == (offset..end)).is_none() {
            wanted.push(told(item));
        }
    }
    lex::lex_in(text, dialect).items.iter().map(told).eq(wanted)
}
