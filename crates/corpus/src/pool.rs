//! The distinct candidates of a corpus, drawn by weight without replacement.

use std::collections::{BTreeMap, HashSet};

use hotloop_flow::Stage;
use hotloop_flow::language::c::stages;

use crate::program::{BYTES_MAX, Program, TASKS};
use crate::rng::Rng;

/// Shares of the stages among candidates, in percent.
pub(crate) const STAGES: [(Stage, u32); 6] = [
    (stages::REGISTER_BLOCKING, 18),
    (stages::CACHE_BLOCKING, 20),
    (stages::SIMD, 22),
    (stages::OPENMP, 16),
    (stages::PREFETCH, 14),
    (stages::ALL, 10),
];

/// Draws in a row without a new candidate before a bucket counts as exhausted.
const PATIENCE: usize = 3000;

/// Distinct candidates by task and stage, in the order they were drawn.
#[derive(Debug)]
pub struct Pool {
    buckets: BTreeMap<(&'static str, Stage), Vec<Program>>,
}

impl Pool {
    /// About `count` distinct candidates with the mixture's shares. Small buckets run out, and
    /// larger ones of the same task fill the gap.
    pub fn draw(seed: u64, count: usize) -> Self {
        Self::draw_where(seed, count, |_| true)
    }

    /// The candidates of one task in the pool of [`Pool::draw`]. Each task has its own random
    /// stream.
    pub fn draw_task(seed: u64, count: usize, task: &str) -> Self {
        Self::draw_where(seed, count, |known| known == task)
    }

    fn draw_where(seed: u64, count: usize, wanted: impl Fn(&str) -> bool) -> Self {
        let mut buckets = BTreeMap::new();
        for (at, (task, share)) in TASKS
            .iter()
            .enumerate()
            .filter(|(_, (task, _))| wanted(task))
        {
            let mut rng = Rng::new(seed, at as u64);
            let mut wanted = count * *share as usize / 100;
            let mut drawn = HashSet::new();
            // Small buckets come first, so that their gap is known before the large ones are
            // filled.
            let mut stages = STAGES.to_vec();
            let mut shares = 100;
            stages.sort_by_key(|(stage, _)| order(*stage));
            for (stage, share) in stages {
                let bucket = fill(
                    task,
                    stage,
                    wanted * share as usize / shares,
                    &mut drawn,
                    &mut rng,
                );
                wanted -= bucket.len();
                shares -= share as usize;
                buckets.insert((*task, stage), bucket);
            }
        }
        Self { buckets }
    }

    /// The candidates of a task at a stage.
    pub fn bucket(&self, task: &'static str, stage: Stage) -> &[Program] {
        self.buckets.get(&(task, stage)).map_or(&[], Vec::as_slice)
    }

    /// All candidates.
    pub fn programs(&self) -> impl Iterator<Item = &Program> {
        self.buckets.values().flatten()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.buckets.values().map(Vec::len).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Stages with few candidates come first.
fn order(stage: Stage) -> Option<usize> {
    let order = [
        stages::REGISTER_BLOCKING,
        stages::CACHE_BLOCKING,
        stages::SIMD,
        stages::ALL,
        stages::OPENMP,
        stages::PREFETCH,
    ];
    order.into_iter().position(|other| other == stage)
}

fn fill(
    task: &str,
    stage: Stage,
    count: usize,
    drawn: &mut HashSet<String>,
    rng: &mut Rng,
) -> Vec<Program> {
    let mut bucket = Vec::with_capacity(count);
    let mut idle = 0;
    // Many draws repeat an earlier one. Comparing choices first avoids writing the source again.
    let mut seen = HashSet::new();
    while bucket.len() < count && idle < PATIENCE {
        idle += 1;
        let program = Program::draw(task, rng);
        if program.stage() != stage || !seen.insert(program) {
            continue;
        }
        let source = program.source();
        if source.len() <= BYTES_MAX && drawn.insert(source) {
            bucket.push(program);
            idle = 0;
        }
    }
    bucket
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_task_alone_is_drawn_as_among_all_tasks() {
        let all = Pool::draw(7, 600);
        let alone = Pool::draw_task(7, 600, "stencil2d");
        let among: Vec<&Program> = all
            .programs()
            .filter(|program| program.task() == "stencil2d")
            .collect();
        assert!(!alone.is_empty() && alone.programs().collect::<Vec<_>>() == among);
    }
}
