//! Seeded randomness, written here so that the same seed gives the same corpus on every machine.

/// `SplitMix64` (Steele, Lea and Flood, 2014).
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// Every pair of `seed` and `stream` gives a separate stream.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut rng = Self(seed ^ stream.wrapping_mul(0xd134_2543_de82_ef95));
        rng.next();
        rng
    }

    #[expect(
        clippy::should_implement_trait,
        reason = "an endless stream needs no iterator"
    )]
    /// The next 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0. The bias is below 2^-32 for all bounds used here.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// True `share` times out of 100.
    pub fn percent(&mut self, share: usize) -> bool {
        self.below(100) < share
    }

    /// One of `choices`, by weight.
    pub fn weighted<T: Copy>(&mut self, choices: &[(T, u32)]) -> T {
        let total: u32 = choices.iter().map(|(_, weight)| weight).sum();
        let mut at = self.below(total as usize) as u32;
        for (choice, weight) in choices {
            if at < *weight {
                return *choice;
            }
            at -= weight;
        }
        unreachable!("the weights of the choices sum to {total}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_follow_the_weights() {
        let mut rng = Rng::new(1, 2);
        let threes = (0..4000)
            .filter(|_| rng.weighted(&[(1, 3), (3, 1), (7, 0)]) == 3)
            .count();
        assert!((850..1150).contains(&threes), "{threes}");
    }

    #[test]
    fn streams_differ_and_repeat() {
        let first = |seed, stream| Rng::new(seed, stream).next();
        assert_eq!(first(1, 1), first(1, 1));
        assert_ne!(first(1, 1), first(1, 2));
        assert_ne!(first(1, 1), first(2, 1));
    }
}
