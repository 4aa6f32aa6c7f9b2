//! What both searches have in common: they take in judged candidates and choose parents.

use serde::{Deserialize, Serialize};

use super::choice::{Parent, Settings};
use super::node::Node;
use crate::prompt::Role;
use crate::random::Random;
use crate::stage::Stage;

/// How a run keeps candidates and chooses parents among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArchiveKind {
    /// [`super::Pool`]: the last iteration, by stage.
    Sqd,
    /// [`super::Tree`]: everything found, as a tree.
    Puct,
    /// [`SeedOnly`]: nothing, which makes a run best-of-N.
    None,
}

/// The task's seed, from which every search starts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Root<'a> {
    /// The hash of its normalised source.
    pub normal: &'a str,
    /// Its speed in the unit of the task; `None` before it was judged.
    pub speed: Option<f64>,
}

/// Candidates, and the choice of parents among them.
pub trait Archive {
    /// Takes in the judged answers to one prompt. `parent` is the hash of the candidate that the
    /// prompt showed; `None` is the seed.
    fn grow(&mut self, parent: Option<&str>, children: Vec<Node>);

    /// The parents of the next iteration, at least one.
    fn select(&self, root: Root<'_>, settings: Settings, random: &mut Random) -> Vec<Parent>;
}

/// Keeps nothing and always starts from the seed, at each stage in turn: best-of-N, the control of
/// every search.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SeedOnly;

impl Archive for SeedOnly {
    fn grow(&mut self, _: Option<&str>, _: Vec<Node>) {}

    fn select(&self, _: Root<'_>, settings: Settings, _: &mut Random) -> Vec<Parent> {
        let stages = settings.first_stage().number()..=settings.last.number();
        let parent = |stage| Parent {
            hash: None,
            role: Role::Explore,
            stage: Stage::numbered(stage),
        };
        stages.map(parent).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::c::stages;

    #[test]
    fn without_an_archive_the_seed_is_asked_at_every_stage() {
        let settings = Settings {
            parents: 2,
            stages: true,
            repair: true,
            deepening: true,
            elites: 0,
            last: stages::ALL,
        };
        let root = Root {
            normal: "seed",
            speed: None,
        };
        let chosen = |settings| -> Vec<u8> {
            let parents = SeedOnly.select(root, settings, &mut Random::new(1));
            assert!(parents.iter().all(|parent| parent.hash.is_none()));
            parents.iter().map(|parent| parent.stage.number()).collect()
        };
        assert_eq!(chosen(settings), [1, 2, 3, 4, 5, 6]);
        let unstaged = Settings {
            stages: false,
            ..settings
        };
        assert_eq!(chosen(unstaged), [6]);
    }
}
