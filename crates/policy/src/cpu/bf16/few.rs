//! Products of a batch of answers on the matrix unit. Weights go into its tiles straight from
//! memory, and every weight is read once.

use half::slice::HalfFloatSliceExt;
use rayon::prelude::*;

use super::matrix::Matrix;
use super::pack::{self, PARTS, Rows, Tiles};
use super::tiles::{BLOCK, DEPTH, SIDE, Session, Stream, Sum, TILE, Unit};
use crate::cpu::onto::{Onto, Strided};
use crate::cpu::skinny;

/// Weight rows per task.
const TASK: usize = 128;

/// `y = x w^T`, or added to y. The length of the sums must be a multiple of [`DEPTH`].
pub(super) fn product(unit: Unit, y: &mut [f32], x: &[f32], w: Matrix, onto: Onto) {
    let Matrix {
        data,
        outputs,
        inputs,
    } = w;
    let rows = x.len() / inputs;
    let columns = Columns::pack(x, inputs);
    let mut sums = vec![0.0; outputs * rows];
    let block = |(nth, out): (usize, &mut [f32])| {
        let count = out.len() / rows;
        let weights = data[nth * TASK * inputs..][..count * inputs].reinterpret_cast();
        let out = Strided::rows(out, count);
        compute(&Session::begin(unit), weights, &columns, out);
    };
    let tasks = sums.par_chunks_mut(TASK * rows).enumerate();
    tasks.for_each(block);
    skinny::place(&sums, rows, TASK, Strided::rows(y, outputs), 1.0, onto);
}

/// Rows of x as columns of tiles.
struct Columns {
    tiles: Tiles,
    steps: usize,
    rows: usize,
    /// Values from one part to the next.
    distance: usize,
}

impl Columns {
    fn pack(x: &[f32], length: usize) -> Self {
        let (steps, rows) = (length / DEPTH, x.len() / length);
        let distance = rows.div_ceil(SIDE) * steps * TILE;
        let mut tiles = Tiles::zeros(PARTS * distance);
        for (nth, x) in x.chunks(SIDE * length).enumerate() {
            let rows = Rows {
                data: x,
                stride: length,
                cols: (0, length),
            };
            pack::split(rows, &mut tiles[nth * steps * TILE..], distance);
        }
        tiles
            .chunks_exact_mut(TILE)
            .take(PARTS * distance / TILE)
            .for_each(pack::transpose);
        Self {
            tiles,
            steps,
            rows,
            distance,
        }
    }
}

/// Some weight rows against all rows of x; `out` has a row of `count` for each row of x.
fn compute(session: &Session, weights: &[u16], columns: &Columns, out: Strided) {
    let Strided {
        data: out,
        stride: count,
    } = out;
    let Columns {
        steps,
        rows,
        distance,
        ..
    } = *columns;
    let length = steps * DEPTH;
    let mut sums = [0.0; BLOCK * BLOCK];
    let mut padded = Vec::new();
    for first in (0..count).step_by(BLOCK) {
        let used = BLOCK.min(count - first);
        let mut data = &weights[first * length..][..used * length];
        if used < BLOCK {
            padded.extend_from_slice(data);
            padded.resize(BLOCK * length, 0);
            data = &padded;
        }
        let left = Stream {
            data,
            row: length,
            step: DEPTH,
            part: 0,
            other: SIDE * length,
        };
        for col in (0..rows).step_by(BLOCK) {
            let data = &columns.tiles[col * length..];
            // Without a second tile of columns the first one is used twice. Reading weights takes
            // longer anyway.
            let other = if col + SIDE < rows { steps * TILE } else { 0 };
            let right = Stream {
                data,
                row: DEPTH,
                step: TILE,
                part: distance,
                other,
            };
            let sum = Sum {
                steps,
                parts: PARTS,
                onto: Onto::Set,
            };
            session.multiply(left, right, sum, Strided::rows(&mut sums, BLOCK));
            for (row, out) in out
                .chunks_exact_mut(count)
                .skip(col)
                .take(BLOCK)
                .enumerate()
            {
                for (nth, out) in out[first..first + used].iter_mut().enumerate() {
                    *out = sums[nth * BLOCK + row];
                }
            }
        }
    }
}
