//! The measurements of a correct candidate.

use serde::{Deserialize, Deserializer, Serialize};

use crate::timing::Timing;

/// The measurements of a correct candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Seconds per call by the deciding estimator.
    pub seconds: f64,
    /// The work of one call.
    pub work: Work,
    /// The task's baseline with the same number of threads, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Baseline>,
    /// The machine's limit, if it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roof: Option<Roof>,
    /// Both checks.
    pub checks: Checks,
    /// Both estimators.
    pub timing: Timing,
}

/// The work of one call, as far as the task counts it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Work {
    /// Floating-point operations.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number"
    )]
    pub flops: Option<f64>,
    /// Bytes that must move.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number"
    )]
    pub bytes: Option<f64>,
}

/// Requires a number if the key is present. JSON writes NaN as `null`, which must not be taken for
/// a task that counts nothing.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    f64::deserialize(deserializer).map(Some)
}

/// Another program for the same task, timed on the same machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// The library's name, e.g. [`Baseline::OPENBLAS`].
    pub name: String,
    /// Seconds per call.
    pub seconds: f64,
}

impl Baseline {
    /// The name of the baseline that calls OpenBLAS.
    pub const OPENBLAS: &str = "OpenBLAS";
}

/// The machine's limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Roof {
    /// The minimum time for the task's work, in seconds.
    pub seconds: f64,
    /// The arithmetic peak at equal threads, in operations per second.
    pub peak_flops: f64,
}

/// How fast the resource works that limits a task, per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// Arithmetic: operations.
    Operations(f64),
    /// Memory: bytes that must move.
    Bytes(f64),
}

impl std::fmt::Display for Rate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (value, unit) = match *self {
            Self::Operations(rate) if rate >= 1e12 => (rate / 1e12, "TFLOP/s"),
            Self::Operations(rate) => (rate / 1e9, "GFLOP/s"),
            Self::Bytes(rate) => (rate / 1e9, "GB/s"),
        };
        let digits = usize::from(value < 99.95) + usize::from(value < 9.995);
        write!(f, "{value:.digits$} {unit}")
    }
}

/// The two verification modes, both always computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checks {
    /// 105 points, relative error at most 1e-6.
    pub paper: bool,
    /// Every element, scale-aware bound.
    pub strict: bool,
    /// The worst error, in units of the reference's scale.
    #[serde(with = "finite_or_null")]
    pub error: f64,
}

/// The unit of a task's speeds, determined once from the measurement of its seed.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Pace {
    /// The task counts operations, and speeds are GFLOPS.
    #[default]
    Gflops,
    /// The task counts no operations, and speeds are the seed's seconds divided by the candidate's.
    TimesSeed {
        /// Seconds per call of the seed.
        seconds: f64,
    },
}

impl Pace {
    /// The unit of speeds for a task with this seed.
    pub fn of_seed(seed: &Measured) -> Self {
        match seed.work.flops {
            Some(_) => Self::Gflops,
            None => Self::TimesSeed {
                seconds: seed.seconds,
            },
        }
    }

    /// The unit, for tables and plots.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Gflops => "GFLOPS",
            Self::TimesSeed { .. } => "x seed",
        }
    }
}

impl Measured {
    /// A measurement for fake benches: a steady clock, all checks passed, no baseline and no roof.
    /// Without GFLOPS it counts no operations.
    pub fn steady(gflops: impl Into<Option<f64>>, seconds: f64) -> Self {
        let flops = gflops.into().map(|gflops| gflops * 1e9 * seconds);
        Self {
            seconds,
            work: Work { flops, bytes: None },
            baseline: None,
            roof: None,
            checks: Checks {
                paper: true,
                strict: true,
                error: 0.0,
            },
            timing: Timing::steady(seconds),
        }
    }

    /// Billions of operations per second by the deciding estimator; `None` if the task counts none.
    pub fn gflops(&self) -> Option<f64> {
        Some(self.work.flops? / self.seconds / 1e9)
    }

    /// The same by the paper's estimator.
    pub fn gflops_paper(&self) -> Option<f64> {
        Some(self.work.flops? / self.timing.paper_s / 1e9)
    }

    /// Bytes per second by the deciding estimator; `None` if the task counts no bytes.
    pub fn bandwidth(&self) -> Option<f64> {
        Some(self.work.bytes? / self.seconds)
    }

