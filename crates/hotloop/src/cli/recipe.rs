//! Values of `hotloop tune`: recipes and warm-ups.

use clap::ValueEnum;

/// A paper's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Recipe {
    /// `KernelCompare`, by Gulati: an adapter of rank 32, 2e-4, 4 examples a step, 8 epochs
    Kernelcompare,
    /// Garg, Heo and Mou: an adapter of rank 8, 1e-4, 16 examples a step, 5 epochs
    Distil,
}

/// Over how many steps the rate rises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WarmUp {
    Steps(u64),
    Percent(u64),
    /// A twentieth of all steps, at most 100.
    Usual,
}

impl WarmUp {
    /// The steps, of `total`.
    pub(crate) fn steps(self, total: u64) -> u64 {
        match self {
            Self::Steps(steps) => steps,
            Self::Percent(percent) => (total * percent).div_ceil(100),
            Self::Usual => (total / 20).min(100),
        }
    }
}

impl std::str::FromStr for WarmUp {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "neither a number of steps nor a share such as 10%".to_owned();
        match text.strip_suffix('%') {
            Some(percent) => match percent.trim().parse() {
                Ok(percent @ 0..=100) => Ok(Self::Percent(percent)),
                _ => Err(wrong()),
            },
            None => text.parse().map(Self::Steps).map_err(|_| wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warm_up_is_steps_or_a_share() {
        assert_eq!("10 %".parse(), Ok(WarmUp::Percent(10)));
        assert_eq!("7".parse(), Ok(WarmUp::Steps(7)));
        assert!("101%".parse::<WarmUp>().is_err() && "x".parse::<WarmUp>().is_err());
        assert_eq!(WarmUp::Percent(10).steps(96), 10);
    }
}
