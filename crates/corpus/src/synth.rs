//! The records of the corpus: a prompt and the answer to learn.

use hotloop_flow::language::c::stages;
use hotloop_flow::{Label, Stage};
use serde::{Deserialize, Serialize};

use crate::breakage;
use crate::nano_prompt::{NanoPrompt, Parent, Role, Why};
use crate::pool::{Pool, STAGES};
use crate::program::{Program, TASKS};
use crate::rng::Rng;

/// The size and seed of a corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// Determines every random choice.
    pub seed: u64,
    /// Distinct candidates.
    pub programs: usize,
    /// The number of records. Each has a candidate as its answer.
    pub records: usize,
    /// Percentage of the candidates that are held out from training.
    pub validation_percent: u32,
}

impl Options {
    /// 60,000 candidates in 300,000 records.
    pub const STANDARD: Self = Self {
        seed: 1,
        programs: 60_000,
        records: 300_000,
        validation_percent: 2,
    };
}

/// One example. Only the answer contributes to the loss.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The task's name.
    pub task: String,
    /// The stage that the prompt asks for.
    pub stage: Stage,
    /// What the prompt asks for.
    pub role: Role,
    pub prompt: String,
    /// The canonical source, without the end token.
    pub answer: String,
}

impl Record {
    /// Whether the record is held out for validation. The answer's hash decides, so no validation
    /// candidate is ever an answer in training.
    pub fn is_validation(&self, percent: u32) -> bool {
        let hash = blake3::hash(self.answer.as_bytes());
        u32::from(u16::from_le_bytes([hash.as_bytes()[0], hash.as_bytes()[1]])) % 100 < percent
    }
}

/// Shares of the roles, in percent.
const ROLES: [(Role, u32); 4] = [
    (Role::Explore, 40),
    (Role::Deepen, 20),
    (Role::Improve, 20),
    (Role::Repair, 20),
];
/// Percentage of deepening prompts that start from the task's seed, as in searches.
const FROM_SEED: usize = 30;
/// Percentage of repairs that remove a technique that the stage forbids.
const FORBIDDEN: usize = 15;
/// Percentage of exploring prompts that allow more than the answer uses.
const ALLOWED_MORE: usize = 20;
/// Maximum number of draws of a task and a stage until one has candidates.
const DRAWS: usize = 200;

/// The records of a corpus, in order.
pub fn synth(options: &Options) -> Synth {
    Synth {
        pool: Pool::draw(options.seed, options.programs),
        rng: Rng::new(options.seed, 1000),
        next: [[0; STAGES.len()]; TASKS.len()],
        left: options.records,
    }
}

/// An iterator over the records of a corpus.
#[derive(Debug)]
pub struct Synth {
    pool: Pool,
    rng: Rng,
    /// The position in each bucket. It wraps around at the end.
    next: [[usize; STAGES.len()]; TASKS.len()],
    left: usize,
}

impl Synth {
    /// The candidates that answers come from.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// The next candidate by the shares of tasks and stages.
    fn program(&mut self) -> Option<Program> {
        for _ in 0..DRAWS {
            let tasks: Vec<(usize, u32)> = TASKS
                .iter()
                .enumerate()
                .map(|(at, (_, share))| (at, *share))
                .collect();
            let stages: Vec<(usize, u32)> = STAGES
                .iter()
                .enumerate()
                .map(|(at, (_, share))| (at, *share))
                .collect();
            let (task, stage) = (self.rng.weighted(&tasks), self.rng.weighted(&stages));
            let bucket = self.pool.bucket(TASKS[task].0, STAGES[stage].0);
            if bucket.is_empty() {
                continue;
            }
            let next = &mut self.next[task][stage];
            let program = bucket[*next % bucket.len()];
            *next += 1;
            return Some(program);
        }
        None
    }

    fn record(&mut self, program: Program) -> Record {
        let answer = program.source();
        let stage = program.stage();
        let role = self.rng.weighted(&ROLES);
        let (task, rng) = (program.task(), &mut self.rng);
        let record = |role, stage, parent: Option<Parent<'_>>| Record {
            task: task.to_owned(),
            stage,
            role,
            prompt: NanoPrompt {
                task,
                stage,
                role,
                parent,
            }
            .render(),
            answer: answer.clone(),
        };
        let correct = |role, source: &str| {
            record(
                role,
                stage,
                Some(Parent {
                    source,
                    label: Label::Correct,
                    why: None,
                }),
            )
        };
        match role {
            Role::Deepen if stage > stages::REGISTER_BLOCKING => {
                if rng.percent(FROM_SEED) {
                    return correct(role, seed(task));
                }
                if let Some(parent) = program.relative(rng, |parent| parent.stage() < stage) {
                    return correct(role, &parent.source());
                }
            }
            Role::Improve => {
                if let Some(parent) = program.relative(rng, |parent| parent.stage() == stage) {
                    return correct(role, &parent.source());
                }
            }
            Role::Repair if rng.percent(FORBIDDEN) => {
                let forbidden = |parent: &Program| forbidden(parent, stage).is_some();
                if let Some(parent) = program.relative(rng, forbidden) {
                    let why = self::forbidden(&parent, stage);
                    return record(
                        role,
                        stage,
                        Some(Parent {
                            source: &parent.source(),
                            label: Label::Refused,
                            why,
                        }),
                    );
                }
            }
            Role::Repair => {
                if let Some(broken) = breakage::broken(&answer, rng) {
                    let parent = Parent {
                        source: &broken.source,
                        label: broken.label,
                        why: broken.why,
                    };
                    return record(role, stage, Some(parent));
                }
            }
            Role::Explore | Role::Deepen => {}
        }
        let asked = if rng.percent(ALLOWED_MORE) {
            later(stage, rng)
        } else {
            stage
        };
        record(Role::Explore, asked, None)
    }
}

impl Iterator for Synth {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        self.left = self.left.checked_sub(1)?;
        let program = self.program()?;
        Some(self.record(program))
    }
}

/// A technique of the candidate that `stage` forbids, if there is one.
fn forbidden(program: &Program, stage: Stage) -> Option<Why> {
    let uses = program.uses();
    if uses.simd && stage < stages::SIMD {
        Some(Why::Simd)
    } else if uses.threads && stage < stages::OPENMP {
        Some(Why::Threads)
    } else if uses.prefetch && stage < stages::PREFETCH {
        Some(Why::Prefetch)
    } else {
        None
    }
}

/// Draws a stage that is not before `stage`.
fn later(stage: Stage, rng: &mut Rng) -> Stage {
    let all = stages::SIX;
    let first = usize::from(stage.number()) - 1;
    all[first + rng.below(all.len() - first)]
}

fn seed(task: &str) -> &'static str {
    match task {
        "matmul" => include_str!("../../../tasks/matmul/seed.c"),
        "matmul-any" => include_str!("../../../tasks/matmul-any/seed.c"),
        "matvec" => include_str!("../../../tasks/matvec/seed.c"),
        "transpose" => include_str!("../../../tasks/transpose/seed.c"),
        "stencil2d" => include_str!("../../../tasks/stencil2d/seed.c"),
        "softmax" => include_str!("../../../tasks/softmax/seed.c"),
        unknown => unreachable!("the corpus has no task {unknown}"),
    }
}
