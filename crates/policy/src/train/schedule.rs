//! The learning rate over time.

/// What happens after the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decay {
    /// Nothing.
    Constant,
    /// Half a cosine down to zero at `total` steps.
    Cosine {
        /// Steps of the whole training, including the warm-up.
        total: u64,
    },
}

/// The learning rate over time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// The highest rate.
    pub peak: f64,
    /// Steps over which it rises.
    pub warmup: u64,
    /// What follows.
    pub decay: Decay,
}

impl Schedule {
    /// The rate of a step, counted from 0. The first step of a warm-up already learns.
    pub fn rate(&self, step: u64) -> f64 {
        if step < self.warmup {
            return self.peak * (step + 1) as f64 / self.warmup as f64;
        }
        match self.decay {
            Decay::Constant => self.peak,
            Decay::Cosine { total } => {
                let length = total.saturating_sub(self.warmup).max(1) as f64;
                let done = ((step - self.warmup) as f64 / length).min(1.0);
                self.peak * 0.5 * (1.0 + (std::f64::consts::PI * done).cos())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::float_cmp, reason = "the rates are exact in f64")]

    use super::*;

    #[test]
    fn the_rate_rises_then_stays_or_falls() {
        let constant = Schedule {
            peak: 1.0,
            warmup: 4,
            decay: Decay::Constant,
        };
        assert_eq!(
            [0, 1, 3, 4, 100].map(|step| constant.rate(step)),
            [0.25, 0.5, 1.0, 1.0, 1.0]
        );
        let cosine = Schedule {
            decay: Decay::Cosine { total: 14 },
            ..constant
        };
        assert!((cosine.rate(9) - 0.5).abs() < 1e-12);
        assert!(cosine.rate(14) < 1e-12 && cosine.rate(1000) < 1e-12);
    }
}
