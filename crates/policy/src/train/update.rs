//! What an update did.

use super::loss::TokenLoss;
use crate::pack::Scored;

/// The statistics of an update, averaged over its epochs unless noted otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Update {
    /// The loss of the first epoch.
    pub loss: f64,
    /// Norm of the last gradient before clipping.
    pub gradient_norm: f64,
    /// Mean KL divergence from the reference.
    pub kl: f64,
    /// Share of tokens whose ratio was clipped.
    pub clipped: f64,
    /// Mean entropy.
    pub entropy: f64,
    /// Mean distance between the trainer's and the sampler's logprobs. Above 0.02 the sampler is
    /// suspect.
    pub sampler_gap: f64,
    /// Tokens scored.
    pub tokens: u64,
    /// Steps taken so far.
    pub step: u64,
}

impl Update {
    /// Combines the statistics of earlier epochs with those of the next.
    pub(super) fn then(self, next: Self, epoch: u32) -> Self {
        let mean = |old: f64, new: f64| (old * f64::from(epoch) + new) / f64::from(epoch + 1);
        Self {
            loss: if epoch == 0 { next.loss } else { self.loss },
            kl: mean(self.kl, next.kl),
            clipped: mean(self.clipped, next.clipped),
            entropy: mean(self.entropy, next.entropy),
            ..next
        }
    }
}

/// Sums over the tokens of a batch.
#[derive(Default)]
pub(super) struct Sums {
    pub(super) loss: f64,
    pub(super) kl: f64,
    pub(super) clipped: f64,
    pub(super) entropy: f64,
    pub(super) tokens: u64,
}

impl Sums {
    pub(super) fn add(&mut self, token: TokenLoss, share: f32, scored: Scored) {
        self.loss += f64::from(token.loss) * f64::from(share);
        self.kl += f64::from(token.kl);
        self.clipped += f64::from(u8::from(token.clipped));
        self.entropy += f64::from(scored.entropy);
        self.tokens += 1;
    }

    /// Means over the tokens.
    pub(super) fn update(&self, gradient_norm: f64, step: u64) -> Update {
        let mean = |sum: f64| sum / self.tokens.max(1) as f64;
        Update {
            loss: self.loss,
            gradient_norm,
            kl: mean(self.kl),
            clipped: mean(self.clipped),
            entropy: mean(self.entropy),
            sampler_gap: 0.0,
            tokens: self.tokens,
            step,
        }
    }
}
