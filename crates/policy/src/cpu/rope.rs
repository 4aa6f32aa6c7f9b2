//! Rotary positions: pairs (i, i + half) of every head rotate by an angle that grows with the
//! position.

use crate::model::Config;

/// Frequencies of one head, slowest last.
pub(super) struct Rope {
    frequencies: Vec<f64>,
}

/// The direction of the rotation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// As the forward pass does.
    Forward,
    /// Backwards, which is also the gradient.
    Back,
}

impl Rope {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            frequencies: config.rope_frequencies(),
        }
    }

    /// Cosines and sines of these positions, one row of `head_dim / 2` each.
    pub(super) fn angles(&self, positions: impl Iterator<Item = usize>) -> Angles {
        let mut angles = Angles {
            half: self.frequencies.len(),
            cos: Vec::new(),
            sin: Vec::new(),
        };
        for position in positions {
            for frequency in &self.frequencies {
                let (sin, cos) = (position as f64 * frequency).sin_cos();
                angles.cos.push(cos as f32);
                angles.sin.push(sin as f32);
            }
        }
        angles
    }
}

/// Cosines and sines for the rows of a batch.
pub(super) struct Angles {
    half: usize,
    cos: Vec<f32>,
    sin: Vec<f32>,
}

impl Angles {
    /// Rotates every head of every row.
    pub(super) fn turn(&self, x: &mut [f32], heads: usize, turn: Turn) {
        let half = self.half;
        let sign = if turn == Turn::Forward { 1.0 } else { -1.0 };
        let rows = x.chunks_exact_mut(heads * 2 * half);
        for ((row, cos), sin) in rows
            .zip(self.cos.chunks_exact(half))
            .zip(self.sin.chunks_exact(half))
        {
            for head in row.chunks_exact_mut(2 * half) {
                let (low, high) = head.split_at_mut(half);
                for i in 0..half {
                    let (a, b, s) = (low[i], high[i], sin[i] * sign);
                    low[i] = a * cos[i] - b * s;
                    high[i] = b * cos[i] + a * s;
                }
            }
        }
    }
}
