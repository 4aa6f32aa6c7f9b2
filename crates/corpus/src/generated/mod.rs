//! Tasks drawn at random: loop nests over an expression of one to five operations.
//!
//! A policy that trains on one task unlearns the others, and hand-made tasks are few. `DRTriton`
//! (arXiv 2603.21465) trains on synthetic programs of growing length instead. Here a [`Family`]
//! says how loops and accesses look, an [`Expression`] what each element computes, and [`generate`]
//! makes whole tasks of them: prompt, seed, fp64 reference with scales, hidden and drawn sizes.

mod expression;
mod family;
mod nest;
mod texts;

use std::collections::BTreeSet;

use hotloop_flow::task::TaskFiles;

use crate::rng::Rng;
pub use expression::Expression;
pub use family::Family;
use nest::Nest;

/// The most operations of a task's expression.
pub const MOST_OPERATIONS: usize = 5;
/// Draws until an expression that was drawn before is taken again: short ones are few.
const DRAWS: usize = 50;

/// A generated task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// Its name, which sorts by operations.
    pub name: String,
    pub family: Family,
    /// Operations of its expression; of a stencil, neighbours beside the cell.
    pub operations: usize,
    pub files: TaskFiles,
}

/// `count` tasks of these families in turn, from one operation to [`MOST_OPERATIONS`]: a curriculum
/// in the order of their names. The same seed gives the same tasks.
pub fn generate(seed: u64, families: &[Family], count: usize) -> Vec<Generated> {
    let mut drawn = BTreeSet::new();
    (0..count)
        .filter(|_| !families.is_empty())
        .map(|at| {
            let family = families[at % families.len()];
            let operations = 1 + at * MOST_OPERATIONS / count;
            let mut rng = Rng::new(seed, at as u64);
            let mut nest = Nest::draw(family, operations, &mut rng);
            for _ in 0..DRAWS {
                if drawn.insert((family, nest.formula())) {
                    break;
                }
                nest = Nest::draw(family, operations, &mut rng);
            }
            let name = format!("op{operations}-{}-s{seed}-{at:04}", family.name());
            Generated {
                files: texts::files(&nest, &name),
                name,
                family,
                operations,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hotloop_flow::{Candidate, Task};

    #[test]
    fn tasks_are_read_and_their_seeds_are_candidates() {
        let all = generate(3, &Family::ALL, 60);
        let mut names = BTreeSet::new();
        for one in &all {
            let task = Task::parse(one.files.clone());
            let task =
                task.unwrap_or_else(|error| panic!("{}: {error}\n{}", one.name, one.files.toml));
            assert_eq!(task.spec.name, one.name);
            assert!(task.prompt.contains(&task.signature()), "{}", task.prompt);
            let seed = Candidate::from_source(task.seed.as_bytes(), &task);
            assert!(seed.is_ok(), "{}: {seed:?}\n{}", one.name, task.seed);
            assert!(names.insert(one.name.clone()));
        }
        assert!(
            all.windows(2)
                .all(|pair| pair[0].operations <= pair[1].operations)
        );
        let of = |operations| {
            all.iter()
                .filter(|one| one.operations == operations)
                .count()
        };
        assert_eq!((1..=5).map(of).collect::<Vec<_>>(), [12; 5]);
    }

    #[test]
    fn a_seed_determines_the_tasks_and_most_formulas_differ() {
        let draw = |seed| generate(seed, &Family::ALL, 120);
        assert_eq!(draw(1), draw(1));
        let bodies = |seed| -> BTreeSet<String> {
            draw(seed).into_iter().map(|one| one.files.prompt).collect()
        };
        assert_ne!(bodies(1), bodies(2));
        assert!(bodies(1).len() > 110, "{}", bodies(1).len());
    }

    #[test]
    fn every_hidden_set_exceeds_each_timed_size_once() {
        for one in generate(5, &Family::ALL, 40) {
            let task = Task::parse(one.files).expect("it is read above");
            let sizes = &task.function().sizes;
            for (name, timed) in &sizes.timed {
                assert!(
                    sizes.hidden.iter().any(|set| set[name] > *timed),
                    "{}: {name}",
                    one.name
                );
            }
        }
    }
}
