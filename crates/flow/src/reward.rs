//! What a verdict is worth: pure functions from verdicts to rewards.
//!
//! A masked place (`None`) belongs to a machine's failure or to a `suspect` verdict: it
//! takes no part in its group, and is neither a reward nor a penalty.

use serde::{Deserialize, Serialize};

use crate::measured::{Measured, Pace};
use crate::task::Task;
use crate::verdict::{Phase, Verdict};

/// The shape of the reward; `{ shape = "ladder" }` in configuration.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "shape",
    rename_all = "kebab-case",
    rename_all_fields = "kebab-case",
    from = "Written"
)]
pub enum Reward {
    /// Mikasa et al. eq. 3: -100 malformed or refused, -40 not compiled, -30 timed out,
    /// -20 crashed, -10 wrong; correct earns its speed: GFLOPS, or the seed's seconds over its own
    /// where the task counts no operations.
    Ladder,
    /// Failures as in `ladder`; correct earns its share of the group's best, times 100.
    LadderGroup,
    /// -4, -3, -2.5, -2 and -1 for the failures, so that no rung outweighs the speed;
    /// correct earns `1 + log2(the seed's seconds / its own)` within `[low, high]`.
    LadderLog {
        /// The least that a correct candidate earns.
        low: f64,
        /// The most that a correct candidate earns.
        high: f64,
    },
    /// The improver's reward (Kernel-Smith, arXiv 2603.28342): failures as in `ladder-log`; correct
    /// earns `log2(the parent's seconds / its own)` within `[low, high]`. A parent that failed, and
    /// a prompt without one, count as the seed.
    Gain {
        /// The least that a correct candidate earns.
        low: f64,
        /// The most that a correct candidate earns.
        high: f64,
    },
    /// Gulati: 0.4 for compiling, 0.4 for being correct, 0.2 for beating the baseline.
    Weighted,
    /// Garg, Heo and Mou eq. 1: `alpha*compiled + beta*correct + gamma*min(t0/t, r_max)*correct`
    /// with the baseline's seconds as `t0`.
    Composite {
        /// For compiling.
        alpha: f64,
        /// For being correct.
        beta: f64,
        /// For each time that it is as fast as the baseline.
        gamma: f64,
        /// Where the speedup is cut off.
        r_max: f64,
    },
    /// How near the roof: `1 / (1 + (t - t_sol) / (t_base - t_sol))` for correct, else 0.
    /// The baseline earns 0.5 and the roof 1. Faster than the roof earns 1. Where the
    /// baseline is no slower than the roof the scale is gone: `t_sol / t`.
    Sol,
}

/// A reward as it is written. Serde refuses unknown keys of these variants, and would ignore those
/// of unit variants.
#[derive(Deserialize)]
#[serde(
    tag = "shape",
    rename_all = "kebab-case",
    rename_all_fields = "kebab-case",
    deny_unknown_fields
)]
enum Written {
    Ladder {},
    LadderGroup {},
    LadderLog {
        #[serde(default = "log_low")]
        low: f64,
        #[serde(default = "log_high")]
        high: f64,
    },
    Gain {
        #[serde(default = "log_low")]
        low: f64,
        #[serde(default = "log_high")]
        high: f64,
    },
    Weighted {},
    Composite {
        #[serde(default = "one_third")]
        alpha: f64,
        #[serde(default = "one_third")]
        beta: f64,
        #[serde(default = "one_third")]
        gamma: f64,
        #[serde(default = "r_max")]
        r_max: f64,
    },
    Sol {},
}

impl From<Written> for Reward {
    fn from(written: Written) -> Self {
        match written {
            Written::Ladder {} => Self::Ladder,
            Written::LadderGroup {} => Self::LadderGroup,
            Written::LadderLog { low, high } => Self::LadderLog { low, high },
            Written::Gain { low, high } => Self::Gain { low, high },
            Written::Weighted {} => Self::Weighted,
            Written::Composite {
                alpha,
                beta,
                gamma,
                r_max,
            } => Self::Composite {
                alpha,
                beta,
                gamma,
                r_max,
            },
            Written::Sol {} => Self::Sol,
        }
    }
}

fn log_low() -> f64 {
    0.0
}

fn log_high() -> f64 {
    8.0
}

/// The paper names no weights; equal ones keep each part worth the same at `t = t0`.
fn one_third() -> f64 {
    1.0 / 3.0
}

fn r_max() -> f64 {
    3.0
}

/// What a reward may be measured against.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct RewardContext {
    /// What the task's speeds are given in.
    pub pace: Pace,
    /// Seconds of the task's naive seed.
    pub seed_s: Option<f64>,
    /// Seconds of the baseline: a library's, or what the candidate started from.
    pub baseline_s: Option<f64>,
    /// Seconds of the parent that the prompt showed, if it was correct; the seed's otherwise.
    pub parent_s: Option<f64>,
    /// Seconds that the machine's roof needs; a verdict's own roof stands in for it.
    pub sol_s: Option<f64>,
}

