//! Causal attention over packed sequences, block-diagonal, with grouped key heads.
//!
//! Queries are processed in blocks. The scores of one block against the keys before it are the only
//! score matrix that ever exists. The backward pass recomputes them from the saved log-sum-exp of
//! each row. One task handles one sequence and one key head in its own buffers. The results are
//! copied into place afterwards.

use rayon::prelude::*;

use super::gemm::{Dims, View, product_serial};
use super::onto::{Onto, Strided};
use crate::math::{dot, exp, exponentiate, max, vectorised};

/// Queries per block.
const BLOCK: usize = 64;

/// The heads, and where sequences begin.
#[derive(Clone, Copy)]
pub(super) struct Shape<'a> {
    /// Key heads.
    pub(super) kv_heads: usize,
    /// Query heads per key head.
    pub(super) group: usize,
    /// Width of a head.
    pub(super) dim: usize,
    /// First row of every sequence, and the number of rows at the end.
    pub(super) starts: &'a [usize],
}

impl Shape<'_> {
    fn q_width(&self) -> usize {
        self.kv_heads * self.group * self.dim
    }

    fn kv_width(&self) -> usize {
        self.kv_heads * self.dim
    }

    fn scale(&self) -> f32 {
        1.0 / (self.dim as f32).sqrt()
    }

    fn tasks(&self) -> Vec<Task> {
        let sequences = self.starts.windows(2).filter(|pair| pair[1] > pair[0]);
        let each = |pair: &[usize], kv_head| Task {
            first: pair[0],
            rows: pair[1] - pair[0],
            kv_head,
        };
        sequences
            .flat_map(|pair| (0..self.kv_heads).map(move |kv_head| each(pair, kv_head)))
            .collect()
    }
}

/// One sequence and one key head.
#[derive(Clone, Copy)]
struct Task {
    first: usize,
    rows: usize,
    kv_head: usize,
}

/// Queries, keys and values after the rotation.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'a> {
    /// (rows, heads * dim).
    pub(super) q: &'a [f32],
    /// (rows, `kv_heads` * dim).
    pub(super) k: &'a [f32],
    /// (rows, `kv_heads` * dim).
    pub(super) v: &'a [f32],
}

/// The results of the forward pass.
pub(super) struct Attended {
    /// (rows, heads * dim).
    pub(super) y: Vec<f32>,
    /// log-sum-exp of every row of scores, (rows, heads).
    pub(super) lse: Vec<f32>,
}

pub(super) struct InputGradients {
    pub(super) q: Vec<f32>,
    pub(super) k: Vec<f32>,
    pub(super) v: Vec<f32>,
}

pub(super) fn forward(shape: Shape, inputs: Inputs) -> Attended {
    let (width, group) = (shape.q_width(), shape.group);
    let rows = inputs.q.len() / width;
    let tasks = shape.tasks();
    let parts: Vec<_> = tasks
        .par_iter()
        .map(|&task| forward_task(shape, inputs, task))
        .collect();
    let mut out = Attended {
        y: vec![0.0; rows * width],
        lse: vec![0.0; rows * shape.kv_heads * group],
    };
    for (task, (y, lse)) in tasks.iter().zip(parts) {
        place(&mut out.y, &y, *task, width, group * shape.dim);
        place(&mut out.lse, &lse, *task, shape.kv_heads * group, group);
    }
    out
}

/// Gradients of q, k and v from the gradient of y.
pub(super) fn backward(
    shape: Shape,
    inputs: Inputs,
    attended: &Attended,
    dy: &[f32],
) -> InputGradients {
    let (width, kv_width) = (shape.q_width(), shape.kv_width());
    let tasks = shape.tasks();
    let parts: Vec<_> = tasks
        .par_iter()
        .map(|&task| backward_task(shape, inputs, attended, dy, task))
        .collect();
    let mut out = InputGradients {
        q: vec![0.0; inputs.q.len()],
        k: vec![0.0; inputs.k.len()],
        v: vec![0.0; inputs.v.len()],
    };
    for (task, part) in tasks.iter().zip(parts) {
        place(&mut out.q, &part.q, *task, width, shape.group * shape.dim);
        place(&mut out.k, &part.k, *task, kv_width, shape.dim);
        place(&mut out.v, &part.v, *task, kv_width, shape.dim);
    }
    out
}

/// Copies a task's columns, `part` per row, into rows of `width`.
fn place(whole: &mut [f32], piece: &[f32], task: Task, width: usize, part: usize) {
    for (row, from) in piece.chunks_exact(part).enumerate() {
        whole[(task.first + row) * width + task.kv_head * part..][..part].copy_from_slice(from);
    }
}

