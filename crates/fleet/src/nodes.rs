//! Starts, lists and stops workers: as processes, on hosts, or by schedulers.

mod hosts;
mod jobs;
mod launch;

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::config::{Config, Nodes};
use crate::site::Side;
use hosts::Hosts;
use jobs::Jobs;
use launch::Launcher;

/// A node that ends sooner than this did not work.
const SOON: Duration = Duration::from_secs(20);
/// The first pause after a node that did not work, and the last. It doubles in between.
const PAUSES: (Duration, Duration) = (Duration::from_secs(2), Duration::from_mins(5));

/// A node as shown by `status`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeState {
    /// `local`, `ssh`, `slurm` or `command`.
    pub kind: String,
    /// Which of the fleet's `[[nodes]]` it belongs to, counted from 0.
    #[serde(default)]
    pub pool: usize,
    /// A process, a host or a job.
    pub id: String,
    /// Seconds since it was started.
    pub up_s: f64,
}

/// A place for a worker.
struct Place {
    node: Option<(String, Instant)>,
    failures: u32,
    not_before: Instant,
}

/// Nodes of one kind, kept at their number.
pub(crate) struct Pool {
    kind: &'static str,
    /// Its place among the fleet's `[[nodes]]`.
    number: usize,
    launcher: Box<dyn Launcher>,
    places: Vec<Place>,
    /// Workers that ended and were replaced.
    pub(crate) replaced: u32,
}

/// The pools of a fleet.
pub(crate) fn pools(config: &Config, side: &Side, program: &str) -> Vec<Pool> {
    config
        .nodes
        .iter()
        .enumerate()
        .map(|(number, nodes)| {
            let (kind, count, launcher): (_, usize, Box<dyn Launcher>) = match nodes {
                Nodes::Local { count, cores } => (
                    "local",
                    *count as usize,
                    Box::new(Hosts::local(config, side, program, cores)),
                ),
                Nodes::Ssh { hosts, .. } => (
                    "ssh",
                    hosts.len(),
                    Box::new(Hosts::ssh(config, nodes, program)),
                ),
                Nodes::Slurm { count, .. } => (
                    "slurm",
                    *count as usize,
                    Box::new(Jobs::slurm(config, nodes, side.clone(), program, number)),
                ),
                Nodes::Command {
                    count,
                    start,
                    list,
                    stop,
                } => {
                    let templates = [start.clone(), list.clone(), stop.clone()];
                    (
                        "command",
                        *count as usize,
                        Box::new(Jobs::command(config, side.clone(), program, templates)),
                    )
                }
            };
            Pool {
                kind,
                number,
                launcher,
                places: (0..count).map(|_| Place::new()).collect(),
                replaced: 0,
            }
        })
        .collect()
}

impl Place {
    fn new() -> Self {
        Self {
            node: None,
            failures: 0,
            not_before: Instant::now(),
        }
    }
}

impl Pool {
    /// Adopts the live workers that an earlier keeper started for this pool.
    pub(crate) fn adopt(&mut self, known: &[NodeState]) {
        let mine = known
            .iter()
            .filter(|node| node.kind == self.kind && node.pool == self.number);
        for (place, node) in self.places.iter_mut().zip(mine) {
            place.node = Some((node.id.clone(), Instant::now()));
        }
    }

    /// Starts missing workers and reports what happened.
    pub(crate) fn tend(&mut self, say: &mut dyn FnMut(String)) {
        let ids: Vec<String> = self
            .places
            .iter()
            .filter_map(|place| Some(place.node.as_ref()?.0.clone()))
            .collect();
        let living = match self.launcher.living(&ids) {
            Ok(living) => living,
            // Workers that cannot be checked are not known to be dead.
            Err(error) => return say(format!("{} nodes cannot be listed: {error}", self.kind)),
        };
        for (number, place) in self.places.iter_mut().enumerate() {
            if let Some((id, since)) = &place.node
                && !living.contains(id)
            {
                say(format!(
                    "{} {id} has ended after {:.0} s",
                    self.kind,
                    since.elapsed().as_secs_f64()
                ));
                self.replaced += 1;
                place.failures = if since.elapsed() < SOON {
                    place.failures + 1
                } else {
                    0
                };
                place.not_before = Instant::now() + pause(place.failures);
                place.node = None;
            }
            if place.node.is_none() && Instant::now() >= place.not_before {
                match self.launcher.start(number) {
                    Ok(id) => {
                        say(format!("{} {id} is started", self.kind));
                        place.node = Some((id, Instant::now()));
                    }
                    Err(error) => {
                        place.failures += 1;
                        place.not_before = Instant::now() + pause(place.failures);
                        say(format!("a {} node cannot be started: {error}", self.kind));
                    }
                }
            }
        }
    }