impl RewardContext {
    /// The context of a task whose seed was measured. A task without a baseline of its own has the
    /// seed for one.
    pub fn of_seed(seed: &Measured) -> Self {
        let seconds = seed.seconds;
        let baseline = seed.baseline.as_ref();
        Self {
            pace: Pace::of_seed(seed),
            seed_s: Some(seconds),
            parent_s: Some(seconds),
            baseline_s: Some(baseline.map_or(seconds, |baseline| baseline.seconds)),
            sol_s: seed.roof.map(|roof| roof.seconds),
        }
    }
}

/// A reward that cannot be computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RewardError {
    /// The shape needs something that was not measured.
    #[error("reward `{shape}` needs {what}")]
    Missing {
        /// The shape's name.
        shape: &'static str,
        /// What is missing.
        what: &'static str,
    },
    /// No shape has this name.
    #[error(
        "no such reward; there are ladder, ladder-group, ladder-log, gain, weighted, composite and sol"
    )]
    Unknown,
}

/// A number of a reward that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("reward.{key}: {what}")]
pub struct RewardMistake {
    /// Its key.
    pub key: &'static str,
    /// The mistake, and how to fix it.
    pub what: String,
}

impl std::str::FromStr for Reward {
    type Err = RewardError;

    /// The shape of that name with its default numbers.
    fn from_str(name: &str) -> Result<Self, RewardError> {
        Self::ALL
            .into_iter()
            .find(|reward| reward.name() == name)
            .ok_or(RewardError::Unknown)
    }
}

impl Reward {
    /// All shapes, with their default numbers.
    pub const ALL: [Self; 7] = [
        Self::Ladder,
        Self::LadderGroup,
        Self::LadderLog {
            low: 0.0,
            high: 8.0,
        },
        Self::Gain {
            low: 0.0,
            high: 8.0,
        },
        Self::Weighted,
        Self::Composite {
            alpha: 1.0 / 3.0,
            beta: 1.0 / 3.0,
            gamma: 1.0 / 3.0,
            r_max: 3.0,
        },
        Self::Sol,
    ];

    /// The name as configuration writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ladder => "ladder",
            Self::LadderGroup => "ladder-group",
            Self::LadderLog { .. } => "ladder-log",
            Self::Gain { .. } => "gain",
            Self::Weighted => "weighted",
            Self::Composite { .. } => "composite",
            Self::Sol => "sol",
        }
    }

    /// Whether rewards of this shape cannot be computed before the task's seed was measured.
    pub fn needs_seed(self, task: &Task) -> bool {
        match self {
            Self::Ladder => !task.counts_operations(),
            Self::LadderGroup => false,
            Self::LadderLog { .. }
            | Self::Gain { .. }
            | Self::Weighted
            | Self::Composite { .. }
            | Self::Sol => true,
        }
    }

    /// The first of its numbers that makes no sense, if there is one.
    pub fn mistake(&self) -> Option<RewardMistake> {
        let wrong = |key, what| Some(RewardMistake { key, what });
        match *self {
            Self::Ladder | Self::LadderGroup | Self::Weighted | Self::Sol => None,
            Self::LadderLog { low, high } | Self::Gain { low, high } => {
                let least = Rung::Wrong.log_penalty();
                if !low.is_finite() || low < least {
                    return wrong(
                        "low",
                        format!(
                            "{low} is less than a wrong candidate earns; set it to {least} or more"
                        ),
                    );
                }
                let remedy = || format!("set high to at least {low}, or low to at most {high}");
                (high.is_nan() || high < low)
                    .then(|| wrong("high", format!("{high} is below low, {low}; {}", remedy())))?
            }
            Self::Composite {
                alpha,
                beta,
                gamma,
                r_max,
            } => {
                let weights = [("alpha", alpha), ("beta", beta), ("gamma", gamma)];
                let is_weight = |weight: f64| weight.is_finite() && weight >= 0.0;
                if let Some((key, weight)) =
                    weights.into_iter().find(|(_, weight)| !is_weight(*weight))
                {
                    return wrong(
                        key,
                        format!("{weight} would reward what is worse; set it to 0 or more"),
                    );
                }
                (r_max.is_nan() || r_max <= 0.0).then(|| {
                    wrong(
                        "r-max",
                        format!("{r_max} cuts every speedup off; set it to more than 0"),
                    )
                })?
            }
        }
    }

    /// The reward of one verdict, as a group of one; `None` when it is masked.
    pub fn of(
        &self,
        verdict: &Verdict,
        context: &RewardContext,
    ) -> Result<Option<f64>, RewardError> {
        Ok(self.of_group(&[Some(verdict)], context)?.pop().flatten())
    }

    /// The rewards of a group, in order. `None` goes in for a machine's failure, and
    /// comes out for all that is masked.
    pub fn of_group(
        &self,
        verdicts: &[Option<&Verdict>],
        context: &RewardContext,
    ) -> Result<Vec<Option<f64>>, RewardError> {
        let fastest_s = verdicts
            .iter()
            .flatten()
            .filter_map(|verdict| Some(verdict.correct()?.seconds))
            .fold(f64::INFINITY, f64::min);
        let reward = |verdict: Option<&Verdict>| match verdict.and_then(rung) {
            Some(rung) => self.of_rung(rung, fastest_s, context),
            None => Ok(None),
        };
        verdicts.iter().copied().map(reward).collect()
    }

    fn of_rung(
        self,
        rung: Rung<'_>,
        fastest_s: f64,
        context: &RewardContext,
    ) -> Result<Option<f64>, RewardError> {
        let need = |value: Option<f64>, what| {
            value.ok_or(RewardError::Missing {
                shape: self.name(),
                what,
            })
        };
        let reward = match (self, rung) {
            (Self::Ladder, Rung::Correct(measured)) => {
                need(measured.speed(context.pace), "the seed's seconds")?
            }
            (Self::LadderGroup, Rung::Correct(measured)) => fastest_s / measured.seconds * 100.0,
            (Self::Ladder | Self::LadderGroup, failed) => failed.penalty(),
            (Self::LadderLog { low, high }, Rung::Correct(measured)) => {
                let seed_s = need(context.seed_s, "the seed's seconds")?;
                // Not `clamp`: limits in the wrong order, however they came here, must not panic.
                (1.0 + (seed_s / measured.seconds).log2())
                    .min(high)
                    .max(low)
            }
            (Self::Gain { low, high }, Rung::Correct(measured)) => {
                let parent_s = need(context.parent_s, "the parent's seconds")?;
                (parent_s / measured.seconds).log2().min(high).max(low)
            }
            (Self::LadderLog { .. } | Self::Gain { .. }, failed) => failed.log_penalty(),
            (Self::Weighted, Rung::Correct(measured)) => {
                let baseline = need(context.baseline_s, "the baseline's seconds")?;
                if measured.seconds < baseline {
                    1.0
                } else {
                    0.8
                }
            }
            (Self::Weighted, failed) => 0.4 * f64::from(u8::from(failed.compiled())),
            (
                Self::Composite {
                    alpha,
                    beta,
                    gamma,
                    r_max,
                },
                Rung::Correct(measured),
            ) => {
                let baseline = need(context.baseline_s, "the baseline's seconds")?;
                alpha + beta + gamma * (baseline / measured.seconds).min(r_max)
            }
            (Self::Composite { alpha, .. }, failed) => {
                alpha * f64::from(u8::from(failed.compiled()))
            }
            (Self::Sol, Rung::Correct(measured)) => {
                let sol = need(
                    context.sol_s.or(measured.roof.map(|roof| roof.seconds)),
                    "the roof's seconds",
                )?;
                let baseline = need(context.baseline_s, "the baseline's seconds")?;
                speed_of_light(measured.seconds, baseline, sol)
            }
            (Self::Sol, _) => 0.0,
        };
        // A measurement that is no number is the machine's fault.
        Ok(Some(reward).filter(|reward| reward.is_finite()))
    }
}