    /// The rate of the resource that limits the task on this machine, by its roof. Without a roof
    /// it is arithmetic, if the task counts operations.
    pub fn rate(&self) -> Option<Rate> {
        let operations = self.work.flops.map(|flops| flops / self.seconds);
        let bytes = self.bandwidth();
        let is_memory = |roof: Roof| {
            let arithmetic_s = self.work.flops.unwrap_or(0.0) / roof.peak_flops;
            arithmetic_s < 0.99 * roof.seconds
        };
        match (operations, bytes) {
            (Some(_), Some(bytes)) if self.roof.is_some_and(is_memory) => Some(Rate::Bytes(bytes)),
            (Some(rate), _) => Some(Rate::Operations(rate)),
            (None, bytes) => bytes.map(Rate::Bytes),
        }
    }

    /// The share of the machine's limit: the roof's seconds divided by its own.
    pub fn roof_fraction(&self) -> Option<f64> {
        Some(self.roof?.seconds / self.seconds)
    }

    /// Share of the machine's arithmetic peak at equal threads.
    pub fn peak_fraction(&self) -> Option<f64> {
        Some(self.work.flops? / self.seconds / self.roof?.peak_flops)
    }

    /// How many times as fast as the baseline.
    pub fn baseline_ratio(&self) -> Option<f64> {
        Some(self.baseline.as_ref()?.seconds / self.seconds)
    }

    /// How many times as fast as OpenBLAS, if that is the baseline.
    pub fn openblas_ratio(&self) -> Option<f64> {
        self.baseline_ratio().filter(|_| {
            self.baseline
                .as_ref()
                .is_some_and(|it| it.name == Baseline::OPENBLAS)
        })
    }

    /// Its speed in the task's unit; `None` if the task counts no operations and its seed is
    /// unknown.
    pub fn speed(&self, pace: Pace) -> Option<f64> {
        match pace {
            Pace::Gflops => self.gflops(),
            Pace::TimesSeed { seconds } => Some(seconds / self.seconds),
        }
    }

    /// The first value that no machine can have measured, if there is one. Such a measurement is
    /// the sender's failure and not the candidate's.
    pub fn mistake(&self) -> Option<&'static str> {
        let Self {
            seconds,
            work,
            baseline,
            roof,
            checks: _,
            timing,
        } = self;
        let baseline_s = baseline.as_ref().map(|baseline| baseline.seconds);
        let positive = [
            ("seconds", Some(*seconds)),
            ("operations", work.flops),
            ("bytes", work.bytes),
            ("seconds of the baseline", baseline_s),
            ("arithmetic peak", roof.map(|roof| roof.peak_flops)),
            ("fastest sample", Some(timing.min_s)),
            ("median sample", Some(timing.median_s)),
            ("paper's estimate", Some(timing.paper_s)),
        ];
        let not_negative = [
            ("seconds of the roof", roof.map(|roof| roof.seconds)),
            ("coefficient of variation", Some(timing.cv)),
        ];
        let wrong = |value: Option<f64>, sound: fn(f64) -> bool| {
            value.is_some_and(|value| !value.is_finite() || !sound(value))
        };
        let first = positive
            .iter()
            .find(|(_, value)| wrong(*value, |value| value > 0.0));
        let second = || {
            not_negative
                .iter()
                .find(|(_, value)| wrong(*value, |value| value >= 0.0))
        };
        first.or_else(second).map(|(name, _)| *name)
    }
}

