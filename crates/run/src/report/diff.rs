//! What changed between two sources, line by line.

/// A line of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change<'a> {
    /// In both.
    Kept(&'a str),
    /// Only in the first.
    Removed(&'a str),
    /// Only in the second.
    Added(&'a str),
    /// So many lines of both are left out.
    Skipped(usize),
}

/// Lines shown around a change.
const CONTEXT: usize = 3;
/// Sources longer than this are not compared line by line: the table would be too large.
const LINES: usize = 2000;

/// The shortest way from `from` to `to`, with a little of what stays around it.
pub fn diff<'a>(from: &'a str, to: &'a str) -> Vec<Change<'a>> {
    let (from, to): (Vec<&str>, Vec<&str>) = (
        from.lines().take(LINES).collect(),
        to.lines().take(LINES).collect(),
    );
    fold(&changes(&from, &to))
}

/// By the longest common subsequence.
fn changes<'a>(from: &[&'a str], to: &[&'a str]) -> Vec<Change<'a>> {
    let width = to.len() + 1;
    // common[i * width + j]: the longest common subsequence of from[i..] and to[j..].
    let mut common = vec![0u32; (from.len() + 1) * width];
    for i in (0..from.len()).rev() {
        for j in (0..to.len()).rev() {
            common[i * width + j] = if from[i] == to[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut changes = Vec::new();
    while i < from.len() || j < to.len() {
        if i < from.len() && j < to.len() && from[i] == to[j] {
            changes.push(Change::Kept(from[i]));
            i += 1;
            j += 1;
        } else if j == to.len()
            || (i < from.len() && common[(i + 1) * width + j] >= common[i * width + j + 1])
        {
            changes.push(Change::Removed(from[i]));
            i += 1;
        } else {
            changes.push(Change::Added(to[j]));
            j += 1;
        }
    }
    changes
}

/// Leaves out kept lines that are far from any change.
fn fold<'a>(changes: &[Change<'a>]) -> Vec<Change<'a>> {
    let is_kept = |change: &Change<'_>| matches!(change, Change::Kept(_));
    let near = |at: usize| {
        let range = at.saturating_sub(CONTEXT)..(at + CONTEXT + 1).min(changes.len());
        changes[range].iter().any(|change| !is_kept(change))
    };
    let mut folded = Vec::new();
    let mut skipped = 0;
    for (at, change) in changes.iter().enumerate() {
        if is_kept(change) && !near(at) {
            skipped += 1;
            continue;
        }
        if skipped > 0 {
            folded.push(Change::Skipped(skipped));
            skipped = 0;
        }
        folded.push(*change);
    }
    if skipped > 0 {
        folded.push(Change::Skipped(skipped));
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_told_with_its_surroundings() {
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
