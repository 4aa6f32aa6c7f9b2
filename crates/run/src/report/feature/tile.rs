//! A kernel sums products in accumulators, and keeps a tile of its output in registers.

use std::collections::{BTreeMap, BTreeSet};

use hotloop_flow::language::c::lex::{Token, TokenKind};

use super::nest::Nest;

/// Where products are summed, and in what.
pub(super) struct Sums {
    /// Elements by the variable's name.
    pub(super) accumulators: BTreeMap<String, u64>,
    /// The first such statement.
    at: Option<usize>,
}

/// Finds `x = fmadd(a, b, x)`, `x = add(x, mul(a, b))` and `x += a * b` for local `x`.
pub(super) fn sums(nest: &Nest<'_>) -> Sums {
    let mut sums = Sums {
        accumulators: BTreeMap::new(),
        at: None,
    };
    let pointers = pointers(nest);
    for (at, token) in nest.tokens.iter().enumerate() {
        if !(token.is_punct("=") || token.is_punct("+=")) || nest.around(at).next().is_none() {
            continue;
        }
        let Some((name, indexed)) = target(nest, at) else {
            continue;
        };
        // The head of a loop only counts iterations.
        let Some(end) = statement_end(nest, at) else {
            continue;
        };
        let right = outside_brackets(&nest.tokens[at + 1..end]);
        let again = token.is_punct("+=") || right.iter().any(|token| token.is_ident(name));
        let product = right.iter().enumerate().any(|(index, token)| {
            (token.is_punct("*") && index > 0)
                || (token.kind == TokenKind::Ident
                    && ["fmadd", "fnmadd", "fma", "_mul_"]
                        .iter()
                        .any(|word| token.text.contains(word)))
        });
        if !again || !product {
            continue;
        }
        sums.at.get_or_insert(at);
        if !pointers.contains(name) {
            let elements = if indexed { elements(nest, name) } else { 1 };
            sums.accumulators.insert(name.to_owned(), elements);
        }
    }
    sums
}

/// The semicolon after `at`; `None` inside the head of a loop.
fn statement_end(nest: &Nest<'_>, at: usize) -> Option<usize> {
    let mut depth = 0i32;
    for (index, token) in nest.tokens.iter().enumerate().skip(at + 1) {
        depth += i32::from(token.is_punct("(")) - i32::from(token.is_punct(")"));
        if depth < 0 {
            return None;
        }
        if token.is_punct(";") {
            return Some(index);
        }
    }
    Some(nest.tokens.len())
}

/// The variable that the assignment at `at` writes, and whether it writes an element of an array.
fn target<'n>(nest: &'n Nest<'_>, at: usize) -> Option<(&'n str, bool)> {
    let mut index = at.checked_sub(1)?;
    let mut indexed = false;
    while nest.is_punct(index, "]") {
        indexed = true;
        index = (0..index)
            .rev()
            .find(|open| nest.is_punct(*open, "[") && nest.closing(*open) == Some(index))?;
        index = index.checked_sub(1)?;
    }
    let token = nest
        .tokens
        .get(index)
        .filter(|token| token.kind == TokenKind::Ident)?;
    Some((token.text.as_ref(), indexed))
}

fn outside_brackets<'n, 'a>(tokens: &'n [Token<'a>]) -> Vec<&'n Token<'a>> {
    let mut depth = 0i32;
    let mut kept = Vec::new();
    for token in tokens {
        depth += i32::from(token.is_punct("["));
        if depth == 0 {
            kept.push(token);
        }
        depth -= i32::from(token.is_punct("]"));
    }
    kept
}

/// The number of elements of a local array: the product of its declared dimensions.
fn elements(nest: &Nest<'_>, name: &str) -> u64 {
    let declared = |at: &usize| {
        nest.tokens[*at].is_ident(name)
            && nest.is_punct(at + 1, "[")
            && at.checked_sub(1).is_some_and(|before| {
                nest.tokens[before].kind == TokenKind::Ident || nest.is_punct(before, ",")
            })
    };
    let Some(mut at) = (0..nest.tokens.len()).find(declared) else {
        return 1;
    };
    let mut product = 1;
    at += 1;
    while nest.is_punct(at, "[") {
        let Some(close) = nest.closing(at) else { break };
        product = u64::saturating_mul(
            product,
            nest.value(&nest.tokens[at + 1..close]).unwrap_or(1),
        );
        at = close + 1;
    }
    product
}

/// The names of pointers: those after a `*` in a declaration.
pub(super) fn pointers<'n>(nest: &'n Nest<'_>) -> BTreeSet<&'n str> {
    let types = [
        "double",
        "float",
        "int",
        "const",
        "__m512d",
        "__m256d",
        "restrict",
        "__restrict",
        "__restrict__",
    ];
    let mut names = BTreeSet::new();
    for at in 0..nest.tokens.len() {
        let behind_type = at > 0 && types.iter().any(|word| nest.tokens[at - 1].is_ident(word));
        if behind_type && nest.is_punct(at, "*") {
            let name = nest.tokens[at + 1..].iter().take(3).find(|token| {
                token.kind == TokenKind::Ident && !types.iter().any(|word| token.is_ident(word))
            });
            names.extend(name.map(|token| token.text.as_ref()));
        }
    }
    names
}

pub(super) fn register_tile(
    nest: &Nest<'_>,
    blocks: &BTreeSet<usize>,
    sums: &Sums,
    simd_bits: Option<u32>,
    accumulators: u64,
) -> Option<(u64, u64)> {
    let at = sums.at?;
    let steps: Vec<u64> = (0..nest.loops.len())
        .filter(|index| nest.loops[*index].contains(at) && !blocks.contains(index))
        .filter_map(|index| nest.loops[index].step)
        .collect();
    // The innermost loops run over the terms of the sum; those with steps hold the tile.
    let wide: Vec<u64> = steps.iter().copied().filter(|step| *step > 1).collect();
    let lanes = u64::from(simd_bits.unwrap_or(64) / 64);
    let elements = accumulators.saturating_mul(lanes);
    match wide[..] {
        [.., rows, columns] if rows.saturating_mul(columns) >= accumulators => {
            Some((rows, columns))
        }
        [columns] => Some((1, columns)),
        [] | [..] if elements > 1 => Some((1, elements)),
        _ => None,
    }
}
