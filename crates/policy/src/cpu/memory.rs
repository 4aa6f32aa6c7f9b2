//! Decides whether backward uses kept activations or recomputes them.

use crate::memory::{Recompute, available_bytes};
use crate::model::Config;

/// Whether to keep the activations of `rows` rows.
pub(super) fn keeps(recompute: Recompute, config: &Config, rows: usize) -> bool {
    match recompute {
        Recompute::Off => true,
        Recompute::On => false,
        Recompute::Auto => {
            available_bytes().is_some_and(|free| kept_bytes(config, rows) <= free / 2)
        }
    }
}

/// Bytes of the activations of all layers.
fn kept_bytes(config: &Config, rows: usize) -> u64 {
    let head_norms = if config.qk_norm() {
        config.q_width() + config.kv_width()
    } else {
        0
    };
    let attention = 2 * config.q_width() + 2 * config.kv_width() + config.heads + head_norms;
    let row = 4 * config.hidden + attention + 3 * config.ffn;
    (rows * config.layers * row * size_of::<f32>()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Family;

    #[test]
    fn small_activations_are_kept_and_large_ones_are_not() {
        let config = Config {
            family: Family::Llama,
            hidden: 576,
            layers: 30,
            heads: 9,
            kv_heads: 3,
            head_dim: 64,
            ffn: 1536,
            vocab: 49152,
            norm_eps: 1e-5,
            rope_theta: 1e5,
            rope_scaling: None,
            tied: true,
            context: 2048,
            bos: None,
            eos: Vec::new(),
        };
        assert!(
            keeps(Recompute::Auto, &config, 1),
            "a megabyte fits every machine"
        );
        assert!(
            !keeps(Recompute::Auto, &config, 1 << 32),
            "petabytes fit none"
        );
        let per_row = kept_bytes(&config, 1);
        assert!(
            (900_000..1_200_000).contains(&per_row),
            "{per_row} bytes a row of SmolLM2-135M"
        );
    }
}
