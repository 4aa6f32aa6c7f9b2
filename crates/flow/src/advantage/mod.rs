//! Turns the rewards of a group into advantages.
//!
//! A masked member (`None`) does not count and gets no advantage. Three kinds of groups carry no
//! gradient, and are counted by their reason:
//! - **dropped**: fewer than half of its members are unmasked;
//! - **dead**: all rewards are equal, so there is nothing to learn;
//! - **drowned**: the spread of rewards is below the timing noise, so the differences are chance.
//!
//! `baseline` compares with the mean. The others serve discovery, where one fast program counts
//! more than a good mean: `max_at_k`, `entropic` and `decoupled`.

mod baseline;
mod decoupled;
mod entropic;
mod known;
pub mod max_at_k;

use serde::{Deserialize, Serialize};

use known::{Known, spread};

/// The std is at least this many times the noise, because a difference as large as the noise means
/// nothing.
pub const NOISE_FACTOR: f64 = 3.0;

/// How advantages follow from a group's rewards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Advantage {
    /// Eq. 1 of Mikasa et al.: `(R - mean) / (std + eps)`, with a floor for the std.
    Std,
    /// Garg, Heo and Mou: `R - mean`.
    MeanOnly,
    /// `R` minus the mean of the others.
    LeaveOneOut,
    /// Like [`Advantage::Std`], but over distinct programs: copies share the advantage of one of
    /// them. So a frequent answer does not become more likely just because it is frequent.
    Shared,
    /// The gradient of the expected best of k answers (Walder and Karkhanis).
    MaxAtK,
    /// Exponential weights whose temperature follows from a KL budget (Yuksekgonul et al.).
    Entropic,
    /// Correctness and speed, each normalised apart (`DRTriton`).
    Decoupled,
}

/// The numbers that some estimators need.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Numbers {
    /// The lower bound of the std, in reward units.
    pub std_floor: f64,
    /// The k of [`Advantage::MaxAtK`]. A smaller group lowers it.
    pub k: usize,
    /// The KL budget of [`Advantage::Entropic`], in nats.
    pub kl: f64,
}

/// A group, member by member.
#[derive(Debug, Clone, Copy)]
pub struct Group<'a> {
    /// `None` for masked members.
    pub rewards: &'a [Option<f64>],
    /// The unmasked members with the same program, the member itself included.
    pub copies: &'a [u32],
    /// The speeds of correct members, in any unit; `None` for failures.
    pub speeds: &'a [Option<f64>],
    /// The timing noise in reward units.
    pub noise: f64,
}

/// What became of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It carries a gradient.
    Live,
    /// One distinct reward.
    Dead,
    /// The spread is below the noise.
    Drowned,
    /// Too many of its members are masked.
    Dropped,
}

/// The advantages of a group and their statistics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Advantages {
    /// In the group's order; `None` where there is nothing to learn.
    pub values: Vec<Option<f64>>,
    /// What became of the group.
    pub fate: Fate,
    /// Mean reward of the unmasked members; 0 if all are masked.
    pub mean: f64,
    /// Standard deviation of their rewards (the population formula).
    pub std: f64,
}

impl Advantage {
    /// All estimators.
    pub const ALL: [Self; 7] = [
        Self::Std,
        Self::MeanOnly,
        Self::LeaveOneOut,
        Self::Shared,
        Self::MaxAtK,
        Self::Entropic,
        Self::Decoupled,
    ];

    /// The advantages of a group.
    pub fn of(self, group: &Group<'_>, numbers: &Numbers) -> Advantages {
        let known = self.known(group);
        let (mean, std) = spread(&known);
        let fate = fate(&known, group.rewards.len(), std, group.noise);
        let values = if fate == Fate::Live {
            self.values(&known, group.noise, numbers)
        } else {
            Vec::new()
        };
        // The estimators see unmasked members only; this puts their values into the group's order.
        let mut values = values.into_iter();
        let in_order = |reward: &Option<f64>| reward.and_then(|_| values.next());
        Advantages {
            values: group.rewards.iter().map(in_order).collect(),
            fate,
            mean,
            std,
        }
    }

    fn known(self, group: &Group<'_>) -> Vec<Known> {
        let share = |at: usize| match self {
            Self::Shared => 1.0 / f64::from(group.copies[at].max(1)),
            _ => 1.0,
        };
        let members = group.rewards.iter().enumerate();
        members
            .filter_map(|(at, reward)| {
                Some(Known {
                    reward: (*reward)?,
                    share: share(at),
                    speed: group.speeds.get(at).copied().flatten(),
                })
            })
            .collect()
    }

    /// The advantages of a live group.
    fn values(self, known: &[Known], noise: f64, numbers: &Numbers) -> Vec<f64> {
        let rewards = || known.iter().map(|one| one.reward).collect::<Vec<f64>>();
        match self {
            Self::Std | Self::Shared => {
                baseline::divided(known, numbers.std_floor.max(NOISE_FACTOR * noise))
            }
            Self::MeanOnly => baseline::mean_only(known),
            Self::LeaveOneOut => baseline::leave_one_out(&rewards()),
            Self::MaxAtK => max_at_k::advantages(&rewards(), numbers.k),
            Self::Entropic => entropic::advantages(&rewards(), numbers.kl),
            Self::Decoupled => decoupled::advantages(known),
        }
    }
}

fn fate(known: &[Known], members: usize, std: f64, noise: f64) -> Fate {
    let first = known.first().map_or(0.0, |one| one.reward);
    if known.len() * 2 < members || known.len() < 2 {
        Fate::Dropped
    } else if known.iter().all(|one| one.reward.total_cmp(&first).is_eq()) {
        Fate::Dead
    } else if std < noise {
        Fate::Drowned
    } else {
        Fate::Live
    }
}

#[cfg(test)]
mod tests;
