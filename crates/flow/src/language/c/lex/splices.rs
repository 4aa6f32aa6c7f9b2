//! Lines that end in a backslash: joined for the lexer, and counted for positions.

use super::token::Token;

/// A place where a spliced line was joined.
pub(super) struct Cut {
    /// Position in the joined text.
    at: usize,
    /// Bytes taken out up to here.
    bytes: usize,
    /// Lines joined up to here.
    lines: u32,
}

/// Joins lines that end in a backslash (spaces may follow it, as compilers allow).
pub(super) fn join_lines(source: &str) -> Option<(String, Vec<Cut>)> {
    let mut joined = String::new();
    let mut cuts: Vec<Cut> = Vec::new();
    let mut kept = 0;
    for (at, _) in source.match_indices('\\') {
        let rest = &source[at + 1..];
        let blanks = rest
            .bytes()
            .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c))
            .count();
        if rest.as_bytes().get(blanks) != Some(&b'\n') {
            continue;
        }
        joined.push_str(&source[kept..at]);
        kept = at + 1 + blanks + 1;
        let lines = cuts.len() as u32 + 1;
        cuts.push(Cut {
            at: joined.len(),
            bytes: kept - joined.len(),
            lines,
        });
    }
    if cuts.is_empty() {
        return None;
    }
    joined.push_str(&source[kept..]);
    Some((joined, cuts))
}

fn cut_before(cuts: &[Cut], at: usize) -> Option<&Cut> {
    cuts[..cuts.partition_point(|cut| cut.at <= at)].last()
}

pub(super) fn lines_before(cuts: &[Cut], at: usize) -> u32 {
    cut_before(cuts, at).map_or(0, |cut| cut.lines)
}

pub(super) fn unjoin(cuts: &[Cut], offset: usize, end: usize) -> (usize, usize) {
    let bytes = |at| cut_before(cuts, at).map_or(0, |cut| cut.bytes);
    // The end follows its last byte, not a splice after it.
    (
        offset + bytes(offset),
        end + bytes(end.saturating_sub(1).max(offset)),
    )
}

pub(super) fn unjoin_token(mut token: Token<'static>, cuts: &[Cut]) -> Token<'static> {
    token.line += lines_before(cuts, token.offset);
    (token.offset, token.end) = unjoin(cuts, token.offset, token.end);
    token
}
