//! Everything about one candidate: its source, what changed from its parent, and how it fared.

use std::path::Path;

use hotloop_flow::{Measured, Verdict};
use serde::Serialize;

use super::diff::{Change, diff};
use super::highlight::{self, Piece};
use super::listing::{self, Row};
use crate::event::Place;
use crate::state::RunState;
use crate::store::{self, StoreError};

/// Maximum length of a line and of a source that a page shows. The file has the rest.
const LINE: usize = 2000;
const SOURCE: usize = 200_000;
/// Maximum number of children that are listed, fastest first.
const CHILDREN: usize = 50;

/// One candidate of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Detail {
    #[serde(flatten)]
    pub row: Row,
    /// What the verdict says.
    pub why: String,
    pub advantage: Option<f64>,
    /// Length of the answer in tokens.
    pub tokens: usize,
    pub measured: Option<Measured>,
    pub peak_fraction: Option<f64>,
    pub baseline_ratio: Option<f64>,
    /// Speeds of fresh timings, if it was confirmed. `None` where one failed.
    pub fresh: Vec<Option<f64>>,
    /// The source in coloured pieces; none for malformed answers.
    pub pieces: Vec<Piece>,
    /// What changed from the parent or the seed.
    pub changes: Vec<Line>,
    /// The fastest candidates made from it.
    pub children: Vec<Row>,
    /// The prompt and the answer as text, where the policy's tokens can be read.
    pub prompt: Option<String>,
    pub answer: Option<String>,
}

/// A line of a difference: `+` added, `-` removed, ` ` kept, or `@` a note on lines left out.
pub type Line = (char, String);

/// The candidate at a place, if a step with that place has finished.
pub fn of(state: &RunState, directory: &Path, at: Place) -> Result<Option<Detail>, StoreError> {
    let Some((_, group, member)) = listing::all(state).find(|(place, ..)| *place == at) else {
        return Ok(None);
    };
    let row = Row::of(at, group, member);
    let pace = state.pace();
    let (mut pieces, mut changes, mut children, mut fresh) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    if let Some(hash) = &row.hash {
        let source = cut(&store::source(directory, hash)?);
        let parent = match &row.parent {
            Some(parent) => store::source(directory, parent)?,
            None => store::seed(directory)?,
        };
        changes = lines(&cut(&parent), &source);
        pieces = highlight::c(&source);
        children = fastest_children(state, hash);
        let judged = state.confirmed.get(hash).into_iter().flatten();
        fresh = judged
            .map(|judgement| judgement.verdict.correct()?.speed(pace))
            .collect();
    }
    let measured = member.verdict.as_ref().and_then(Verdict::measured);
    Ok(Some(Detail {
        why: member
            .verdict
            .as_ref()
            .map_or("the machine failed to judge it".to_owned(), Verdict::detail),
        advantage: member.advantage,
        tokens: member.tokens,
        peak_fraction: measured.and_then(Measured::peak_fraction),
        baseline_ratio: measured.and_then(Measured::baseline_ratio),
        measured: measured.cloned(),
        fresh,
        pieces,
        changes,
        children,
        prompt: None,
        answer: None,
        row,
    }))
}

/// Where a candidate was born.
pub fn birth(state: &RunState, hash: &str) -> Option<Place> {
    let mut all = listing::all(state);
    all.find(|(_, _, member)| member.hash.as_deref() == Some(hash))
        .map(|(at, ..)| at)
}

fn fastest_children(state: &RunState, hash: &str) -> Vec<Row> {
    let made = listing::all(state).filter(|(_, group, member)| {
        group.asked.parent.as_deref() == Some(hash) && member.speed.is_some()
    });
    let mut rows: Vec<Row> = made
        .map(|(at, group, member)| Row::of(at, group, member))
        .collect();
    rows.sort_by(|a, b| b.speed.unwrap_or(0.0).total_cmp(&a.speed.unwrap_or(0.0)));
    rows.truncate(CHILDREN);
    rows
}

/// The difference between two sources.
pub(super) fn lines(from: &str, to: &str) -> Vec<Line> {
    let line = |change| match change {
        Change::Kept(line) => (' ', line.to_owned()),
        Change::Removed(line) => ('-', line.to_owned()),
        Change::Added(line) => ('+', line.to_owned()),
        Change::Skipped(1) => ('@', "1 line is the same".to_owned()),
        Change::Skipped(lines) => ('@', format!("{lines} lines are the same")),
    };
    diff(from, to).into_iter().map(line).collect()
}

/// The source without what no page can show, with a note in its place.
pub(super) fn cut(source: &str) -> String {
    let mut shown = String::with_capacity(source.len().min(SOURCE));
    for line in source.split_inclusive('\n') {
        let end = line.char_indices().nth(LINE).map(|(at, _)| at);
        match end {
            Some(end) => {
                let rest = line[end..].trim_end().chars().count();
                shown.push_str(&line[..end]);
                put!(shown, " … {rest} more characters\n");
            }
            None => shown.push_str(line),
        }
        if shown.len() > SOURCE {
            shown.push_str("… the file has the rest\n");
            break;
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_megabyte_is_cut_and_short_ones_stay() {
        let plain = "int a;\n\nint b;";
        assert_eq!(cut(plain), plain);
        let long = format!("{}\nint b;\n", "é".repeat(1 << 20));
        let shown = cut(&long);
        assert!(
            shown.ends_with(" … 1046576 more characters\nint b;\n"),
            "{}",
            &shown[shown.len() - 80..]
        );
        let many = "int a;\n".repeat(100_000);
        assert!(cut(&many).len() < SOURCE + 100 && cut(&many).ends_with("the file has the rest\n"));
    }
}
