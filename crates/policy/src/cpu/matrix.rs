//! Products with a weight matrix in any precision.

use super::bf16;
use super::gemm::{Dims, View, product};
use super::onto::{Onto, Strided};
use crate::model::{Tensor, Values};

/// `y = x w^T`, or added to y, for rows of x.
pub(super) fn forward(w: &Tensor, x: &[f32], y: &mut [f32], onto: Onto) {
    let (outputs, inputs) = (w.rows(), w.cols());
    match &w.data {
        Values::F32(data) => {
            let dims = Dims(x.len() / inputs, outputs, inputs);
            product(
                Strided::rows(y, outputs),
                View::rows(x, inputs),
                View::rows(data, inputs).t(),
                dims,
                1.0,
                onto,
            );
        }
        Values::Bf16(data) => bf16::forward(
            y,
            x,
            bf16::Matrix {
                data,
                outputs,
                inputs,
            },
            onto,
        ),
    }
}

/// `dx = dy w`, or added to dx, for rows of dy.
pub(super) fn backward(w: &Tensor, dy: &[f32], dx: &mut [f32], onto: Onto) {
    let (outputs, inputs) = (w.rows(), w.cols());
    match &w.data {
        Values::F32(data) => {
            let dims = Dims(dy.len() / outputs, inputs, outputs);
            product(
                Strided::rows(dx, inputs),
                View::rows(dy, outputs),
                View::rows(data, inputs),
                dims,
                1.0,
                onto,
            );
        }
        Values::Bf16(data) => bf16::backward(
            dx,
            dy,
            bf16::Matrix {
                data,
                outputs,
                inputs,
            },
            onto,
        ),
    }
}

/// Some rows, one after the other.
pub(super) fn rows(w: &Tensor, which: &[u32]) -> Vec<f32> {
    let width = w.cols();
    let at = |row: &u32| *row as usize * width..(*row as usize + 1) * width;
    match &w.data {
        Values::F32(data) => which
            .iter()
            .flat_map(|row| &data[at(row)])
            .copied()
            .collect(),
        Values::Bf16(data) => which
            .iter()
            .flat_map(|row| &data[at(row)])
            .map(|value| value.to_f32())
            .collect(),
    }
}