    /// Ends all.
    pub(crate) fn end(&mut self, patience: Duration, say: &mut dyn FnMut(String)) {
        for (id, _) in self.places.iter_mut().filter_map(|place| place.node.take()) {
            if let Err(error) = self.launcher.stop(&id) {
                say(format!("{} {id} cannot be ended: {error}", self.kind));
            }
        }
        self.launcher.finish(patience);
        self.launcher.clean().into_iter().for_each(say);
    }

    pub(crate) fn states(&self) -> impl Iterator<Item = NodeState> {
        self.places
            .iter()
            .filter_map(|place| place.node.as_ref())
            .map(|(id, since)| NodeState {
                kind: self.kind.to_owned(),
                pool: self.number,
                id: id.clone(),
                up_s: since.elapsed().as_secs_f64(),
            })
    }

    pub(crate) fn wanted(&self) -> usize {
        self.places.len()
    }
}

fn pause(failures: u32) -> Duration {
    match failures {
        0 => Duration::ZERO,
        more => (PAUSES.0 * 2_u32.saturating_pow(more.min(16) - 1)).min(PAUSES.1),
    }
}

#[cfg(test)]
mod tests {
    use hotloop_flow::BenchError;

    use super::*;

    /// Workers that are alive as the test decides.
    struct Fake(World);

    impl Launcher for Fake {
        fn start(&mut self, place: usize) -> Result<String, BenchError> {
            let mut fake = self.0.borrow_mut();
            fake.0 += 1;
            let id = format!("{place}.{}", fake.0);
            fake.1.push(id.clone());
            Ok(id)
        }

        fn living(&mut self, ids: &[String]) -> Result<Vec<String>, BenchError> {
            Ok(ids
                .iter()
                .filter(|id| self.0.borrow().1.contains(id))
                .cloned()
                .collect())
        }

        fn stop(&mut self, id: &str) -> Result<(), BenchError> {
            self.0.borrow_mut().1.retain(|one| one != id);
            Ok(())
        }

        fn finish(&mut self, _patience: Duration) {}
    }

    type World = std::rc::Rc<std::cell::RefCell<(u32, Vec<String>)>>;

    /// A pool of two places.
    fn pool(world: &World, number: usize) -> Pool {
        let places = (0..2).map(|_| Place::new()).collect();
        Pool {
            kind: "fake",
            number,
            launcher: Box::new(Fake(world.clone())),
            places,
            replaced: 0,
        }
    }

    #[test]
    fn what_ends_is_replaced_and_what_ends_at_once_not_at_once() {
        let world = World::default();
        let mut pool = pool(&world, 0);
        let mut said = Vec::new();
        pool.tend(&mut |line| said.push(line));
        assert_eq!(world.borrow().1.len(), 2);
        // A worker that had worked for long is replaced at once.
        pool.places[0].node.as_mut().unwrap().1 = Instant::now().checked_sub(SOON * 2).unwrap();
        world.borrow_mut().1.clear();
        pool.tend(&mut |line| said.push(line));
        assert_eq!(world.borrow().1, ["0.3"], "{said:?}");
        assert_eq!(pool.replaced, 2);
        pool.end(Duration::ZERO, &mut |_| {});
        assert!(world.borrow().1.is_empty());
    }

    #[test]
    fn each_of_two_pools_adopts_its_own() {
        let world = World::default();
        let ids = |pools: &[Pool; 2]| {
            pools
                .each_ref()
                .map(|pool| pool.states().map(|node| node.id).collect::<Vec<_>>())
        };
        let mut before = [pool(&world, 0), pool(&world, 1)];
        for pool in &mut before {
            pool.tend(&mut |_| {});
        }
        let known: Vec<NodeState> = before.iter().flat_map(Pool::states).collect();
        let mut after = [pool(&world, 0), pool(&world, 1)];
        for pool in &mut after {
            pool.adopt(&known);
        }
        assert_eq!(ids(&after), ids(&before));
    }

    #[test]
    fn pauses_grow_to_a_limit() {
        assert_eq!(
            [0, 1, 2, 3, 30].map(|failures| pause(failures).as_secs()),
            [0, 2, 4, 8, 300]
        );
    }
}
