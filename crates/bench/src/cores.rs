//! Which cores a slot gets: whole physical cores of one memory domain.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::sys;

/// On a machine with fewer physical cores, anything that runs during a timing disturbs it.
const SMALL_MACHINE: usize = 4;

/// One physical core: the logical cores that share it, and its memory domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Core {
    /// Logical cores. The first is used, and the others stay idle.
    pub(crate) siblings: Vec<usize>,
    /// The memory domain.
    pub(crate) node: usize,
}

/// The physical cores that this process may use, grouped by domain.
pub(crate) fn usable() -> Vec<Core> {
    let allowed = sys::affinity(0).unwrap_or_else(|_| vec![0]);
    let mut cores: BTreeSet<(usize, Vec<usize>)> = BTreeSet::new();
    for core in &allowed {
        let siblings: Vec<usize> = siblings(*core)
            .into_iter()
            .filter(|other| allowed.contains(other))
            .collect();
        cores.insert((
            node(*core),
            if siblings.is_empty() {
                vec![*core]
            } else {
                siblings
            },
        ));
    }
    cores
        .into_iter()
        .map(|(node, siblings)| Core { siblings, node })
        .collect()
}

/// The cores of `slots` timing slots of `threads` threads each, the cores for compiling, and
/// whether the two take turns.
///
/// A slot does not span two domains if it fits into one. On a small machine, or if slots use all
/// cores, compiling uses every core in turns with timing.
pub(crate) fn divide(
    cores: &[Core],
    slots: usize,
    threads: usize,
) -> (Vec<Vec<usize>>, Vec<usize>, bool) {
    let mut free: Vec<&Core> = cores.iter().collect();
    let mut given = Vec::new();
    for _ in 0..slots.max(1) {
        let mut by_node: BTreeMap<usize, Vec<&Core>> = BTreeMap::new();
        for core in free.iter().rev() {
            by_node.entry(core.node).or_default().push(core);
        }
        // The last cores come first, because the system does its own work on the first one.
        let fitting = by_node.into_values().find(|domain| domain.len() >= threads);
        let chosen: Vec<&Core> = fitting.unwrap_or_else(|| free.iter().rev().copied().collect());
        let mut slot: Vec<&Core> = chosen.into_iter().take(threads).collect();
        slot.reverse();
        free.retain(|core| !slot.contains(core));
        let mut logical: Vec<usize> = slot.iter().map(|core| core.siblings[0]).collect();
        if logical.is_empty() {
            logical = cores.iter().take(1).map(|core| core.siblings[0]).collect();
        }
        given.push(logical);
    }
    let rest: Vec<usize> = free.iter().flat_map(|core| core.siblings.clone()).collect();
    let take_turns = rest.is_empty() || cores.len() < SMALL_MACHINE;
    let compiling = if take_turns {
        cores
            .iter()
            .flat_map(|core| core.siblings.clone())
            .collect()
    } else {
        rest
    };
    (given, compiling, take_turns)
}

fn siblings(core: usize) -> Vec<usize> {
    let path = format!("/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list");
    std::fs::read_to_string(path).map_or_else(|_| vec![core], |text| parse_list(text.trim()))
}

fn node(core: usize) -> usize {
    let folder = PathBuf::from(format!("/sys/devices/system/cpu/cpu{core}"));
    let Ok(entries) = std::fs::read_dir(folder) else {
        return 0;
    };
    entries
        .filter_map(Result::ok)
        .find_map(|entry| {
            entry
                .file_name()
                .to_str()?
                .strip_prefix("node")?
                .parse()
                .ok()
        })
        .unwrap_or(0)
}

fn parse_list(text: &str) -> Vec<usize> {
    text.split(',')
        .filter_map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(first.parse::<usize>().ok()?..=last.parse::<usize>().ok()?)
        })
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(cores: usize, nodes: usize) -> Vec<Core> {
        (0..cores)
            .map(|core| Core {
                siblings: vec![core, core + cores],
                node: core * nodes / cores,
            })
            .collect()
    }

    #[test]
    fn lists_of_cores_are_read() {
        assert_eq!(parse_list("0-2,8,10-11"), [0, 1, 2, 8, 10, 11]);
    }

    #[test]
    fn slots_take_whole_cores_of_one_domain() {
        let (slots, compiling, take_turns) = divide(&machine(8, 2), 2, 3);
        assert_eq!(slots, [vec![1, 2, 3], vec![5, 6, 7]]);
        assert_eq!(compiling, [0, 8, 4, 12]);
        assert!(!take_turns);
    }

    #[test]
    fn a_slot_that_takes_all_shares_them_with_compiling() {
        let (slots, compiling, take_turns) = divide(&machine(2, 1), 1, 2);
        assert_eq!(slots, [vec![0, 1]]);
        assert_eq!(compiling.len(), 4);
        assert!(take_turns);
    }

    #[test]
    fn a_small_machine_compiles_on_all_cores_in_turns_with_timing() {
        let (slots, compiling, take_turns) = divide(&machine(2, 1), 1, 1);
        assert_eq!((slots, compiling), (vec![vec![1]], vec![0, 2, 1, 3]));
        assert!(take_turns);
    }
}
