//! An archive with PUCT, as in Yuksekgonul et al., "Learning to Discover at Test Time"
//! (TTT-Discover, arXiv 2601.16175).
//!
//! Every correct program is a node below the one that its prompt showed. The value of a node is its
//! best child, because a search for one fast program asks how far a parent can lead, not how good
//! it is. A node scores `Q + scale P sqrt(1 + T) / (1 + n)`: the value Q, a prior P by rank, the
//! visits n of the node and of everything below it, and the number T of all expansions. `scale` is
//! the spread of values, so the unit of speeds does not matter.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::archive::{Archive, Root};
use super::choice::{Parent, Settings};
use super::node::Node;
use crate::prompt::Role;
use crate::random::Random;
use crate::stage::Stage;

/// How many children of one expansion stay: the fastest. Others are near copies of them.
const CHILDREN: usize = 2;

/// Every program worth expanding, and the seed at the root.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tree {
    /// In the order in which they were found. The seed is not among them.
    kept: Vec<Kept>,
    /// The seed's counts.
    root: Counts,
    /// All expansions.
    expansions: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Kept {
    node: Node,
    /// log2 of its speed, because each doubling counts the same.
    value: f64,
    /// Where its parent is; `None` for the seed.
    parent: Option<usize>,
    counts: Counts,
}

/// What expansions of a node showed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Counts {
    /// Expansions of the node itself.
    own: u64,
    /// Expansions of the node and of everything below it.
    visits: u64,
    /// The value of its best child so far.
    best_child: Option<f64>,
}

/// A node that may be chosen.
struct Choice {
    /// `None` for the seed.
    at: Option<usize>,
    value: f64,
    counts: Counts,
}

impl Tree {
    /// The node of a candidate, or of a copy of it.
    fn place(&self, hash: &str) -> Option<usize> {
        self.kept.iter().position(|one| one.node.hash == hash)
    }

    fn counts(&mut self, at: Option<usize>) -> &mut Counts {
        match at {
            Some(at) => &mut self.kept[at].counts,
            None => &mut self.root,
        }
    }

    /// A node and everything above it, the seed left out.
    fn lineage(&self, at: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(at), |at| self.kept[*at].parent)
    }

    /// All nodes by score, best first.
    fn ranked(&self, root: Root<'_>) -> Vec<Choice> {
        let seed = Choice {
            at: None,
            // A seed that was not judged is no better than the worst.
            value: root.speed.map_or(f64::NEG_INFINITY, f64::log2),
            counts: self.root,
        };
        let found = self.kept.iter().enumerate().map(|(at, one)| Choice {
            at: Some(at),
            value: one.value,
            counts: one.counts,
        });
        let mut all: Vec<Choice> = std::iter::once(seed).chain(found).collect();
        all.sort_by(|a, b| b.value.total_cmp(&a.value));
        let finite = || {
            all.iter()
                .map(|one| one.value)
                .filter(|one| one.is_finite())
        };
        let (low, high) = (
            finite().fold(f64::INFINITY, f64::min),
            finite().fold(f64::NEG_INFINITY, f64::max),
        );
        let scale = if high > low { high - low } else { 1.0 };
        let count = all.len() as f64;
        let explored = (1.0 + self.expansions as f64).sqrt();
        let score = |rank: usize, one: &Choice| {
            let prior = (count - rank as f64) / (count * (count + 1.0) / 2.0);
            let value = one.counts.best_child.unwrap_or(one.value.max(low));
            value + scale * prior * explored / (1.0 + one.counts.visits as f64)
        };
        let mut scored: Vec<(f64, Choice)> = all
            .into_iter()
            .enumerate()
            .map(|(rank, one)| (score(rank, &one), one))
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        scored.into_iter().map(|(_, one)| one).collect()
    }

    fn parent(&self, choice: &Choice, settings: Settings) -> Parent {
        let node = choice.at.map(|at| &self.kept[at].node);
        let stage = node.map_or(settings.first_stage(), |node| node.stage);
        // Each further expansion goes one stage deeper, and then begins again.
        let stages = u64::from(settings.last.number().saturating_sub(stage.number())) + 1;
        let deeper = if settings.deepening && settings.stages {
            choice.counts.own % stages
        } else {
            0
        };
        let role = match (node, deeper) {
            (None, _) => Role::Explore,
            (Some(_), 0) => Role::Improve,
            (Some(_), _) => Role::Deepen,
        };
        Parent {
            hash: node.map(|node| node.hash.clone()),
            role,
            stage: Stage::numbered(stage.number() + deeper as u8),
        }
    }
}

impl Archive for Tree {
    fn grow(&mut self, parent: Option<&str>, children: Vec<Node>) {
        // A parent that failed, as a search of another kind may choose, has no place in the tree.
        let parent = parent.and_then(|hash| self.place(hash));
        let mut correct: Vec<(f64, Node)> = children
            .into_iter()
            .filter_map(|node| Some((node.rank().filter(|speed| *speed > 0.0)?.log2(), node)))
            .collect();
        correct.sort_by(|a, b| b.0.total_cmp(&a.0));
        self.expansions += 1;
        let best = correct.first().map(|(value, _)| *value);
        let counts = self.counts(parent);
        counts.own += 1;
        counts.best_child = counts.best_child.into_iter().chain(best).reduce(f64::max);
        let above: Vec<usize> = parent.map_or(Vec::new(), |at| self.lineage(at).collect());
        for at in above {
            self.kept[at].counts.visits += 1;
        }
        self.root.visits += 1;
        let mut known: BTreeSet<String> = self
            .kept
            .iter()
            .map(|one| one.node.normal.clone())
            .collect();
        let fresh = correct
            .into_iter()
            .filter(|(_, node)| known.insert(node.normal.clone()));
        let fresh: Vec<(f64, Node)> = fresh.take(CHILDREN).collect();
        self.kept
            .extend(fresh.into_iter().map(|(value, node)| Kept {
                node,
                value,
                parent,
                counts: Counts::default(),
            }));
    }

    /// The nodes with the best scores. A node and its ancestor are not chosen together while others
    /// are left, so that one line does not fill the iteration.
    fn select(&self, root: Root<'_>, settings: Settings, _: &mut Random) -> Vec<Parent> {
        let ranked = self.ranked(root);
        let is_copy = |choice: &&Choice| {
            let node = choice.at.map(|at| &self.kept[at].node);
            node.is_some_and(|node| node.normal == root.normal)
        };
        let mut rest = Vec::new();
        let mut chosen: Vec<&Choice> = Vec::new();
        // The nodes above each chosen one.
        let mut above: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for choice in ranked.iter().filter(|choice| !is_copy(choice)) {
            let Some(at) = choice.at else {
                chosen.push(choice);
                continue;
            };
            let lineage: BTreeSet<usize> = self.lineage(at).collect();
            let related = above
                .iter()
                .any(|(other, theirs)| lineage.contains(other) || theirs.contains(&at));
            if related {
                rest.push(choice);
            } else {
                above.insert(at, lineage);
                chosen.push(choice);
            }
        }
        chosen.extend(rest);
        let chosen = chosen.into_iter().take(settings.parents.max(1));
        chosen.map(|choice| self.parent(choice, settings)).collect()
    }
}

#[cfg(test)]
mod tests;
