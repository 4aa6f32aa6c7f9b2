//! The host's side of a kernel: a function of the same parameters that records.

use std::fmt::Write;
use std::ops::Range;

use super::code::Code;
use super::edits::Edits;
use crate::language::c::lex::TokenKind;

/// Words of a parameter that are neither its type nor its name.
const QUALIFIERS: [&str; 11] = [
    "const",
    "volatile",
    "__restrict__",
    "__restrict",
    "restrict",
    "struct",
    "class",
    "enum",
    "typename",
    "__grid_constant__",
    "register",
];
const TYPES: [&str; 11] = [
    "void", "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "auto",
];

/// A parameter of a kernel.
struct Parameter {
    name: String,
    /// Whether it stands for any number of parameters.
    is_pack: bool,
}

/// The body of the stub. Parameters without a name get one.
pub(super) fn stub(code: &Code<'_>, parameters: Range<usize>, edits: &mut Edits) -> String {
    let found: Vec<Parameter> = pieces(code, parameters)
        .into_iter()
        .enumerate()
        .filter_map(|(index, piece)| parameter(code, piece, index, edits))
        .collect();
    let mut types = String::new();
    let mut values = String::new();
    for Parameter { name, is_pack } in found {
        let dots = if is_pack { "..." } else { "" };
        let comma = if types.is_empty() { "" } else { ", " };
        write!(types, "{comma}decltype({name}){dots}").expect("a string takes all");
        write!(values, "{comma}{name}{dots}").expect("a string takes all");
    }
    format!(
        "{{ if (::hotloop::only_asked<{types}>()) return; ::hotloop::launch<{types}>({values}); }}"
    )
}

/// The parameters, between commas.
fn pieces(code: &Code<'_>, range: Range<usize>) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let (mut start, mut at) = (range.start, range.start);
    while at < range.end {
        match code.punct(at) {
            "(" | "[" | "{" => at = code.partner(at).unwrap_or(at),
            "<" => {
                at = code
                    .angle_close(at)
                    .filter(|end| *end < range.end)
                    .unwrap_or(at);
            }
            "," => {
                pieces.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    pieces.push(start..range.end);
    pieces
}

fn parameter(
    code: &Code<'_>,
    piece: Range<usize>,
    index: usize,
    edits: &mut Edits,
) -> Option<Parameter> {
    // The default value is no part of it.
    let end = piece
        .clone()
        .find(|at| code.is_punct(*at, "="))
        .unwrap_or(piece.end);
    let piece = piece.start..end;
    if piece.is_empty() || (piece.len() == 1 && code.is_ident(piece.start, "void")) {
        return None;
    }
    let is_pack = piece.clone().any(|at| code.is_punct(at, "..."));
    if let Some(name) = name(code, piece.clone()) {
        let name = code.ident(name)?.to_owned();
        return Some(Parameter { name, is_pack });
    }
    let name = format!("hotloop_parameter_{index}");
    let last = &code.tokens[piece.end - 1];
    edits.insert(last.end, format!(" {name}"));
    Some(Parameter { name, is_pack })
}

/// The token that names a parameter.
fn name(code: &Code<'_>, piece: Range<usize>) -> Option<usize> {
    let mut has_type = false;
    let mut found = None;
    let mut at = piece.start;
    while at < piece.end {
        match code.punct(at) {
            // A pointer to a function, or to an array: its name stands in the first parentheses.
            "(" if has_type
                && matches!(code.punct(at + 1), "*" | "&")
                && code.ident(at + 2).is_some() =>
            {
                return Some(at + 2);
            }
            "(" | "{" => at = code.partner(at).unwrap_or(at),
            "[" => break,
            "<" => {
                at = code.angle_close(at).unwrap_or(at);
                (has_type, found) = (true, None);
            }
            "::" => found = None,
            _ => {}
        }
        if let Some(word) = code.ident(at)
            && !QUALIFIERS.contains(&word)
        {
            let is_scoped = at > piece.start && code.is_punct(at - 1, "::");
            let is_type = TYPES.contains(&word);
            found = (has_type && !is_scoped && !is_type).then_some(at);
            has_type = true;
        }
        at += 1;
    }
    found.filter(|at| code.tokens[*at].kind == TokenKind::Ident)
}
