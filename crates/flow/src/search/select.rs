//! The choice of parents.

use std::collections::{BTreeSet, VecDeque};

use super::archive::{Archive, Root};
use super::choice::{Parent, Settings};
use super::node::Node;
use super::pool::Pool;
use crate::prompt::Role;
use crate::random::Random;
use crate::stage::Stage;

/// More places than this are never filled: no pool has so many nodes.
const PLACES: usize = 1 << 20;
/// The share of a stage's correct nodes that is deepened.
const TOP: f64 = 0.4;
/// The following share, which is improved.
const MIDDLE: f64 = 0.3;
/// The share of a stage's failed nodes that is repaired.
const FAILED: f64 = 0.3;
/// The roles in order, with their shares of the places.
const SHARES: [(Role, f64); 3] = [
    (Role::Deepen, TOP),
    (Role::Improve, MIDDLE),
    (Role::Repair, FAILED),
];

/// The parents of the next iteration: the seed first, then 40 % to deepen, 30 % to improve and 30 %
/// to repair, each taken in turn from the stages that have some. Places that a role cannot fill go
/// to the others. No code is chosen twice, and no copy of the seed, whose normalised hash is
/// `seed_normal`.
pub fn select(
    pool: &Pool,
    seed_normal: &str,
    settings: Settings,
    random: &mut Random,
) -> Vec<Parent> {
    let mut parents = vec![Parent {
        hash: None,
        role: Role::Explore,
        stage: settings.first_stage(),
    }];
    let mut taken: BTreeSet<String> = BTreeSet::from([seed_normal.to_owned()]);
    let places = settings.parents.saturating_sub(1).min(PLACES);
    let mut queues: Vec<(Role, VecDeque<&Node>)> = SHARES
        .into_iter()
        .filter(|(role, _)| settings.allows(*role))
        .map(|(role, _)| (role, queue(pool, role, random)))
        .collect();
    let quotas = quotas(
        places,
        &queues.iter().map(|(role, _)| *role).collect::<Vec<_>>(),
    );
    for ((role, queue), quota) in queues.iter_mut().zip(quotas) {
        for _ in 0..quota {
            parents.extend(take(queue, *role, settings, &mut taken));
        }
    }
    // The remaining places go to the roles in turn.
    while parents.len() <= places {
        let before = parents.len();
        for (role, queue) in &mut queues {
            if parents.len() <= places {
                parents.extend(take(queue, *role, settings, &mut taken));
            }
        }
        if parents.len() == before {
            break;
        }
    }
    parents
}

impl Archive for Pool {
    fn grow(&mut self, _: Option<&str>, children: Vec<Node>) {
        for node in children {
            self.add(node);
        }
    }

    fn select(&self, root: Root<'_>, settings: Settings, random: &mut Random) -> Vec<Parent> {
        select(self, root.normal, settings, random)
    }
}

/// The nodes of a role, one from each stage in turn. There are fewer places than stages. So
/// deepening starts with the deepest stage, because otherwise the search would never reach the last
/// ones. The other roles start with a random stage.
fn queue<'p>(pool: &'p Pool, role: Role, random: &mut Random) -> VecDeque<&'p Node> {
    let mut stages: Vec<VecDeque<&Node>> = pool
        .stages()
        .map(|stage| band(pool, stage, role, random).into())
        .collect();
    if role == Role::Deepen {
        stages.reverse();
    } else {
        let first = random.below(stages.len());
        stages.rotate_left(first);
    }
    let mut queue = VecDeque::new();
    while stages.iter().any(|nodes| !nodes.is_empty()) {
        queue.extend(stages.iter_mut().filter_map(VecDeque::pop_front));
    }
    queue
}

/// The nodes of a stage that a role may choose from, in the order of choice.
fn band<'p>(pool: &'p Pool, stage: Stage, role: Role, random: &mut Random) -> Vec<&'p Node> {
    match role {
        Role::Explore => Vec::new(),
        Role::Deepen => {
            let mut nodes = pool.correct(stage);
            nodes.truncate(share(nodes.len(), TOP));
            nodes
        }
        Role::Improve => {
            let nodes = pool.correct(stage);
            let top = share(nodes.len(), TOP);
            let end = (top + share(nodes.len(), MIDDLE)).min(nodes.len());
            let mut nodes = nodes[top..end].to_vec();
            random.shuffle(&mut nodes);
            nodes
        }
        Role::Repair => {
            let mut nodes = pool.broken(stage);
            random.shuffle(&mut nodes);
            nodes.truncate(share(nodes.len(), FAILED));
            nodes
        }
    }
}

/// A share of a number of nodes, but at least one.
fn share(count: usize, share: f64) -> usize {
    ((count as f64 * share).ceil() as usize).min(count)
}

/// Places by role, in proportion, the largest remainders rounded up.
fn quotas(places: usize, roles: &[Role]) -> Vec<usize> {
    let share_of = |role: &Role| {
        SHARES
            .iter()
            .find(|(known, _)| known == role)
            .map_or(0.0, |(_, share)| *share)
    };
    let total: f64 = roles.iter().map(share_of).sum();
    let exact: Vec<f64> = roles
        .iter()
        .map(|role| places as f64 * share_of(role) / total)
        .collect();
    let mut quotas: Vec<usize> = exact.iter().map(|exact| exact.floor() as usize).collect();
    let mut order: Vec<usize> = (0..roles.len()).collect();
    order.sort_by(|a, b| exact[*b].fract().total_cmp(&exact[*a].fract()));
    let missing = places - quotas.iter().sum::<usize>();
    order
        .into_iter()
        .take(missing)
        .for_each(|at| quotas[at] += 1);
    quotas
}

/// The next node of a queue that was not taken yet.
fn take(
    queue: &mut VecDeque<&Node>,
    role: Role,
    settings: Settings,
    taken: &mut BTreeSet<String>,
) -> Option<Parent> {
    loop {
        let node = queue.pop_front()?;
        if taken.insert(node.normal.clone()) {
            let stage = if role == Role::Deepen && settings.deepening {
                settings.deeper(node.stage)
            } else {
                node.stage
            };
            return Some(Parent {
                hash: Some(node.hash.clone()),
                role,
                stage,
            });
        }
    }
}

#[cfg(test)]
mod tests;
