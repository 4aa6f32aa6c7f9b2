//! Losses of one token, as pure functions of its logprob.
//!
//! A batch's loss is the sum over its tokens of `share * loss`, where the share determines how
//! tokens are averaged. Every function returns its value and its slope: d loss / d logprob.

pub fn cross_entropy(logprob: f32) -> TokenLoss {
    TokenLoss {
        loss: -logprob,
        slope: -1.0,
        kl: 0.0,
        clipped: false,
    }
}

/// How the tokens of a batch are averaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Normalisation {
    /// Every answer counts the same, whatever its length.
    Sequence,
    /// Every token counts the same.
    Token,
}

impl Normalisation {
    /// The share of one token of each answer, from the answers' lengths.
    pub fn shares(self, lengths: &[usize]) -> Vec<f32> {
        let answers = lengths.iter().filter(|&&length| length > 0).count();
        let tokens: usize = lengths.iter().sum();
        let share = |&length: &usize| match self {
            Self::Sequence if length > 0 => 1.0 / (answers as f32 * length as f32),
            Self::Sequence => 0.0,
            Self::Token => 1.0 / tokens.max(1) as f32,
        };
        lengths.iter().map(share).collect()
    }
}

/// The constants of GRPO.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clip {
    /// The ratio is clipped below 1 - low.
    pub low: f32,
    /// The ratio is clipped above 1 + high.
    pub high: f32,
    /// Weight of the KL divergence from the reference.
    pub kl: f32,
}

/// The maximum of the weight that corrects for a sampler that differs from the trainer.
pub const MAX_WEIGHT: f32 = 2.0;

/// GRPO's inputs for one token. All logprobs are at the sampling temperature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrpoToken {
    /// Logprob of the current policy.
    pub current: f32,
    /// Logprob of the trainer's policy at the start of the update.
    pub trainer: f32,
    /// Logprob of the sampler that drew the token.
    pub sampler: f32,
    /// Logprob of the frozen reference; `None` if the KL divergence has no weight.
    pub reference: Option<f32>,
    /// The answer's advantage.
    pub advantage: f32,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenLoss {
    pub loss: f32,
    /// d loss / d logprob of the current policy.
    pub slope: f32,
    /// Estimated KL divergence from the reference at this token.
    pub kl: f32,
    /// Whether clipping the ratio removed the gradient.
    pub clipped: bool,
}

/// GRPO's loss of one token, to minimise (Mikasa et al. 2026, eq. 2, with the sign reversed):
///
/// ```text
/// rho  = exp(current - trainer)
/// w    = min(exp(trainer - sampler), 2)                          no gradient
/// loss = -w min(rho A, clip(rho, 1 - low, 1 + high) A) + kl k3
/// k3   = exp(reference - current) - (reference - current) - 1
/// ```
pub fn grpo(token: GrpoToken, clip: Clip) -> TokenLoss {
    let ratio = (token.current - token.trainer).exp();
    let weight = (token.trainer - token.sampler).exp().min(MAX_WEIGHT);
    let advantage = token.advantage;
    let bounded = ratio.clamp(1.0 - clip.low, 1.0 + clip.high);
    // The minimum takes the clipped branch only if that lowers the objective.
    let clipped = bounded * advantage < ratio * advantage;
    let gain = if clipped {
        bounded * advantage
    } else {
        ratio * advantage
    };
    let slope = if clipped { 0.0 } else { ratio * advantage };
    let mut out = TokenLoss {
        loss: -weight * gain,
        slope: -weight * slope,
        kl: 0.0,
        clipped,
    };
    if let Some(reference) = token.reference {
        let gap = reference - token.current;
        out.kl = gap.exp() - gap - 1.0;
        out.loss += clip.kl * out.kl;
        out.slope += clip.kl * (1.0 - gap.exp());
    }
    out
}

#[cfg(test)]
mod tests {
    #![expect(clippy::float_cmp, reason = "the values are exact in f32")]

    use super::*;

    const CLIP: Clip = Clip {
        low: 0.2,
        high: 0.28,
        kl: 0.1,
    };

    fn token(current: f32, advantage: f32) -> GrpoToken {
        GrpoToken {
            current,
            trainer: -1.0,
            sampler: -1.1,
            reference: Some(-0.7),
            advantage,
        }
    }

    #[test]
    fn slopes_are_the_derivatives_of_the_losses() {
        for advantage in [-2.0, 0.0, 1.5] {
            for current in [-2.0, -1.3, -1.1, -0.9, -0.8, -0.3] {
                let h = 1e-2;
                let up = grpo(token(current + h, advantage), CLIP).loss;
                let down = grpo(token(current - h, advantage), CLIP).loss;
                let measured = (up - down) / (2.0 * h);
                let slope = grpo(token(current, advantage), CLIP).slope;
                assert!(
                    (measured - slope).abs() < 1e-3,
                    "A {advantage} at {current}: {measured} against {slope}"
                );
            }
        }
    }

    #[test]
    fn clipping_removes_the_gradient_only_where_the_objective_would_grow() {
        let clip = Clip { kl: 0.0, ..CLIP };
        let at = |ratio: f32, advantage| {
            grpo(
                GrpoToken {
                    reference: None,
                    ..token(ratio.ln() - 1.0, advantage)
                },
                clip,
            )
        };
        assert!(at(1.3, 1.0).clipped && at(1.3, 1.0).slope == 0.0);
        assert!(!at(1.25, 1.0).clipped);
        assert!(!at(1.3, -1.0).clipped && at(1.3, -1.0).slope > 0.0);
        assert!(at(0.7, -1.0).clipped && at(0.7, -1.0).slope == 0.0);
        assert!(!at(0.7, 1.0).clipped);
    }

    #[test]
    fn the_samplers_weight_is_truncated() {
        let far = GrpoToken {
            sampler: -5.0,
            reference: None,
            ..token(-1.0, 1.0)
        };
        assert_eq!(grpo(far, CLIP).slope, -MAX_WEIGHT);
    }

    #[test]
    fn shares_sum_to_one_over_all_tokens() {
        let lengths = [3, 0, 7];
        for normalisation in [Normalisation::Sequence, Normalisation::Token] {
            let shares = normalisation.shares(&lengths);
            let total: f32 = lengths
                .iter()
                .zip(&shares)
                .map(|(&length, share)| length as f32 * share)
                .sum();
            assert!((total - 1.0).abs() < 1e-6, "{normalisation:?} {total}");
        }
        assert_eq!(
            Normalisation::Sequence.shares(&lengths),
            [1.0 / 6.0, 0.0, 1.0 / 14.0]
        );
    }
}
