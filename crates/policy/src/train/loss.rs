//! Losses of one token, as pure functions of its logprob.
//!
//! A batch's loss is the sum over its tokens of `share * loss`, where the share says how tokens are
//! averaged. Every function returns its value and its slope: d loss / d logprob.

/// Cross-entropy: how surprised the model is by the token that was written.
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
    /// Every answer counts the same, however long.
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
    /// The ratio counts down to 1 - low.
    pub low: f32,
    /// The ratio counts up to 1 + high.
    pub high: f32,
    /// Weight of the divergence from the reference.
    pub kl: f32,
}

/// The truncation of the weight that corrects for a sampler that differs from the trainer.
pub const MAX_WEIGHT: f32 = 2.0;

/// What GRPO knows of one token. All logprobs are at the sampling temperature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrpoToken {
    /// Of the policy as it is now.
    pub current: f32,
    /// Of the trainer's policy when the update began.
    pub trainer: f32,
    /// Of the sampler that drew the token.
    pub sampler: f32,
    /// Of the frozen reference; none where the divergence has no weight.
    pub reference: Option<f32>,
    /// The answer's advantage.
    pub advantage: f32,
}

/// The loss of one token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenLoss {
    /// The loss.
    pub loss: f32,
    /// d loss / d logprob of the current policy.
    pub slope: f32,
    /// Estimated divergence from the reference at this token.
    pub kl: f32,
    /// Whether the ratio's clip took the gradient away.
    pub clipped: bool,
}

/// GRPO's loss of one token, to be minimised (Mikasa et al. 2026, eq. 2, with the sign turned):
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
    // The minimum takes the clipped branch only where that lowers the objective.
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
    fn the_clip_takes_the_gradient_only_where_the_objective_would_grow() {
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
