//! The lines that changed between two sources.

use similar::{Algorithm, ChangeTag, TextDiff};

/// A line of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change<'a> {
    /// In both.
    Kept(&'a str),
    /// Only in the first.
    Removed(&'a str),
    /// Only in the second.
    Added(&'a str),
    /// This many unchanged lines are left out.
    Skipped(usize),
}

/// Lines shown around a change.
const CONTEXT: usize = 3;

/// The changes from `from` to `to`, with a few unchanged lines around each.
pub fn diff<'a>(from: &'a str, to: &'a str) -> Vec<Change<'a>> {
    let (from, to): (Vec<&str>, Vec<&str>) = (from.lines().collect(), to.lines().collect());
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .diff_slices(&from, &to);
    let mut shown = Vec::new();
    let mut next = 0;
    for group in diff.grouped_ops(CONTEXT) {
        let first = group.first().map_or(next, |op| op.old_range().start);
        if first > next {
            shown.push(Change::Skipped(first - next));
        }
        next = group.last().map_or(next, |op| op.old_range().end);
        for op in &group {
            shown.extend(diff.iter_changes(op).map(|change| match change.tag() {
                ChangeTag::Equal => Change::Kept(change.value()),
                ChangeTag::Delete => Change::Removed(change.value()),
                ChangeTag::Insert => Change::Added(change.value()),
            }));
        }
    }
    if from.len() > next {
        shown.push(Change::Skipped(from.len() - next));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_its_surroundings() {
        let from = (0..20)
            .map(|line| line.to_string())
            .collect::<Vec<_>>()
            .join("\n");
        let to = from.replace("10\n", "ten\n");
        let expect = [
            Change::Skipped(7),
            Change::Kept("7"),
            Change::Kept("8"),
            Change::Kept("9"),
            Change::Removed("10"),
            Change::Added("ten"),
            Change::Kept("11"),
            Change::Kept("12"),
            Change::Kept("13"),
            Change::Skipped(6),
        ];
        assert_eq!(diff(&from, &to), expect);
    }

    #[test]
    fn equal_and_empty_sources_have_no_changes() {
        assert_eq!(diff("a\nb", "a\nb"), [Change::Skipped(2)]);
        assert_eq!(diff("", ""), []);
        assert_eq!(diff("", "a"), [Change::Added("a")]);
    }
}
