//! A frozen matrix of weights.

use half::bf16;

/// A matrix in bf16, (outputs, inputs) in row-major order.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct Matrix<'a> {
    pub(in crate::cpu) data: &'a [bf16],
    pub(in crate::cpu) outputs: usize,
    pub(in crate::cpu) inputs: usize,
}
