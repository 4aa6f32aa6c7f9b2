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
/// Up to so many lines, of both sources together, are compared with each other. Comparing takes
/// time in proportion to their square, and a program of a quarter of a megabyte may have 100,000.
const COMPARED: usize = 6000;

/// The changes from `from` to `to`, with a few unchanged lines around each.
pub fn diff<'a>(from: &'a str, to: &'a str) -> Vec<Change<'a>> {
    let (from, to): (Vec<&str>, Vec<&str>) = (from.lines().collect(), to.lines().collect());
    let same = |(a, b): &(&&str, &&str)| a == b;
    let begins = from.iter().zip(&to).take_while(same).count();
    let (old, new) = (&from[begins..], &to[begins..]);
    let ends = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take_while(same)
        .count();
    let (old, new) = (&old[..old.len() - ends], &new[..new.len() - ends]);
    if old.len() + new.len() > COMPARED {
        return replaced(&from, old.len(), new, begins);
    }
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

/// One change: `new` in the place of the `old` lines behind the first `begins`.
fn replaced<'a>(from: &[&'a str], old: usize, new: &[&'a str], begins: usize) -> Vec<Change<'a>> {
    let skipped = |lines: usize| (lines > 0).then_some(Change::Skipped(lines));
    let before = begins.saturating_sub(CONTEXT);
    let end = begins + old;
    let after = (end + CONTEXT).min(from.len());
    let kept = |lines: &[&'a str]| {
        lines
            .iter()
            .map(|line| Change::Kept(line))
            .collect::<Vec<_>>()
    };
    let mut shown: Vec<Change<'a>> = skipped(before).into_iter().collect();
    shown.extend(kept(&from[before..begins]));
    shown.extend(from[begins..end].iter().map(|line| Change::Removed(line)));
    shown.extend(new.iter().map(|line| Change::Added(line)));
    shown.extend(kept(&from[end..after]));
    shown.extend(skipped(from.len() - after));
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

    /// Comparing 100,000 lines with each other would take hours.
    #[test]
    fn very_many_changed_lines_are_one_change() {
        let program = |line: &dyn Fn(usize) -> String| {
            let middle: String = (0..100_000).map(line).collect();
            format!("1\n2\n3\n4\n5\n{middle}6\n7\n8\n9\n10\n")
        };
        let from = program(&|line| format!("{line}\n"));
        let to = program(&|line| format!("{}\n", 1_000_000 - line));
        let begin = std::time::Instant::now();
        let changes = diff(&from, &to);
        assert!(begin.elapsed().as_secs() < 10, "{:?}", begin.elapsed());
        assert_eq!(changes.len(), 2 * 100_000 + 8);
        assert_eq!(
            changes[..5],
            [
                Change::Skipped(2),
                Change::Kept("3"),
                Change::Kept("4"),
                Change::Kept("5"),
                Change::Removed("0"),
            ]
        );
        assert_eq!(
            changes[changes.len() - 5..],
            [
                Change::Added("900001"),
                Change::Kept("6"),
                Change::Kept("7"),
                Change::Kept("8"),
                Change::Skipped(2),
            ]
        );
        // Few changes among many lines are still told apart.
        let to = from.replace("\n500\n", "\nfive hundred\n");
        assert_eq!(diff(&from, &to).len(), 10);
    }
}