fn forward_task(shape: Shape, inputs: Inputs, task: Task) -> (Vec<f32>, Vec<f32>) {
    let Shape { group, dim, .. } = shape;
    let (width, kv_width) = (shape.q_width(), shape.kv_width());
    let q = &inputs.q[task.first * width + task.kv_head * group * dim..];
    let kv = task.first * kv_width + task.kv_head * dim;
    let (keys, values) = (
        View::rows(&inputs.k[kv..], kv_width),
        View::rows(&inputs.v[kv..], kv_width),
    );
    let mut y = vec![0.0; task.rows * group * dim];
    let mut lse = vec![0.0; task.rows * group];
    let mut scores = vec![0.0; BLOCK * task.rows];
    for head in 0..group {
        for first in (0..task.rows).step_by(BLOCK) {
            let block = BLOCK.min(task.rows - first);
            let seen = first + block;
            let queries = View::rows(&q[first * width + head * dim..], width);
            let dims = Dims(block, seen, dim);
            product_serial(
                Strided::rows(&mut scores, task.rows),
                queries,
                keys.t(),
                dims,
                shape.scale(),
                Onto::Set,
            );
            for row in 0..block {
                let scores = &mut scores[row * task.rows..][..seen];
                lse[(first + row) * group + head] = softmax(scores, first + row + 1);
            }
            let out = Strided::rows(&mut y[first * group * dim + head * dim..], group * dim);
            product_serial(
                out,
                View::rows(&scores, task.rows),
                values,
                Dims(block, dim, seen),
                1.0,
                Onto::Set,
            );
        }
    }
    (y, lse)
}

/// Softmax over the first `seen` values, zero beyond. Returns the log-sum-exp.
fn softmax(scores: &mut [f32], seen: usize) -> f32 {
    vectorised(
        #[inline(always)]
        || {
            let (past, future) = scores.split_at_mut(seen);
            let top = max(past);
            let sum = exponentiate(past, top, 1.0).sum;
            let inverse = 1.0 / sum;
            for value in past {
                *value *= inverse;
            }
            future.fill(0.0);
            top + sum.ln()
        },
    )
}

fn backward_task(
    shape: Shape,
    inputs: Inputs,
    attended: &Attended,
    dy: &[f32],
    task: Task,
) -> InputGradients {
    let Shape { group, dim, .. } = shape;
    let (width, kv_width) = (shape.q_width(), shape.kv_width());
    let q_start = task.first * width + task.kv_head * group * dim;
    let kv_start = task.first * kv_width + task.kv_head * dim;
    let keys = View::rows(&inputs.k[kv_start..], kv_width);
    let values = View::rows(&inputs.v[kv_start..], kv_width);
    let mut p = vec![0.0; BLOCK * task.rows];
    let mut ds = p.clone();
    let mut out = InputGradients {
        q: vec![0.0; task.rows * group * dim],
        k: vec![0.0; task.rows * dim],
        v: vec![0.0; task.rows * dim],
    };
    for head in 0..group {
        for first in (0..task.rows).step_by(BLOCK) {
            let block = BLOCK.min(task.rows - first);
            let seen = first + block;
            let at = q_start + first * width + head * dim;
            let queries = View::rows(&inputs.q[at..], width);
            let d_out = View::rows(&dy[at..], width);
            let dims = Dims(block, seen, dim);
            product_serial(
                Strided::rows(&mut p, task.rows),
                queries,
                keys.t(),
                dims,
                shape.scale(),
                Onto::Set,
            );
            product_serial(
                Strided::rows(&mut ds, task.rows),
                d_out,
                values.t(),
                dims,
                1.0,
                Onto::Set,
            );
            for row in 0..block {
                let here = at + row * width;
                let lse = attended.lse[(task.first + first + row) * shape.kv_heads * group
                    + task.kv_head * group
                    + head];
                let own = vectorised(
                    #[inline(always)]
                    || dot(&dy[here..][..dim], &attended.y[here..][..dim]),
                );
                let p = &mut p[row * task.rows..][..seen];
                let ds = &mut ds[row * task.rows..][..seen];
                score_gradient(p, ds, first + row + 1, lse, own);
            }
            let (p, ds) = (View::rows(&p, task.rows), View::rows(&ds, task.rows));
            product_serial(
                Strided::rows(&mut out.v, dim),
                p.t(),
                d_out,
                Dims(seen, dim, block),
                1.0,
                Onto::Add,
            );
            product_serial(
                Strided::rows(&mut out.k, dim),
                ds.t(),
                queries,
                Dims(seen, dim, block),
                shape.scale(),
                Onto::Add,
            );
            let d_queries =
                Strided::rows(&mut out.q[first * group * dim + head * dim..], group * dim);
            product_serial(
                d_queries,
                ds,
                keys,
                Dims(block, dim, seen),
                shape.scale(),
                Onto::Set,
            );
        }
    }
    out
}

/// Turns scores into probabilities in `p`, and their gradient in `ds` into that of the scores.
fn score_gradient(p: &mut [f32], ds: &mut [f32], seen: usize, lse: f32, own: f32) {
    vectorised(
        #[inline(always)]
        || {
            for (p, ds) in p[..seen].iter_mut().zip(&mut ds[..seen]) {
                *p = exp(*p - lse);
                *ds = *p * (*ds - own);
            }
            p[seen..].fill(0.0);
            ds[seen..].fill(0.0);
        },
    );
}
