//! The choice of one token from its logits.

use hotloop_flow::policy::Sampling;

use crate::math::{exponentiate, max, sum, vectorised};

/// How tokens are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Draw {
    /// 0 is greedy.
    pub temperature: f32,
    /// Keep the k most likely tokens, and those as likely as the last of them; 0 keeps all.
    pub top_k: usize,
    /// Keep the most likely tokens up to this mass, and those as likely as the last of them; 1
    /// keeps all.
    pub top_p: f32,
    /// Keep tokens at least this likely relative to the most likely one; 0 keeps all.
    pub min_p: f32,
}

impl From<&Sampling> for Draw {
    fn from(sampling: &Sampling) -> Self {
        let draw = Self {
            temperature: sampling.temperature as f32,
            top_k: sampling.top_k as usize,
            top_p: sampling.top_p as f32,
            min_p: sampling.min_p as f32,
        };
        draw.divisible()
    }
}

impl Draw {
    /// Whether some tokens can never be drawn. Then logprobs do not describe the sampling
    /// distribution.
    pub fn truncates(&self) -> bool {
        self.top_k > 0 || self.top_p < 1.0 || self.min_p > 0.0
    }

    /// The same with a temperature that logits can be divided by. A subnormal temperature becomes
    /// 0, which is greedy.
    #[must_use]
    pub fn divisible(self) -> Self {
        if self.temperature >= f32::MIN_POSITIVE {
            self
        } else {
            Self {
                temperature: 0.0,
                ..self
            }
        }
    }

    /// The temperature of reported logprobs. Greedy answers are scored at 1.
    pub fn scoring_temperature(&self) -> f32 {
        if self.temperature > 0.0 {
            self.temperature
        } else {
            1.0
        }
    }
}

/// A token, and its logprob at the drawing temperature over the whole vocabulary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chosen {
    pub token: u32,
    pub logprob: f32,
}

/// Chooses a token by `uniform` in [0, 1). NaN among the logits gives a logprob of NaN. Greedy ties
/// go to the lower token.
pub fn choose(logits: &[f32], draw: Draw, uniform: f64) -> Chosen {
    let factor = 1.0 / draw.scoring_temperature();
    let top = vectorised(
        #[inline(always)]
        || max(logits),
    );
    let best = logits.iter().position(|logit| *logit >= top).unwrap_or(0);
    let mut weights = logits.to_vec();
    let total = vectorised(
        #[inline(always)]
        || exponentiate(&mut weights, top, factor).sum,
    );
    let token = if draw.temperature > 0.0 {
        pick(logits, &weights, draw, uniform).unwrap_or(best)
    } else {
        best
    };
    let logprob = (logits[token] - top) * factor - total.ln();
    Chosen {
        token: token as u32,
        logprob,
    }
}

/// A token that may be drawn.
#[derive(Clone, Copy)]
struct Eligible {
    token: usize,
    logit: f32,
    weight: f32,
}

/// Keeps the `count` most likely tokens, and those as likely as the last of them, so that a token's
/// number makes no difference.
fn keep(kept: &mut Vec<Eligible>, count: usize) {
    if let Some(last) = count
        .checked_sub(1)
        .and_then(|last| kept.get(last))
        .map(|last| last.logit)
    {
        kept.truncate(kept.partition_point(|kept| kept.logit >= last));
    } else {
        kept.truncate(count);
    }
}

/// Inverts the cumulative weights of the kept tokens.
fn pick(logits: &[f32], weights: &[f32], draw: Draw, uniform: f64) -> Option<usize> {
    if !draw.truncates() {
        return invert(weights, uniform);
    }
    let each = logits.iter().zip(weights).enumerate();
    let mut kept: Vec<Eligible> = each
        .map(|(token, (logit, weight))| Eligible {
            token,
            logit: *logit,
            weight: *weight,
        })
        .collect();
    kept.sort_by(|a, b| b.logit.total_cmp(&a.logit));
    if draw.top_k > 0 {
        keep(&mut kept, draw.top_k);
    }
    if draw.top_p < 1.0 {
        let mut left =
            kept.iter().map(|kept| f64::from(kept.weight)).sum::<f64>() * f64::from(draw.top_p);
        // The token that crosses the mass is kept.
        let count = kept.iter().take_while(|kept| {
            let below = left > 0.0;
            left -= f64::from(kept.weight);
            below
        });
        let count = count.count();
        keep(&mut kept, count);
    }
    // The largest weight is one.
    kept.retain(|kept| kept.weight >= draw.min_p);
    // In the order of the tokens, as without a filter and as on a GPU, so that the same number
    // draws the same token.
    kept.sort_by_key(|kept| kept.token);
    let weights: Vec<f32> = kept.iter().map(|kept| kept.weight).collect();
    invert(&weights, uniform).map(|index| kept[index].token)
}

