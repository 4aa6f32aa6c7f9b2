//! RMS norm: `y = x / sqrt(mean(x^2) + eps) * w`, over rows of any width.

#![expect(
    clippy::inline_always,
    reason = "only what is inlined into `vectorised` is compiled for its instructions"
)]

use crate::math::{dot, vectorised};

/// Normalises every row of `w.len()` values.
pub(super) fn forward(x: &[f32], w: &[f32], eps: f32, y: &mut [f32]) {
    let width = w.len();
    vectorised(
        #[inline(always)]
        || {
            for (x, y) in x.chunks_exact(width).zip(y.chunks_exact_mut(width)) {
                let r = inverse_rms(x, eps);
                for ((y, x), w) in y.iter_mut().zip(x).zip(w) {
                    *y = x * r * w;
                }
            }
        },
    );
}

/// Adds the gradient with respect to x to `dx`, and the one with respect to w to `dw`, if given.
pub(super) fn backward(
    x: &[f32],
    w: &[f32],
    eps: f32,
    dy: &[f32],
    dx: &mut [f32],
    dw: Option<&mut [f32]>,
) {
    let width = w.len();
    let mut dw = dw;
    vectorised(
        #[inline(always)]
        || {
            let mut scaled = vec![0.0; width];
            for ((x, dy), dx) in x
                .chunks_exact(width)
                .zip(dy.chunks_exact(width))
                .zip(dx.chunks_exact_mut(width))
            {
                let r = inverse_rms(x, eps);
                for ((s, dy), w) in scaled.iter_mut().zip(dy).zip(w) {
                    *s = dy * w;
                }
                let along = dot(&scaled, x) * r * r * r / width as f32;
                for ((dx, s), x) in dx.iter_mut().zip(&scaled).zip(x) {
                    *dx += s * r - x * along;
                }
                if let Some(dw) = dw.as_deref_mut() {
                    for ((dw, dy), x) in dw.iter_mut().zip(dy).zip(x) {
                        *dw += dy * x * r;
                    }
                }
            }
        },
    );
}

#[inline(always)]
fn inverse_rms(x: &[f32], eps: f32) -> f32 {
    1.0 / (dot(x, x) / x.len() as f32 + eps).sqrt()
}
