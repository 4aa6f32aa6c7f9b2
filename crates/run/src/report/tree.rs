//! The search tree: which candidate was made from which. Only its trunk is drawn, because a run has
//! thousands of leaves: the fastest candidates, the parents of the search, and what they came from.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hotloop_flow::Label;
use serde::Serialize;

use super::listing::{self, Row};
use crate::state::RunState;

/// Maximum number of candidates that are drawn.
const DRAWN: usize = 160;
/// How many of the fastest candidates are among them.
const FASTEST: usize = 40;

/// The trunk of a search tree.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Tree {
    /// In the order of their births, so that parents come before children.
    pub nodes: Vec<Node>,
    /// Distinct candidates that are not drawn.
    pub left_out: usize,
}

/// A candidate that is drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Node {
    #[serde(flatten)]
    pub row: Row,
    /// How many answers were asked for with it as the parent.
    pub asked: usize,
    /// The verdicts of these answers.
    pub verdicts: BTreeMap<Label, usize>,
}

/// The trunk of a run's search tree.
pub fn of(state: &RunState) -> Tree {
    let mut births: HashMap<&str, Row> = HashMap::new();
    let mut order: Vec<&str> = Vec::new();
    let mut children: HashMap<&str, (usize, BTreeMap<Label, usize>)> = HashMap::new();
    for (at, group, member) in listing::all(state) {
        if let Some(parent) = group.asked.parent.as_deref() {
            let (asked, verdicts) = children.entry(parent).or_default();
            *asked += 1;
            if let Some(verdict) = &member.verdict {
                *verdicts.entry(verdict.label()).or_default() += 1;
            }
        }
        let Some(hash) = member.hash.as_deref() else {
            continue;
        };
        births.entry(hash).or_insert_with(|| {
            order.push(hash);
            Row::of(at, group, member)
        });
    }
    let chosen = chosen(state, &births);
    let nodes: Vec<Node> = order
        .iter()
        .filter(|hash| chosen.contains(**hash))
        .map(|hash| {
            let (asked, verdicts) = children.remove(hash).unwrap_or_default();
            Node {
                row: births[hash].clone(),
                asked,
                verdicts,
            }
        })
        .collect();
    Tree {
        left_out: order.len() - nodes.len(),
        nodes,
    }
}

/// The best code, the fastest candidates and the last parents, each with its ancestors.
fn chosen<'a>(state: &'a RunState, births: &'a HashMap<&str, Row>) -> BTreeSet<&'a str> {
    let mut fastest: Vec<(&str, f64)> = births
        .iter()
        .filter_map(|(hash, row)| Some((*hash, row.speed?)))
        .collect();
    fastest.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    let best = state.best.iter().map(|best| best.hash.as_str());
    let parents = state.iterations.iter().rev();
    let parents = parents.flat_map(|iteration| &iteration.parents);
    let wanted = best
        .chain(fastest.into_iter().take(FASTEST).map(|(hash, _)| hash))
        .chain(parents.filter_map(|parent| parent.hash.as_deref()));
    let mut chosen = BTreeSet::new();
    for hash in wanted {
        // A copy of an ancestor would make the path circular, so it ends where it meets itself.
        let mut path = BTreeSet::new();
        let mut next = Some(hash);
        while let Some((hash, row)) = next.and_then(|hash| births.get_key_value(hash)) {
            // The ancestors of a chosen candidate are chosen, too.
            if chosen.contains(hash) || chosen.len() + path.len() > DRAWN || !path.insert(*hash) {
                break;
            }
            next = row.parent.as_deref();
        }
        if chosen.len() + path.len() <= DRAWN {
            chosen.extend(path);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use hotloop_flow::language::c::stages;

    use super::*;
    use crate::fixture::{asked, correct, group, step, wrong};

    #[test]
    fn the_trunk_holds_the_fastest_with_their_ancestors() {
        let child = |hash: &str, parent: Option<&str>, verdict| {
            let mut asked = asked(None, stages::ALL);
            asked.parent = parent.map(str::to_owned);
            group(asked, hash, [verdict])
        };
        let mut state = RunState::default();
        state
            .steps
            .push(step(0, vec![child("root", None, wrong())]));
        state
            .steps
            .push(step(1, vec![child("fast", Some("root"), correct(9.0))]));
        // A copy of its own ancestor.
        state
            .steps
            .push(step(2, vec![child("root", Some("fast"), wrong())]));
        let many: Vec<_> = (0..3 * DRAWN)
            .map(|at| child(&format!("broken{at}"), Some("fast"), wrong()))
            .collect();
        state.steps.push(step(3, many));
        let tree = of(&state);
        let drawn: Vec<&str> = tree
            .nodes
            .iter()
            .filter_map(|node| node.row.hash.as_deref())
            .collect();
        assert_eq!(drawn, ["root", "fast"]);
        assert_eq!(tree.left_out, 3 * DRAWN);
        assert_eq!(tree.nodes[1].asked, 3 * DRAWN + 1);
        assert_eq!(tree.nodes[1].verdicts[&Label::Wrong], 3 * DRAWN + 1);
    }
}
