//! Random choices from a seed: `SplitMix64`, and seeds derived from seeds.
//!
//! Nothing here needs to be hard to guess. It must be the same on every machine, and choices for
//! different purposes must be independent.

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.state)
    }

    /// A number below `limit`, or 0 if there is none. The bias is below `limit / 2^64`.
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.bits()) * limit as u128) >> 64) as usize
    }

    /// A number in `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Puts `items` in random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}

/// The seed for one purpose of a run. `path` identifies it, for example by purpose, step and group.
pub fn seed(run: u64, path: &[u64]) -> u64 {
    path.iter().fold(mix(run), |seed, part| {
        mix(seed ^ mix(part.wrapping_add(0x9e37_79b9_7f4a_7c15)))
    })
}

fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_splitmix64() {
        // The first numbers of the reference implementation for seed 1234567.
        let mut random = Random::new(1_234_567);
        assert_eq!(random.bits(), 6_457_827_717_110_365_317);
        assert_eq!(random.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn numbers_stay_below_their_limit_and_reach_all_below_it() {
        let mut random = Random::new(7);
        let mut seen = [0; 5];
        for _ in 0..1000 {
            seen[random.below(5)] += 1;
            assert!((0.0..1.0).contains(&random.unit()));
        }
        assert!(
            seen.iter().all(|count| (140..260).contains(count)),
            "{seen:?}"
        );
        assert_eq!(random.below(0), 0);
    }

    #[test]
    fn a_shuffle_loses_nothing() {
        let mut items: Vec<u32> = (0..100).collect();
        Random::new(1).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<u32>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<u32>>());
    }

    #[test]
    fn seeds_differ_by_purpose_and_order() {
        let all = [
            seed(1, &[0]),
            seed(1, &[1]),
            seed(2, &[0]),
            seed(1, &[0, 1]),
            seed(1, &[1, 0]),
            seed(1, &[]),
        ];
        let distinct: std::collections::BTreeSet<u64> = all.into_iter().collect();
        assert_eq!(distinct.len(), all.len());
    }
}
