//! The MLP's activation: `silu(gate) * up`.

use rayon::prelude::*;

use crate::math::{sigmoid, vectorised};

/// Values per task, enough to be worth waking a thread.
const PART: usize = 1 << 16;

/// `silu(gate) * up`.
pub(super) fn forward(gate: &[f32], up: &[f32], out: &mut [f32]) {
    out.par_chunks_mut(PART)
        .zip(gate.par_chunks(PART))
        .zip(up.par_chunks(PART))
        .for_each(|((out, gate), up)| {
            vectorised(
                #[inline(always)]
                || {
                    for ((out, gate), up) in out.iter_mut().zip(gate).zip(up) {
                        *out = gate * sigmoid(*gate) * up;
                    }
                },
            );
        });
}

/// Turns the gradient of the output, in `d_gate`, into the gradient of the gate, and writes that of
/// `up`.
pub(super) fn backward(gate: &[f32], up: &[f32], d_gate: &mut [f32], d_up: &mut [f32]) {
    let parts = d_gate.par_chunks_mut(PART).zip(d_up.par_chunks_mut(PART));
    parts
        .zip(gate.par_chunks(PART))
        .zip(up.par_chunks(PART))
        .for_each(|(((d_gate, d_up), gate), up)| {
            vectorised(
                #[inline(always)]
                || {
                    for (((d_gate, d_up), gate), up) in
                        d_gate.iter_mut().zip(d_up).zip(gate).zip(up)
                    {
                        let s = sigmoid(*gate);
                        *d_up = *d_gate * gate * s;
                        *d_gate *= up * s * (1.0 + gate * (1.0 - s));
                    }
                },
            );
        });
}
