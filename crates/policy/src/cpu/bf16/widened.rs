//! Products of many rows without a matrix unit. Each chunk of the weights is widened to f32 and
//! multiplied like any other matrix.

use half::bf16;

use super::matrix::Matrix;
use crate::cpu::gemm::{Dims, View, product};
use crate::cpu::onto::{Onto, Strided};
use crate::math::vectorised;

/// Values of a chunk: 4 MB of f32.
const CHUNK: usize = 1 << 20;

/// The same values in f32.
pub(super) fn widen(from: &[bf16], to: &mut [f32]) {
    vectorised(
        #[inline(always)]
        || {
            from.iter()
                .zip(to)
                .for_each(|(from, to)| *to = f32::from_bits(u32::from(from.to_bits()) << 16));
        },
    );
}

/// Rows of the matrix per chunk.
fn chunk_rows(w: Matrix) -> usize {
    (CHUNK / w.inputs).clamp(1, w.outputs)
}

/// `y = x w^T`, or added to y.
pub(super) fn forward(y: &mut [f32], x: &[f32], w: Matrix, onto: Onto) {
    let Matrix {
        data,
        outputs,
        inputs,
    } = w;
    let rows = x.len() / inputs;
    let mut wide = vec![0.0; chunk_rows(w) * inputs];
    for (nth, chunk) in data.chunks(wide.len()).enumerate() {
        let wide = &mut wide[..chunk.len()];
        widen(chunk, wide);
        let y = Strided::rows(&mut y[nth * chunk_rows(w)..], outputs);
        let dims = Dims(rows, chunk.len() / inputs, inputs);
        product(
            y,
            View::rows(x, inputs),
            View::rows(wide, inputs).t(),
            dims,
            1.0,
            onto,
        );
    }
}

/// `dx = dy w`, or added to dx.
pub(super) fn backward(dx: &mut [f32], dy: &[f32], w: Matrix, onto: Onto) {
    let Matrix {
        data,
        outputs,
        inputs,
    } = w;
    let rows = dy.len() / outputs;
    let mut wide = vec![0.0; chunk_rows(w) * inputs];
    for (nth, chunk) in data.chunks(wide.len()).enumerate() {
        let wide = &mut wide[..chunk.len()];
        widen(chunk, wide);
        let dy = View::rows(&dy[nth * chunk_rows(w)..], outputs);
        let onto = if nth == 0 { onto } else { Onto::Add };
        let dims = Dims(rows, inputs, chunk.len() / inputs);
        product(
            Strided::rows(&mut *dx, inputs),
            dy,
            View::rows(wide, inputs),
            dims,
            1.0,
            onto,
        );
    }
}