fn speed_of_light(seconds: f64, baseline: f64, sol: f64) -> f64 {
    if seconds <= sol {
        1.0
    } else if baseline <= sol {
        sol / seconds
    } else {
        1.0 / (1.0 + (seconds - sol) / (baseline - sol))
    }
}

/// How far a candidate came.
#[derive(Clone, Copy)]
enum Rung<'a> {
    Unusable,
    NotCompiled,
    /// Which limit it met decides whether it compiled.
    TimedOut(Phase),
    Crashed,
    Wrong,
    Correct(&'a Measured),
}

/// The rung of a verdict; `None` when it is masked.
fn rung(verdict: &Verdict) -> Option<Rung<'_>> {
    match verdict {
        Verdict::Malformed { .. } | Verdict::Refused { .. } => Some(Rung::Unusable),
        Verdict::NotCompiled { .. } => Some(Rung::NotCompiled),
        Verdict::TimedOut { during, .. } => Some(Rung::TimedOut(*during)),
        Verdict::Crashed { .. } => Some(Rung::Crashed),
        Verdict::Wrong(_) => Some(Rung::Wrong),
        Verdict::Correct(measured) => Some(Rung::Correct(measured)),
        Verdict::Suspect { .. } => None,
    }
}

impl Rung<'_> {
    fn compiled(self) -> bool {
        match self {
            Self::Unusable | Self::NotCompiled | Self::TimedOut(Phase::Compile) => false,
            Self::TimedOut(Phase::Run) | Self::Crashed | Self::Wrong | Self::Correct(_) => true,
        }
    }

    fn penalty(self) -> f64 {
        match self {
            Self::Unusable => -100.0,
            Self::NotCompiled => -40.0,
            Self::TimedOut(_) => -30.0,
            Self::Crashed => -20.0,
            Self::Wrong => -10.0,
            Self::Correct(_) => 0.0,
        }
    }

    fn log_penalty(self) -> f64 {
        match self {
            Self::Unusable => -4.0,
            Self::NotCompiled => -3.0,
            Self::TimedOut(_) => -2.5,
            Self::Crashed => -2.0,
            Self::Wrong => -1.0,
            Self::Correct(_) => 0.0,
        }
    }
}

#[cfg(test)]
mod tests;
