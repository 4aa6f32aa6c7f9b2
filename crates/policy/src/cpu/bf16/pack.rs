//! Packs matrices into the tile layout of the matrix unit.
//!
//! A bf16 value has 8 bits of mantissa. Activations and gradients go into the unit as two such
//! values, which together have 16 bits. This loses hundreds of times less than rounding the
//! weights, and sampler and trainer still agree to 1e-4. A third part would keep all of f32, but
//! then training an adapter was no faster than with weights in f32.

#![expect(
    clippy::inline_always,
    reason = "only what is inlined into `vectorised` is compiled for its instructions"
)]

use std::ops::{Deref, DerefMut};

use half::bf16;
use half::slice::HalfFloatSliceExt;

use super::tiles::{DEPTH, SIDE, TILE};
use crate::math::vectorised;

/// Number of bf16 values that represent one f32 value.
pub(super) const PARTS: usize = 2;

/// Memory for tiles. Their rows are aligned to cache lines, because a row across two lines would
/// cost two loads.
pub(super) struct Tiles {
    data: Vec<u16>,
    first: usize,
}

impl Tiles {
    /// Room for `values` values, all zero.
    pub(super) fn zeros(values: usize) -> Self {
        let data = vec![0; values + DEPTH];
        let first = data
            .as_ptr()
            .align_offset(DEPTH * size_of::<u16>())
            .min(DEPTH);
        Self { data, first }
    }
}

impl Deref for Tiles {
    type Target = [u16];

    fn deref(&self) -> &[u16] {
        &self.data[self.first..]
    }
}

impl DerefMut for Tiles {
    fn deref_mut(&mut self) -> &mut [u16] {
        &mut self.data[self.first..]
    }
}

/// Rows in f32, and the columns to pack.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) data: &'a [f32],
    pub(super) stride: usize,
    /// First column and number of columns.
    pub(super) cols: (usize, usize),
}

/// Splits up to sixteen rows into tiles, one part after the other, `distance` apart. Values beyond
/// the rows and columns are zero.
pub(super) fn split(rows: Rows, tiles: &mut [u16], distance: usize) {
    let (first, count) = rows.cols;
    let steps = count.div_ceil(DEPTH);
    let whole = rows.data.len() >= SIDE * rows.stride && count.is_multiple_of(DEPTH);
    if !whole {
        (0..PARTS).for_each(|part| tiles[part * distance..][..steps * TILE].fill(0));
    }
    vectorised(
        #[inline(always)]
        || {
            for (row, x) in rows.data.chunks(rows.stride).take(SIDE).enumerate() {
                let (full, rest) = x[first..first + count].as_chunks::<DEPTH>();
                for (step, x) in full.iter().enumerate() {
                    for (part, halves) in cut(*x).iter().enumerate() {
                        tiles[part * distance + step * TILE + row * DEPTH..][..DEPTH]
                            .copy_from_slice(halves);
                    }
                }
                if !rest.is_empty() {
                    let mut x = [0.0; DEPTH];
                    x[..rest.len()].copy_from_slice(rest);
                    for (part, halves) in cut(x).iter().enumerate() {
                        tiles[part * distance + full.len() * TILE + row * DEPTH..][..DEPTH]
                            .copy_from_slice(halves);
                    }
                }
            }
        },
    );
}

/// Each value as its nearest bf16 value, its remainder as the next nearest, and so on.
#[inline(always)]
fn cut(mut rest: [f32; DEPTH]) -> [[u16; DEPTH]; PARTS] {
    let mut parts = [[0; DEPTH]; PARTS];
    for part in &mut parts {
        for (rest, half) in rest.iter_mut().zip(part) {
            let bits = nearest(*rest);
            *half = (bits >> 16) as u16;
            *rest -= f32::from_bits(bits);
        }
    }
    parts
}

/// The bits of the nearest bf16 value as f32. Ties round to even, and NaN stays NaN.
#[inline(always)]
fn nearest(value: f32) -> u32 {
    let bits = value.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1));
    (if value.is_nan() { bits } else { rounded }) & 0xffff_0000
}

