//! Products of a few rows with a large matrix, as in decoding. Every weight is read once, and
//! nothing is packed. Packing pays off only with many rows.

#![expect(
    clippy::inline_always,
    reason = "what is not inlined into the dispatched call is not compiled for its instructions"
)]

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::onto::{Onto, Strided};

/// Rows with a stride.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a, T> {
    pub(super) data: &'a [T],
    pub(super) stride: usize,
    pub(super) count: usize,
}

impl<'a, T> Rows<'a, T> {
    #[inline(always)]
    fn row(&self, index: usize, length: usize) -> &'a [T] {
        &self.data[index * self.stride..][..length]
    }
}

/// Weights as stored in memory, P per 32 bits.
pub(super) trait Weight<const P: usize>: bytemuck::Pod + Sync {
    /// Widens a register of weights to P registers of f32: the first weight of every 32 bits, then
    /// the second.
    fn widen<S: Simd>(simd: S, bits: S::u32s) -> [S::f32s; P];

    /// The weights in one element as f32.
    fn values(self) -> [f32; P];
}

impl Weight<1> for f32 {
    #[inline(always)]
    fn widen<S: Simd>(simd: S, bits: S::u32s) -> [S::f32s; 1] {
        [simd.transmute_f32s_u32s(bits)]
    }

    #[inline(always)]
    fn values(self) -> [f32; 1] {
        [self]
    }
}

/// Two neighbours in bf16. A bf16 value is the upper half of an f32.
impl Weight<2> for u32 {
    #[inline(always)]
    fn widen<S: Simd>(simd: S, bits: S::u32s) -> [S::f32s; 2] {
        let low = simd.wrapping_dyn_shl_u32s(bits, simd.splat_u32s(16));
        let high = simd.and_u32s(bits, simd.splat_u32s(0xffff_0000));
        [
            simd.transmute_f32s_u32s(low),
            simd.transmute_f32s_u32s(high),
        ]
    }

    #[inline(always)]
    fn values(self) -> [f32; 2] {
        [
            f32::from_bits(self << 16),
            f32::from_bits(self & 0xffff_0000),
        ]
    }
}

/// Weight rows and x rows per tile. With AVX-512 the 16 sums stay in registers.
const TILE: usize = 4;

/// Values per cache line.
const LINE: usize = 16;

/// Weight rows per task.
const TASK: usize = 128;

/// `y = scale * x w^T`, or added to y, for an x with few rows. `y` has rows of `w.count`, and a row
/// of w has `length` values.
pub(super) fn product<T: Weight<P>, const P: usize>(
    y: Strided,
    x: Rows<f32>,
    w: Rows<T>,
    length: usize,
    scale: f32,
    onto: Onto,
) {
    let weights = Weights { rows: w, length };
    product_on(Arch::new(), y, x, weights, scale, onto);
}

/// Weight rows of `length` values.
#[derive(Clone, Copy)]
pub(super) struct Weights<'a, T> {
    pub(super) rows: Rows<'a, T>,
    pub(super) length: usize,
}

/// The same with the given instruction set.
pub(super) fn product_on<T: Weight<P>, const P: usize>(
    arch: Arch,
    y: Strided,
    x: Rows<f32>,
    weights: Weights<T>,
    scale: f32,
    onto: Onto,
) {
    let Weights { rows: w, length } = weights;
    let aligned = Aligned::copy::<P>(x, length);
    let x = aligned.rows();
    let mut sums = vec![0.0; w.count * x.count];
    let parallel = rayon::current_num_threads() > 1 && w.count * x.count * length * P > 1 << 18;
    let block = |(nth, out): (usize, &mut [f32])| {
        let count = out.len() / x.count;
        let w = Rows {
            data: &w.data[nth * TASK * w.stride..],
            count,
            ..w
        };
        arch.dispatch(Block { x, w, length, out });
    };
    if parallel {
        sums.par_chunks_mut(TASK * x.count)
            .enumerate()
            .for_each(block);
    } else {
        sums.chunks_mut(TASK * x.count).enumerate().for_each(block);
    }
    place(&sums, x.count, TASK, y, scale, onto);
}

/// Copies the results of tasks with `task` weight rows each, for `rows` rows of x, into place.
pub(super) fn place(sums: &[f32], rows: usize, task: usize, y: Strided, scale: f32, onto: Onto) {
    let Strided { data, stride } = y;
    for (nth, block) in sums.chunks(task * rows).enumerate() {
        let width = block.len() / rows;
        for (row, from) in block.chunks_exact(width).enumerate() {
            let y = &mut data[row * stride + nth * task..][..width];
            match onto {
                Onto::Set => y.iter_mut().zip(from).for_each(|(y, sum)| *y = scale * sum),
                Onto::Add => y
                    .iter_mut()
                    .zip(from)
                    .for_each(|(y, sum)| *y += scale * sum),
            }
        }
    }
}

/// Rows aligned to cache lines, because a load across two lines costs two and x is loaded for every
/// weight. Values have the order of widened weights: the first of every P, then the second.
struct Aligned {
    data: Vec<f32>,
    first: usize,
    stride: usize,
    count: usize,
}

