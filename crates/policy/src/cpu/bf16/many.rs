//! Products of many rows on the matrix unit: prompts and training, forward and backward.
//!
//! A piece of the weights is packed once and shared. Threads take panels of rows and pack their
//! tiles themselves.

use rayon::prelude::*;

use super::matrix::Matrix;
use super::pack::{self, PARTS, Rows, Tiles, Weights};
use super::tiles::{BLOCK, DEPTH, SIDE, Session, Stream, Sum, TILE, Unit};
use crate::cpu::onto::{Onto, Strided};

/// Length of the sums computed at a time, so that the parts of 32 rows stay in the L1 cache.
const LENGTH: usize = 256;

/// Columns whose weights are packed at a time, so that they stay in the L2 cache.
const COLUMNS: usize = 4096;

/// Maximum number of rows in a panel.
const PANEL: usize = 128;

/// The direction of a product with a matrix.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// `y = x w^T`.
    Forward,
    /// `dx = dy w`.
    Back,
}

/// A piece of the product that a panel of rows computes: columns of c, and the terms of its sums.
#[derive(Clone, Copy)]
struct Piece<'a> {
    weights: &'a [u16],
    /// First column and number of columns.
    cols: (usize, usize),
    /// First term and number of terms.
    terms: (usize, usize),
    onto: Onto,
}

/// `c = a w^T` or `a w`, or added to c.
pub(super) fn product(unit: Unit, way: Way, c: &mut [f32], a: &[f32], matrix: Matrix, onto: Onto) {
    let Matrix {
        data,
        outputs,
        inputs,
    } = matrix;
    let (width, length) = match way {
        Way::Forward => (outputs, inputs),
        Way::Back => (inputs, outputs),
    };
    let rows = a.len() / length;
    let panel = rows
        .div_ceil(rayon::current_num_threads())
        .next_multiple_of(BLOCK)
        .min(PANEL);
    let weights = Weights {
        data,
        stride: inputs,
    };
    let room =
        COLUMNS.min(width).next_multiple_of(BLOCK) * LENGTH.min(length).next_multiple_of(DEPTH);
    let mut packed = Tiles::zeros(room);
    for col in (0..width).step_by(COLUMNS) {
        for term in (0..length).step_by(LENGTH) {
            let (cols, terms) = (
                (col, COLUMNS.min(width - col)),
                (term, LENGTH.min(length - term)),
            );
            let steps = terms.1.div_ceil(DEPTH);
            // Columns are processed in pairs of tiles, so the last may be padding.
            let packed = &mut packed[..cols.1.next_multiple_of(BLOCK) * steps * DEPTH];
            packed
                .par_chunks_mut(steps * TILE)
                .enumerate()
                .for_each(|(nth, tiles)| {
                    let from = cols.0 + nth * SIDE;
                    let here = (from, (cols.0 + cols.1).saturating_sub(from));
                    match way {
                        Way::Forward => weights.rows_as_columns(here, terms, tiles),
                        Way::Back => weights.columns(terms, here, tiles),
                    }
                });
            let onto = if term == 0 { onto } else { Onto::Add };
            let piece = Piece {
                weights: packed,
                cols,
                terms,
                onto,
            };
            c.par_chunks_mut(panel * width)
                .zip(a.par_chunks(panel * length))
                .for_each(|(c, a)| {
                    compute(
                        &Session::begin(unit),
                        piece,
                        Strided::rows(c, width),
                        a,
                        length,
                    );
                });
        }
    }
}

/// One panel of rows, each of `length`, against one piece of the weights.
fn compute(session: &Session, piece: Piece, c: Strided, a: &[f32], length: usize) {
    let Strided {
        data: c,
        stride: width,
    } = c;
    let steps = piece.terms.1.div_ceil(DEPTH);
    let (other, distance) = (steps * TILE, 2 * steps * TILE);
    let mut parts = Tiles::zeros(PARTS * distance);
    let sum = |onto| Sum {
        steps,
        parts: PARTS,
        onto,
    };
    for (a, c) in a.chunks(BLOCK * length).zip(c.chunks_mut(BLOCK * width)) {
        let rows = a.len() / length;
        for nth in 0..2 {
            let data = a.get(nth * SIDE * length..).unwrap_or_default();
            let rows = Rows {
                data,
                stride: length,
                cols: piece.terms,
            };
            pack::split(rows, &mut parts[nth * other..], distance);
        }
        let left = Stream {
            data: &parts,
            row: DEPTH,
            step: TILE,
            part: distance,
            other,
        };
        for (nth, weights) in piece.weights.chunks_exact(distance).enumerate() {
            let right = Stream {
                data: weights,
                row: DEPTH,
                step: TILE,
                part: 0,
                other,
            };
            let used = BLOCK.min(piece.cols.1 - nth * BLOCK);
            let c = &mut c[piece.cols.0 + nth * BLOCK..];
            if rows == BLOCK && used == BLOCK {
                let onto = piece.onto;
                session.multiply(left, right, sum(onto), Strided::rows(c, width));
            } else {
                let mut sums = [0.0; BLOCK * BLOCK];
                let apart = Strided::rows(&mut sums, BLOCK);
                session.multiply(left, right, sum(Onto::Set), apart);
                add_edge(&sums, &mut Strided::rows(c, width), rows, used, piece.onto);
            }
        }
    }
}

/// Stores the sums that are inside c: `used` of each of `rows`.
fn add_edge(sums: &[f32], c: &mut Strided, rows: usize, used: usize, onto: Onto) {
    for (c, sums) in c
        .data
        .chunks_mut(c.stride)
        .zip(sums.chunks_exact(BLOCK))
        .take(rows)
    {
        match onto {
            Onto::Set => c[..used].copy_from_slice(&sums[..used]),
            Onto::Add => c[..used]
                .iter_mut()
                .zip(sums)
                .for_each(|(c, sum)| *c += sum),
        }
    }
}
