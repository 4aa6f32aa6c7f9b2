//! The nodes of one iteration, by stage.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::node::Node;
use crate::stage::Stage;

/// The nodes of one iteration, by stage, in the order of creation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Pool {
    nodes: BTreeMap<Stage, Vec<Node>>,
}

impl Pool {
    /// Puts a node under its stage.
    pub fn add(&mut self, node: Node) {
        self.nodes.entry(node.stage).or_default().push(node);
    }

    /// The stages that have nodes, in order.
    pub fn stages(&self) -> impl Iterator<Item = Stage> {
        self.nodes.keys().copied()
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.values().map(Vec::len).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The correct nodes of a stage without copies, fastest first. The fastest copy represents the
    /// others, and ties keep the order of creation.
    pub fn correct(&self, stage: Stage) -> Vec<&Node> {
        let mut nodes: Vec<(&Node, f64)> = self
            .of(stage)
            .iter()
            .filter_map(|node| Some((node, node.rank()?)))
            .collect();
        nodes.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut seen = BTreeSet::new();
        nodes
            .into_iter()
            .map(|(node, _)| node)
            .filter(|node| seen.insert(&node.normal))
            .collect()
    }

    /// The failed nodes of a stage that have code to repair, without copies.
    pub fn broken(&self, stage: Stage) -> Vec<&Node> {
        let mut seen = BTreeSet::new();
        self.of(stage)
            .iter()
            .filter(|node| node.is_broken() && seen.insert(&node.normal))
            .collect()
    }

    /// The fastest `count` of each stage, as the initial pool of the next iteration.
    #[must_use]
    pub fn elites(&self, count: usize) -> Self {
        let mut pool = Self::default();
        for stage in self.stages() {
            self.correct(stage)
                .into_iter()
                .take(count)
                .for_each(|node| pool.add(node.clone()));
        }
        pool
    }

    fn of(&self, stage: Stage) -> &[Node] {
        self.nodes.get(&stage).map_or(&[], Vec::as_slice)
    }
}
