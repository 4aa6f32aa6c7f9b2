//! Decoding with cached keys and values. A prompt is prefilled once, however many answers continue
//! it.

use std::sync::Arc;

use rayon::prelude::*;

use super::network::{Adapted, Network};
use crate::math::{dot, exponentiate, max, vectorised};
use crate::model::Config;
use crate::pack::{Pack, Sequence};

/// Keys and values of a prompt, one pair per layer, which all of its answers share.
pub struct Prefix {
    tokens: usize,
    keys: Vec<Vec<f32>>,
    values: Vec<Vec<f32>>,
}

/// The keys and values of an answer: its prompt's and its own.
pub struct Cache {
    prefix: Arc<Prefix>,
    keys: Vec<Vec<f32>>,
    values: Vec<Vec<f32>>,
    own: usize,
}

impl Cache {
    /// The cache of an answer that continues this prompt.
    pub fn new(prefix: Arc<Prefix>) -> Self {
        let layers = prefix.keys.len();
        Self {
            prefix,
            keys: vec![Vec::new(); layers],
            values: vec![Vec::new(); layers],
            own: 0,
        }
    }

    /// Tokens seen so far.
    pub fn tokens(&self) -> usize {
        self.prefix.tokens + self.own
    }
}

impl Network {
    /// Prefills a prompt. Returns its keys and values, and the logits of the next token.
    pub fn prefill(&self, adapted: Option<Adapted>, prompt: &[u32]) -> (Prefix, Vec<f32>) {
        assert!(!prompt.is_empty(), "an empty prompt predicts nothing");
        let pack = Pack::new(&[Sequence::answer(prompt, &[])]);
        let mut prefix = Prefix {
            tokens: prompt.len(),
            keys: Vec::new(),
            values: Vec::new(),
        };
        let hidden = self.hidden_with_cache(adapted, &pack, |k, v| {
            prefix.keys.push(k);
            prefix.values.push(v);
        });
        let logits = self.head_logits(&hidden[hidden.len() - self.config.hidden..]);
        (prefix, logits)
    }

    /// Appends one token to every answer and returns the logits of the next token, one row per
    /// answer.
    pub fn decode(
        &self,
        adapted: Option<Adapted>,
        tokens: &[u32],
        caches: &mut [&mut Cache],
    ) -> Vec<f32> {
        assert_eq!(tokens.len(), caches.len(), "one token per answer");
        let angles = self.rope.angles(caches.iter().map(|cache| cache.tokens()));
        let mut x = self.embed(tokens);
        let (q_width, kv_width) = (self.config.q_width(), self.config.kv_width());
        for index in 0..self.config.layers {
            let pass = self.layer_pass(index, adapted, &angles);
            let projected = pass.before_attention(&x);
            for ((cache, k), v) in caches
                .iter_mut()
                .zip(projected.k.chunks_exact(kv_width))
                .zip(projected.v.chunks_exact(kv_width))
            {
                cache.keys[index].extend_from_slice(k);
                cache.values[index].extend_from_slice(v);
            }
            let mut y = vec![0.0; projected.q.len()];
            let rows = y
                .par_chunks_mut(q_width)
                .zip(projected.q.par_chunks(q_width))
                .zip(&mut *caches);
            rows.for_each(|((y, q), cache)| attend(&self.config, cache, index, q, y));
            x = pass.after_attention(&x, &y);
        }
        for cache in caches {
            cache.own += 1;
        }
        self.head_logits(&x)
    }
}

/// Attention of one query row over all keys in its cache.
fn attend(config: &Config, cache: &Cache, layer: usize, q: &[f32], y: &mut [f32]) {
    let (dim, width) = (config.head_dim, config.kv_width());
    let scale = 1.0 / (dim as f32).sqrt();
    let parts = [
        (
            &cache.prefix.keys[layer][..],
            &cache.prefix.values[layer][..],
        ),
        (&cache.keys[layer][..], &cache.values[layer][..]),
    ];
    let mut scores = vec![0.0; (parts[0].0.len() + parts[1].0.len()) / width];
    vectorised(
        #[inline(always)]
        || {
            for (head, (q, y)) in q.chunks_exact(dim).zip(y.chunks_exact_mut(dim)).enumerate() {
                let at = head / config.group() * dim;
                let mut next = scores.iter_mut();
                for (keys, _) in parts {
                    for (key, score) in keys.chunks_exact(width).zip(&mut next) {
                        *score = dot(q, &key[at..at + dim]) * scale;
                    }
                }
                let top = max(&scores);
                let sum = exponentiate(&mut scores, top, 1.0).sum;
                let mut weights = scores.iter().map(|score| score / sum);
                for (_, values) in parts {
                    for (value, weight) in values.chunks_exact(width).zip(&mut weights) {
                        for (y, value) in y.iter_mut().zip(&value[at..at + dim]) {
                            *y += weight * value;
                        }
                    }
                }
            }
        },
    );
}