/// JSON has no infinity, so an error that is not finite is written as `null`.
pub(crate) mod finite_or_null {
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    pub(crate) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if value.is_finite() {
            serializer.serialize_f64(*value)
        } else {
            serializer.serialize_none()
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared() -> Measured {
        Measured {
            baseline: Some(Baseline {
                name: Baseline::OPENBLAS.to_owned(),
                seconds: 1.0,
            }),
            roof: Some(Roof {
                seconds: 0.5,
                peak_flops: 16e9,
            }),
            ..Measured::steady(4.0, 2.0)
        }
    }

    #[test]
    fn speeds_come_from_work_and_seconds() {
        let measured = compared();
        assert_eq!(measured.gflops(), Some(4.0));
        assert_eq!(measured.gflops_paper(), Some(4.0));
        assert_eq!(measured.peak_fraction(), Some(0.25));
        assert_eq!(measured.roof_fraction(), Some(0.25));
        assert_eq!(measured.bandwidth(), None);
        let mut moved = measured.clone();
        moved.work.bytes = Some(6e9);
        assert_eq!(moved.bandwidth(), Some(3e9));
        assert_eq!(measured.baseline_ratio(), Some(0.5));
        assert_eq!(measured.openblas_ratio(), Some(0.5));
        let mut other = measured.clone();
        other.baseline.as_mut().unwrap().name = "the eager module".to_owned();
        assert_eq!(other.baseline_ratio(), Some(0.5));
        assert_eq!(other.openblas_ratio(), None);
    }

    #[test]
    fn a_rate_is_that_of_what_limits_the_task() {
        let mut measured = compared();
        assert_eq!(measured.rate(), Some(Rate::Operations(4e9)));
        measured.work.bytes = Some(6e9);
        assert_eq!(measured.rate().unwrap().to_string(), "4.00 GFLOP/s");
        // The peak allows 8e9 operations in half a second, and memory needs a whole one.
        measured.roof.as_mut().unwrap().seconds = 1.0;
        assert_eq!(measured.rate(), Some(Rate::Bytes(3e9)));
        measured.work.flops = None;
        measured.roof = None;
        assert_eq!(measured.rate().unwrap().to_string(), "3.00 GB/s");
        measured.work.bytes = None;
        assert_eq!(measured.rate(), None);
        let texts = [51.26e12, 123.4e9].map(|rate| Rate::Operations(rate).to_string());
        assert_eq!(texts, ["51.3 TFLOP/s", "123 GFLOP/s"]);
    }

    #[test]
    fn without_operations_the_seed_is_the_unit() {
        let seed = Measured::steady(None, 6.0);
        let fast = Measured::steady(None, 2.0);
        let pace = Pace::of_seed(&seed);
        assert_eq!(pace.unit(), "x seed");
        assert_eq!(fast.speed(pace), Some(3.0));
        assert_eq!(seed.speed(pace), Some(1.0));
        assert_eq!(
            (fast.gflops(), fast.gflops_paper(), fast.peak_fraction()),
            (None, None, None)
        );
        assert_eq!(fast.speed(Pace::Gflops), None);
        let counted = Measured::steady(8.0, 2.0);
        assert_eq!(Pace::of_seed(&counted), Pace::Gflops);
        assert_eq!(counted.speed(Pace::Gflops), Some(8.0));
    }

    #[test]
    fn every_number_of_a_measurement_is_checked() {
        assert_eq!(compared().mistake(), None);
        assert_eq!(Measured::steady(None, 1.0).mistake(), None);
        let break_it: [fn(&mut Measured, f64); 10] = [
            |it, value| it.seconds = value,
            |it, value| it.work.flops = Some(value),
            |it, value| it.work.bytes = Some(value),
            |it, value| it.baseline.as_mut().unwrap().seconds = value,
            |it, value| it.roof.as_mut().unwrap().seconds = value,
            |it, value| it.roof.as_mut().unwrap().peak_flops = value,
            |it, value| it.timing.min_s = value,
            |it, value| it.timing.median_s = value,
            |it, value| it.timing.paper_s = value,
            |it, value| it.timing.cv = value,
        ];
        for (at, set) in break_it.iter().enumerate() {
            for value in [f64::NAN, f64::INFINITY, -1.0] {
                let mut measured = compared();
                set(&mut measured, value);
                assert!(measured.mistake().is_some(), "{at}: {value}");
            }
        }
        let mut stopped = compared();
        stopped.seconds = 0.0;
        assert_eq!(stopped.mistake(), Some("seconds"));
    }

    #[test]
    fn json_leaves_out_what_was_not_measured() {
        let text = serde_json::to_string(&Measured::steady(None, 1.0)).unwrap();
        assert!(
            text.contains("\"work\":{}") && !text.contains("baseline"),
            "{text}"
        );
        for measured in [Measured::steady(None, 1.0), compared()] {
            let text = serde_json::to_string(&measured).unwrap();
            assert_eq!(serde_json::from_str::<Measured>(&text).unwrap(), measured);
        }
        let broken = serde_json::to_string(&Measured::steady(f64::NAN, 1.0)).unwrap();
        assert!(
            serde_json::from_str::<Measured>(&broken).is_err(),
            "{broken}"
        );
    }
}
