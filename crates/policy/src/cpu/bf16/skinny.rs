//! Products of a few rows. Weights become f32 in registers, two neighbours per 32 bits.

use half::slice::HalfFloatSliceExt;
use pulp::Arch;

use super::matrix::Matrix;
use super::widened;
use crate::cpu::onto::{Onto, Strided};
use crate::cpu::skinny::{Rows, Weights, product_on};

/// `y = x w^T`, or added to y.
pub(super) fn product(y: &mut [f32], x: &[f32], w: Matrix, onto: Onto) {
    product_with(Arch::new(), y, x, w, onto);
}

/// The same with the given instruction set.
pub(super) fn product_with(arch: Arch, y: &mut [f32], x: &[f32], w: Matrix, onto: Onto) {
    let Matrix {
        data,
        outputs,
        inputs,
    } = w;
    let x_rows = Rows {
        data: x,
        stride: inputs,
        count: x.len() / inputs,
    };
    // Rows of odd length are not aligned to 32 bits. No model has them.
    match bytemuck::try_cast_slice::<u16, u32>(data.reinterpret_cast()) {
        Ok(pairs) if inputs.is_multiple_of(2) => {
            let (stride, length) = (inputs / 2, inputs / 2);
            let w = Rows {
                data: pairs,
                stride,
                count: outputs,
            };
            let weights = Weights { rows: w, length };
            let y = Strided::rows(y, outputs);
            product_on(arch, y, x_rows, weights, 1.0, onto);
        }
        _ => widened::forward(y, x, w, onto),
    }
}
