//! Products of a few rows with a large matrix, as decoding needs them: every weight is read once, and
//! nothing is packed. General products pay for packing with many rows; a handful of rows never would.

#![expect(
    clippy::inline_always,
    reason = "what is not inlined into the dispatched call is not compiled for its instructions"
)]

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::gemm::Onto;

/// Rows of x, one after the other from a stride.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) data: &'a [f32],
    pub(super) stride: usize,
    pub(super) count: usize,
}

impl<'a> Rows<'a> {
    #[inline(always)]
    fn row(&self, index: usize, length: usize) -> &'a [f32] {
        &self.data[index * self.stride..][..length]
    }
}

/// Weight rows to one tile, and x rows to one tile: 16 sums stay in registers with AVX-512.
const TILE: usize = 4;

/// Values to a cache line.
const LINE: usize = 16;

/// Weight rows to one task.
const TASK: usize = 128;

/// `y = scale * x w^T`, or added onto y, where x has few rows; `y` has rows of `w.count`.
pub(super) fn product((y, y_stride): (&mut [f32], usize), x: Rows, w: Rows, length: usize, scale: f32, onto: Onto) {
    let aligned = Aligned::copy(x, length);
    let x = aligned.rows();
    let mut sums = vec![0.0; w.count * x.count];
    let parallel = rayon::current_num_threads() > 1 && w.count * x.count * length > 1 << 18;
    let block = |(nth, out): (usize, &mut [f32])| {
        let count = out.len() / x.count;
        let w = Rows { data: &w.data[nth * TASK * w.stride..], count, ..w };
        Arch::new().dispatch(Block { x, w, length, out });
    };
    if parallel {
        sums.par_chunks_mut(TASK * x.count).enumerate().for_each(block);
    } else {
        sums.chunks_mut(TASK * x.count).enumerate().for_each(block);
    }
    for (nth, block) in sums.chunks(TASK * x.count).enumerate() {
        let width = block.len() / x.count;
        for (row, from) in block.chunks_exact(width).enumerate() {
            let y = &mut y[row * y_stride + nth * TASK..][..width];
            match onto {
                Onto::Set => y.iter_mut().zip(from).for_each(|(y, sum)| *y = scale * sum),
                Onto::Add => y.iter_mut().zip(from).for_each(|(y, sum)| *y += scale * sum),
            }
        }
    }
}

/// Rows that begin on cache lines: a load that crosses two lines costs two, and x is loaded for every weight.
struct Aligned {
    data: Vec<f32>,
    first: usize,
    stride: usize,
    count: usize,
}

impl Aligned {
    fn copy(x: Rows, length: usize) -> Self {
        let stride = length.next_multiple_of(LINE);
        let mut data = vec![0.0; x.count * stride + LINE];
        let first = data.as_ptr().align_offset(LINE * size_of::<f32>()).min(LINE);
        for (index, to) in data[first..].chunks_exact_mut(stride).take(x.count).enumerate() {
            to[..length].copy_from_slice(x.row(index, length));
        }
        Self { data, first, stride, count: x.count }
    }

    fn rows(&self) -> Rows<'_> {
        Rows { data: &self.data[self.first..], stride: self.stride, count: self.count }
    }
}

/// Some weight rows against all rows of x; `out` has a row of `w.count` for each row of x.
struct Block<'a> {
    x: Rows<'a>,
    w: Rows<'a>,
    length: usize,
    out: &'a mut [f32],
}

impl WithSimd for Block<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { x, w, length, out } = self;
        let mut first = 0;
        while first + TILE <= w.count {
            let weights = std::array::from_fn(|r| w.row(first + r, length));
            against_all::<S, TILE>(simd, weights, x, length, (&mut out[first..], w.count));
            first += TILE;
        }
        while first < w.count {
            against_all::<S, 1>(simd, [w.row(first, length)], x, length, (&mut out[first..], w.count));
            first += 1;
        }
    }
}

#[inline(always)]
fn against_all<S: Simd, const R: usize>(simd: S, w: [&[f32]; R], x: Rows, length: usize, out: (&mut [f32], usize)) {
    let (out, width) = out;
    let mut first = 0;
    while first + TILE <= x.count {
        let rows = std::array::from_fn(|m| x.row(first + m, length));
        store(tile::<S, R, TILE>(simd, w, rows), out, first, width);
        first += TILE;
    }
    match x.count - first {
        3 => {
            let rows = std::array::from_fn(|m| x.row(first + m, length));
            store(tile::<S, R, 3>(simd, w, rows), out, first, width);
        }
        2 => {
            let rows = std::array::from_fn(|m| x.row(first + m, length));
            store(tile::<S, R, 2>(simd, w, rows), out, first, width);
        }
        1 => store(tile::<S, R, 1>(simd, w, [x.row(first, length)]), out, first, width),
        _ => {}
    }
}

#[inline(always)]
fn store<const R: usize, const M: usize>(sums: [[f32; M]; R], out: &mut [f32], first: usize, width: usize) {
    for m in 0..M {
        for (r, sums) in sums.iter().enumerate() {
            out[(first + m) * width + r] = sums[m];
        }
    }
}

/// All dot products of R weight rows with M rows of x.
#[inline(always)]
fn tile<S: Simd, const R: usize, const M: usize>(simd: S, w: [&[f32]; R], x: [&[f32]; M]) -> [[f32; M]; R] {
    let w = w.map(S::as_simd_f32s);
    let x = x.map(S::as_simd_f32s);
    let mut sums = [[simd.splat_f32s(0.0); M]; R];
    let steps = w[0].0.len();
    // Said again for the compiler, so that it checks no bounds inside the loop.
    let (w_body, x_body) = (w.map(|(body, _)| &body[..steps]), x.map(|(body, _)| &body[..steps]));
    for i in 0..steps {
        for r in 0..R {
            let weight = w_body[r][i];
            for m in 0..M {
                sums[r][m] = simd.mul_add_e_f32s(weight, x_body[m][i], sums[r][m]);
            }
        }
    }
    let mut out = [[0.0; M]; R];
    for r in 0..R {
        for m in 0..M {
            let rest: f32 = w[r].1.iter().zip(x[m].1).map(|(w, x)| w * x).sum();
            out[r][m] = simd.reduce_sum_f32s(sums[r][m]) + rest;
        }
    }
    out
}