/// Turns the rows of a tile into columns, with two values of depth next to each other.
pub(super) fn transpose(tile: &mut [u16]) {
    let mut turned = [[[0u16; 2]; SIDE]; SIDE];
    for (row, values) in tile.chunks_exact(DEPTH).enumerate() {
        for (pair, to) in values.as_chunks().0.iter().zip(&mut turned) {
            to[row] = *pair;
        }
    }
    tile.copy_from_slice(turned.as_flattened().as_flattened());
}

/// A matrix in bf16 with all columns.
#[derive(Clone, Copy)]
pub(super) struct Weights<'a> {
    pub(super) data: &'a [bf16],
    pub(super) stride: usize,
}

impl Weights<'_> {
    /// Packs sixteen rows of the matrix as columns of tiles. `rows` and `cols` are starts and
    /// counts.
    pub(super) fn rows_as_columns(
        self,
        rows: (usize, usize),
        cols: (usize, usize),
        tiles: &mut [u16],
    ) {
        if rows.1 < SIDE || !cols.1.is_multiple_of(DEPTH) {
            tiles.fill(0);
        }
        for row in 0..rows.1.min(SIDE) {
            let values =
                self.data[(rows.0 + row) * self.stride + cols.0..][..cols.1].reinterpret_cast();
            for (tile, values) in tiles.chunks_exact_mut(TILE).zip(values.chunks(DEPTH)) {
                tile[row * DEPTH..][..values.len()].copy_from_slice(values);
            }
        }
        tiles.chunks_exact_mut(TILE).for_each(transpose);
    }

    /// Packs sixteen columns of the matrix as columns of tiles.
    pub(super) fn columns(self, rows: (usize, usize), cols: (usize, usize), tiles: &mut [u16]) {
        let width = cols.1.min(SIDE);
        if width < SIDE || !rows.1.is_multiple_of(DEPTH) {
            tiles.fill(0);
        }
        if width == 0 {
            return;
        }
        let row = |index: usize| {
            let start = (rows.0 + index) * self.stride + cols.0;
            self.data[start..start + width].reinterpret_cast()
        };
        vectorised(
            #[inline(always)]
            || {
                for (nth, pairs) in tiles
                    .chunks_exact_mut(DEPTH)
                    .take(rows.1.div_ceil(2))
                    .enumerate()
                {
                    let upper = row(2 * nth);
                    // An odd last row has no row below it.
                    let lower = if 2 * nth + 1 < rows.1 {
                        row(2 * nth + 1)
                    } else {
                        &[0; SIDE][..width]
                    };
                    for ((pair, upper), lower) in
                        pairs.as_chunks_mut().0.iter_mut().zip(upper).zip(lower)
                    {
                        *pair = [*upper, *lower];
                    }
                }
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise;

    #[test]
    fn the_parts_add_up_to_sixteen_bits_of_the_value() {
        let values =
            std::array::from_fn(|i| noise::normal(5, i as u64) * 10f32.powi(i as i32 % 9 - 4));
        let parts = cut(values);
        for (index, value) in values.iter().enumerate() {
            let sum: f64 = parts
                .iter()
                .map(|part| f64::from(bf16::from_bits(part[index]).to_f32()))
                .sum();
            let error = (sum / f64::from(*value) - 1.0).abs();
            assert!(error < 2f64.powi(-8 * PARTS as i32), "{value} became {sum}");
        }
    }

    #[test]
    fn nan_stays_nan() {
        let parts = cut(std::array::from_fn(|i| {
            if i % 2 == 0 { f32::NAN } else { f32::INFINITY }
        }));
        for index in 0..2 {
            let sum: f32 = parts
                .iter()
                .map(|part| bf16::from_bits(part[index]).to_f32())
                .sum();
            assert!(!sum.is_finite());
        }
    }

    #[test]
    fn a_transposed_tile_has_pairs_of_its_rows_in_columns() {
        let mut tile: Vec<u16> = (0..TILE as u16).collect();
        transpose(&mut tile);
        assert_eq!(tile[..4], [0, 1, 32, 33]);
        assert_eq!(tile[DEPTH..DEPTH + 2], [2, 3]);
    }
}
