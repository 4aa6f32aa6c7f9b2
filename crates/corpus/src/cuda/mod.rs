//! Correct CUDA candidates from explicit spaces of choices, for a warm start on CUDA tasks.
//!
//! As for C, a [`Program`] is a struct of choices and never a string: grids, tiles, vector loads,
//! shared memory, warp reductions and unrolling. Every candidate begins as runs begin answers: the
//! include and then the kernel `TASK_fast`.

mod elementwise;
mod matmul;
mod parts;
mod rows;
mod sum;
mod transpose;

use std::collections::HashSet;

use serde::Serialize;

use crate::rng::Rng;
use elementwise::Elementwise;
use matmul::Matmul;
use rows::Rows;
use sum::Sum;
use transpose::Transpose;

/// The tasks that this corpus knows.
pub const TASKS: [&str; 7] = [
    "cuda/relu",
    "cuda/saxpy",
    "cuda/sum",
    "cuda/transpose",
    "cuda/softmax",
    "cuda/layernorm",
    "cuda/matmul",
];

/// Draws without a new program before a space counts as exhausted.
const PATIENCE: usize = 2000;

/// The families of candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Program {
    /// An element at a time.
    Elementwise(Elementwise),
    /// A sum over the middle dimension.
    Sum(Sum),
    Transpose(Transpose),
    /// Softmax or layer normalisation of rows.
    Rows(Rows),
    /// A matrix product.
    Matmul(Matmul),
}

impl Program {
    /// A candidate for `task`, by the mixture's weights.
    ///
    /// # Panics
    /// If the task is none of [`TASKS`].
    pub fn draw(task: &str, rng: &mut Rng) -> Self {
        loop {
            let program = match task {
                "cuda/relu" | "cuda/saxpy" => Self::Elementwise(Elementwise::draw(rng)),
                "cuda/sum" => Self::Sum(Sum::draw(rng)),
                "cuda/transpose" => Self::Transpose(Transpose::draw(rng)),
                "cuda/softmax" | "cuda/layernorm" => Self::Rows(Rows::draw(rng)),
                "cuda/matmul" => Self::Matmul(Matmul::draw(rng)),
                unknown => panic!("the CUDA corpus has no task {unknown}"),
            };
            if program.task() == task && program.makes_sense() {
                return program;
            }
        }
    }

    /// The task that it solves.
    pub fn task(&self) -> &'static str {
        match self {
            Self::Elementwise(choices) => choices.task(),
            Self::Sum(_) => "cuda/sum",
            Self::Transpose(_) => "cuda/transpose",
            Self::Rows(choices) => choices.task(),
            Self::Matmul(_) => "cuda/matmul",
        }
    }

    /// Whether the choices fit together, and none of them is without effect.
    pub fn makes_sense(&self) -> bool {
        match self {
            Self::Elementwise(choices) => choices.makes_sense(),
            Self::Sum(choices) => choices.makes_sense(),
            Self::Transpose(choices) => choices.makes_sense(),
            Self::Rows(choices) => choices.makes_sense(),
            Self::Matmul(choices) => choices.makes_sense(),
        }
    }

    /// The CUDA source.
    pub fn source(&self) -> String {
        let source = match self {
            Self::Elementwise(choices) => choices.source(),
            Self::Sum(choices) => choices.source(),
            Self::Transpose(choices) => choices.source(),
            Self::Rows(choices) => choices.source(),
            Self::Matmul(choices) => choices.source(),
        };
        format!("#include <cuda_runtime.h>\n\n{source}")
    }
}

/// Distinct candidates for a task, at most `count`, in the order in which a seed draws them.
pub fn programs(task: &str, seed: u64, count: usize) -> Vec<Program> {
    let mut rng = Rng::new(seed, 3000);
    let mut known = HashSet::new();
    let mut found = Vec::new();
    let mut in_vain = 0;
    while found.len() < count && in_vain < PATIENCE {
        let program = Program::draw(task, &mut rng);
        if known.insert(program.source()) {
            found.push(program);
            in_vain = 0;
        } else {
            in_vain += 1;
        }
    }
    found
}