impl Aligned {
    fn copy<const P: usize>(x: Rows<f32>, length: usize) -> Self {
        let part = length.next_multiple_of(LINE);
        let stride = P * part;
        let mut data = vec![0.0; x.count * stride + LINE];
        let first = data
            .as_ptr()
            .align_offset(LINE * size_of::<f32>())
            .min(LINE);
        for (index, to) in data[first..]
            .chunks_exact_mut(stride)
            .take(x.count)
            .enumerate()
        {
            let from = x.row(index, P * length);
            for (nth, to) in to.chunks_exact_mut(part).enumerate() {
                to.iter_mut()
                    .zip(from[nth..].iter().step_by(P))
                    .for_each(|(to, from)| *to = *from);
            }
        }
        Self {
            data,
            first,
            stride,
            count: x.count,
        }
    }

    fn rows(&self) -> Rows<'_, f32> {
        Rows {
            data: &self.data[self.first..],
            stride: self.stride,
            count: self.count,
        }
    }
}

/// Some weight rows against all rows of x; `out` has a row of `w.count` for each row of x.
struct Block<'a, T, const P: usize> {
    x: Rows<'a, f32>,
    w: Rows<'a, T>,
    length: usize,
    out: &'a mut [f32],
}

impl<T: Weight<P>, const P: usize> WithSimd for Block<'_, T, P> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { x, w, length, out } = self;
        let mut first = 0;
        while first + TILE <= w.count {
            let weights = std::array::from_fn(|r| w.row(first + r, length));
            against_all::<S, T, P, TILE>(
                simd,
                weights,
                x,
                length,
                Strided::rows(&mut out[first..], w.count),
            );
            first += TILE;
        }
        while first < w.count {
            against_all::<S, T, P, 1>(
                simd,
                [w.row(first, length)],
                x,
                length,
                Strided::rows(&mut out[first..], w.count),
            );
            first += 1;
        }
    }
}

#[inline(always)]
fn against_all<S: Simd, T: Weight<P>, const P: usize, const R: usize>(
    simd: S,
    w: [&[T]; R],
    x: Rows<f32>,
    length: usize,
    out: Strided,
) {
    let Strided {
        data: out,
        stride: width,
    } = out;
    let mut first = 0;
    while first + TILE <= x.count {
        let rows = std::array::from_fn(|m| parts(x, first + m, length));
        store(tile::<S, T, P, R, TILE>(simd, w, rows), out, first, width);
        first += TILE;
    }
    match x.count - first {
        3 => {
            let rows = std::array::from_fn(|m| parts(x, first + m, length));
            store(tile::<S, T, P, R, 3>(simd, w, rows), out, first, width);
        }
        2 => {
            let rows = std::array::from_fn(|m| parts(x, first + m, length));
            store(tile::<S, T, P, R, 2>(simd, w, rows), out, first, width);
        }
        1 => store(
            tile::<S, T, P, R, 1>(simd, w, [parts(x, first, length)]),
            out,
            first,
            width,
        ),
        _ => {}
    }
}

/// The parts of a row of x in the layout of `Aligned`.
#[inline(always)]
fn parts<const P: usize>(x: Rows<'_, f32>, index: usize, length: usize) -> [&[f32]; P] {
    let row = &x.data[index * x.stride..];
    std::array::from_fn(|part| &row[part * (x.stride / P)..][..length])
}

#[inline(always)]
fn store<const R: usize, const M: usize>(
    sums: [[f32; M]; R],
    out: &mut [f32],
    first: usize,
    width: usize,
) {
    for m in 0..M {
        for (r, sums) in sums.iter().enumerate() {
            out[(first + m) * width + r] = sums[m];
        }
    }
}

/// All dot products of R weight rows with M rows of x.
#[inline(always)]
fn tile<S: Simd, T: Weight<P>, const P: usize, const R: usize, const M: usize>(
    simd: S,
    w: [&[T]; R],
    x: [[&[f32]; P]; M],
) -> [[f32; M]; R] {
    let w_rest = w;
    let w = w.map(|row| S::as_simd_u32s(bytemuck::cast_slice(row)).0);
    let x_simd = x.map(|parts| parts.map(S::as_simd_f32s));
    let mut sums = [[simd.splat_f32s(0.0); M]; R];
    let steps = w[0].len();
    // Repeated for the compiler, so that it omits bounds checks in the loop.
    let (w, x_body) = (
        w.map(|body| &body[..steps]),
        x_simd.map(|parts| parts.map(|(body, _)| &body[..steps])),
    );
    for i in 0..steps {
        for r in 0..R {
            let weights = T::widen(simd, w[r][i]);
            for m in 0..M {
                for p in 0..P {
                    sums[r][m] = simd.mul_add_e_f32s(weights[p], x_body[m][p][i], sums[r][m]);
                }
            }
        }
    }
    let done = steps * S::U32_LANES;
    let mut out = [[0.0; M]; R];
    for r in 0..R {
        for m in 0..M {
            let rest = |p: usize| {
                let weights = w_rest[r][done..]
                    .iter()
                    .map(move |weight| weight.values()[p]);
                weights.zip(x_simd[m][p].1).map(|(w, x)| w * x).sum::<f32>()
            };
            out[r][m] = simd.reduce_sum_f32s(sums[r][m]) + (0..P).map(rest).sum::<f32>();
        }
    }
    out
}
