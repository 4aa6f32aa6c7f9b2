//! Randomness without state: a draw is a function of a seed and an index.
//!
//! So a sample depends only on its own seed and position, never on the other samples in its batch,
//! and nothing must be saved to resume.

/// 64 well-mixed bits of a seed and an index: two rounds of the `SplitMix64` finaliser.
pub(crate) fn bits(seed: u64, index: u64) -> u64 {
    mix(mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15)) ^ index.wrapping_mul(0xd134_2543_de82_ef95))
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Uniform in [0, 1).
pub(crate) fn uniform(seed: u64, index: u64) -> f32 {
    (bits(seed, index) >> 40) as f32 / (1u64 << 24) as f32
}

/// Uniform in [0, 1) with 53 bits, which inverting a cumulative sum over a large vocabulary needs.
pub(crate) fn uniform_f64(seed: u64, index: u64) -> f64 {
    (bits(seed, index) >> 11) as f64 / (1u64 << 53) as f64
}

/// Standard normal, by Box and Muller.
pub(crate) fn normal(seed: u64, index: u64) -> f32 {
    let radius = (-2.0 * (1.0 - uniform_f64(seed, 2 * index)).ln()).sqrt();
    (radius * (std::f64::consts::TAU * uniform_f64(seed, 2 * index + 1)).cos()) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_fill_the_interval_evenly_and_seeds_differ() {
        let n = 100_000;
        let mean = (0..n).map(|i| f64::from(uniform(7, i))).sum::<f64>() / n as f64;
        assert!((mean - 0.5).abs() < 0.005, "mean {mean}");
        let variance = (0..n).map(|i| f64::from(normal(7, i)).powi(2)).sum::<f64>() / n as f64;
        assert!((variance - 1.0).abs() < 0.02, "variance {variance}");
        let equal = (0..n).filter(|&i| bits(1, i) == bits(2, i)).count();
        assert_eq!(equal, 0);
        // Samples of a group have neighbouring seeds, so these must not be correlated.
        let product = (0..n)
            .map(|i| f64::from((uniform(1, i) - 0.5) * (uniform(2, i) - 0.5)))
            .sum::<f64>()
            / n as f64;
        assert!(product.abs() < 0.002, "correlation {product}");
    }
}
