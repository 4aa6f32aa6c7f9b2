//! From the last hidden states to logprobs of given tokens, and back.
//!
//! Only rows that predict a scored token are computed, one chunk at a time, so the matrix of all
//! logits never exists. Every loss in this crate is a sum over tokens of a function of the token's
//! logprob. So its gradient enters here as one coefficient per token.

use rayon::prelude::*;

use super::gemm::{Dims, View, product};
use super::matrix;
use super::network::{Gradient, Network};
use super::norm;
use super::onto::{Onto, Strided};
use crate::math::{exponentiate, max, vectorised};
use crate::pack::{Coefficient, Scored, Target};

/// Values of one chunk of logits: 128 MB.
const CHUNK: usize = 1 << 25;

impl Network {
    /// Logits of the given hidden states, one row of the vocabulary each.
    pub(super) fn head_logits(&self, hidden: &[f32]) -> Vec<f32> {
        let normed = self.head_norm(hidden);
        let (vocab, width) = (self.config.vocab, self.config.hidden);
        let mut logits = vec![0.0; hidden.len() / width * vocab];
        self.multiply_head(&normed, &mut logits);
        logits
    }

    fn head_norm(&self, hidden: &[f32]) -> Vec<f32> {
        let mut normed = vec![0.0; hidden.len()];
        norm::forward(
            hidden,
            &self.weights.norm.data,
            self.config.norm_eps as f32,
            &mut normed,
        );
        normed
    }

    fn multiply_head(&self, normed: &[f32], logits: &mut [f32]) {
        matrix::forward(self.weights.head(), normed, logits, Onto::Set);
    }

    fn chunks<'a>(&self, targets: &'a [Target]) -> impl Iterator<Item = (usize, &'a [Target])> {
        let size = (CHUNK / self.config.vocab).clamp(16, 512);
        targets
            .chunks(size)
            .enumerate()
            .map(move |(nth, chunk)| (nth * size, chunk))
    }

    fn gather(&self, hidden: &[f32], targets: &[Target]) -> Vec<f32> {
        let width = self.config.hidden;
        targets
            .iter()
            .flat_map(|target| &hidden[target.row * width..][..width])
            .copied()
            .collect()
    }

    /// Scores every target.
    pub(super) fn head_scores(
        &self,
        hidden: &[f32],
        targets: &[Target],
        temperature: f32,
    ) -> Vec<Scored> {
        let mut scores = Vec::with_capacity(targets.len());
        for (_, chunk) in self.chunks(targets) {
            let mut logits = self.head_logits(&self.gather(hidden, chunk));
            scores.extend(
                score_rows(&mut logits, self.config.vocab, chunk, temperature)
                    .iter()
                    .map(|row| row.scored),
            );
        }
        scores
    }

    /// Scores every target, gets its coefficient, and returns the gradient of the hidden states.
    pub(super) fn head_gradient(
        &self,
        hidden: &[f32],
        targets: &[Target],
        temperature: f32,
        coefficient: &mut Coefficient,
        gradient: &mut Gradient,
    ) -> Vec<f32> {
        let (vocab, width) = (self.config.vocab, self.config.hidden);
        let mut d_hidden = vec![0.0; hidden.len()];
        for (first, chunk) in self.chunks(targets) {
            let gathered = self.gather(hidden, chunk);
            let normed = self.head_norm(&gathered);
            let mut logits = vec![0.0; chunk.len() * vocab];
            self.multiply_head(&normed, &mut logits);
            let rows = score_rows(&mut logits, vocab, chunk, temperature);
            let coefficients: Vec<f32> = rows
                .iter()
                .enumerate()
                .map(|(index, row)| coefficient(first + index, row.scored))
                .collect();
            logits
                .par_chunks_mut(vocab)
                .zip(&rows)
                .zip(&coefficients)
                .zip(chunk)
                .for_each(|(((row, facts), coefficient), target)| {
                    let slope = coefficient / temperature;
                    let factor = -slope * facts.inverse_sum;
                    vectorised(
                        #[inline(always)]
                        || row.iter_mut().for_each(|value| *value *= factor),
                    );
                    row[target.token as usize] += slope;
                });
            let mut d_normed = vec![0.0; gathered.len()];
            matrix::backward(self.weights.head(), &logits, &mut d_normed, Onto::Set);
            let mut d_gathered = vec![0.0; gathered.len()];
            let eps = self.config.norm_eps as f32;
            let mut d_norm = None;
            if let Gradient::Full(full) = gradient {
                let head = full.head.as_mut().unwrap_or(&mut full.embed);
                let normed = View::rows(&normed, width);
                let dims = Dims(vocab, width, chunk.len());
                let d_logits = View::rows(&logits, vocab).t();
                product(
                    Strided::rows(&mut head.data, width),
                    d_logits,
                    normed,
                    dims,
                    1.0,
                    Onto::Add,
                );
                d_norm = Some(&mut full.norm.data[..]);
            }
            norm::backward(
                &gathered,
                &self.weights.norm.data,
                eps,
                &d_normed,
                &mut d_gathered,
                d_norm,
            );
            for (target, d) in chunk.iter().zip(d_gathered.chunks_exact(width)) {
                d_hidden[target.row * width..][..width].copy_from_slice(d);
            }
        }
        d_hidden
    }
}

struct RowFacts {
    scored: Scored,
    inverse_sum: f32,
}

/// Replaces each row of logits by the exponentials of (z - max) / T, and scores its target.
fn score_rows(
    logits: &mut [f32],
    vocab: usize,
    targets: &[Target],
    temperature: f32,
) -> Vec<RowFacts> {
    let rows = logits.par_chunks_mut(vocab).zip(targets);
    rows.map(|(row, target)| {
        vectorised(
            #[inline(always)]
            || {
                let (top, factor) = (max(row), 1.0 / temperature);
                let chosen = (row[target.token as usize] - top) * factor;
                let all = exponentiate(row, top, factor);
                let log_sum = all.sum.ln();
                let scored = Scored {
                    logprob: chosen - log_sum,
                    entropy: log_sum - all.weighted / all.sum,
                };
                RowFacts {
                    scored,
                    inverse_sum: 1.0 / all.sum,
                }
            },
        )
    })
    .collect()
}