/// The index at which the cumulative weights pass `uniform` times their sum. Runs are summed first,
/// so that only one of them is searched value by value.
fn invert(weights: &[f32], uniform: f64) -> Option<usize> {
    const RUN: usize = 512;
    let mut sums = vec![0.0; weights.len().div_ceil(RUN)];
    vectorised(
        #[inline(always)]
        || {
            for (total, run) in sums.iter_mut().zip(weights.chunks(RUN)) {
                *total = f64::from(sum(run));
            }
        },
    );
    let mut left = uniform * sums.iter().sum::<f64>();
    let mut first = 0;
    for sum in &sums {
        if left < *sum {
            break;
        }
        left -= sum;
        first += RUN;
    }
    for (index, weight) in weights.iter().enumerate().skip(first) {
        left -= f64::from(*weight);
        if left < 0.0 {
            return Some(index);
        }
    }
    // Rounding may leave a remainder at the end. The last token that can be drawn takes it.
    weights.iter().rposition(|weight| *weight > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise;

    const ALL: Draw = Draw {
        temperature: 1.0,
        top_k: 0,
        top_p: 1.0,
        min_p: 0.0,
    };

    fn shares(draw: Draw, logits: &[f32]) -> Vec<f64> {
        let n = 20_000;
        let mut counts = vec![0.0; logits.len()];
        for i in 0..n {
            counts[choose(logits, draw, noise::uniform_f64(3, i)).token as usize] += 1.0 / n as f64;
        }
        counts
    }

    #[test]
    fn tokens_come_as_often_as_their_probability_says() {
        let logits = [0.0, 1.0, 2.0, -1.0];
        for temperature in [0.5, 1.0, 2.0] {
            let draw = Draw { temperature, ..ALL };
            let found = shares(draw, &logits);
            let sum: f32 = logits.iter().map(|z| (z / temperature).exp()).sum();
            for (found, z) in found.iter().zip(logits) {
                let wanted = f64::from((z / temperature).exp() / sum);
                assert!(
                    (found - wanted).abs() < 0.012,
                    "T {temperature}: {found} against {wanted}"
                );
            }
        }
    }

    #[test]
    fn logprobs_are_over_the_whole_vocabulary_at_the_temperature() {
        let logits = [0.3, -0.2, 1.7];
        let draw = Draw {
            temperature: 0.7,
            top_k: 1,
            ..ALL
        };
        let sum: f32 = logits.iter().map(|z: &f32| (z / 0.7).exp()).sum();
        let chosen = choose(&logits, draw, 0.5);
        assert_eq!(chosen.token, 2);
        assert!(
            (chosen.logprob - (1.7 / 0.7 - sum.ln())).abs() < 1e-5,
            "{chosen:?}"
        );
        let greedy = choose(
            &logits,
            Draw {
                temperature: 0.0,
                ..ALL
            },
            0.99,
        );
        let sum: f32 = logits.iter().map(|z: &f32| z.exp()).sum();
        assert!(
            greedy.token == 2 && (greedy.logprob - (1.7 - sum.ln())).abs() < 1e-5,
            "{greedy:?}"
        );
    }

    #[test]
    fn a_temperature_too_small_to_divide_by_is_greedy() {
        let logits = [0.3, -0.2, 1.7];
        for temperature in [0.0, 1e-45, 1e-40, f32::MIN_POSITIVE, 1e-30] {
            let chosen = choose(&logits, Draw { temperature, ..ALL }.divisible(), 0.99);
            assert!(
                chosen.token == 2 && chosen.logprob.is_finite(),
                "{temperature}: {chosen:?}"
            );
        }
    }

    #[test]
    fn nan_logits_give_a_nan_logprob() {
        assert!(choose(&[0.0, f32::NAN, 1.0], ALL, 0.5).logprob.is_nan());
        assert!(
            choose(
                &[f32::NAN; 40],
                Draw {
                    temperature: 0.0,
                    ..ALL
                },
                0.5
            )
            .logprob
            .is_nan()
        );
    }

    #[test]
    fn truncation_keeps_what_it_says() {
        // Probabilities 0.5, 0.25, 0.125, 0.125.
        let logits = [0.5f32.ln(), 0.25f32.ln(), 0.125f32.ln(), 0.125f32.ln()];
        let drawn = |draw| {
            shares(draw, &logits)
                .iter()
                .map(|share| *share > 0.0)
                .collect::<Vec<_>>()
        };
        assert_eq!(drawn(Draw { top_k: 2, ..ALL }), [true, true, false, false]);
        assert_eq!(
            drawn(Draw { top_p: 0.6, ..ALL }),
            [true, true, false, false]
        );
        assert_eq!(
            drawn(Draw { top_p: 0.4, ..ALL }),
            [true, false, false, false]
        );
        assert_eq!(
            drawn(Draw { min_p: 0.4, ..ALL }),
            [true, true, false, false]
        );
        assert_eq!(drawn(ALL), [true; 4]);
    }

    #[test]
    fn tokens_as_likely_as_the_last_kept_one_are_kept_too() {
        // Probabilities 0.2, 0.1, 0.2, 0.3, 0.2.
        let logits = [0.2f32, 0.1, 0.2, 0.3, 0.2].map(f32::ln);
        let drawn = |draw| {
            shares(draw, &logits)
                .iter()
                .map(|share| *share > 0.0)
                .collect::<Vec<_>>()
        };
        for draw in [
            Draw { top_k: 2, ..ALL },
            Draw { top_p: 0.4, ..ALL },
            Draw {
                top_k: 2,
                top_p: 0.4,
                ..ALL
            },
        ] {
            assert_eq!(drawn(draw), [true, false, true, true, true], "{draw:?}");
        }
        assert_eq!(
            drawn(Draw { top_k: 1, ..ALL }),
            [false, false, false, true, false]
        );
        assert_eq!(
            drawn(Draw { top_p: 0.0, ..ALL }),
            [false, false, false, true, false]
        );
        assert_eq!(drawn(Draw { top_k: 99, ..ALL }), [true; 5]);
    }
}
