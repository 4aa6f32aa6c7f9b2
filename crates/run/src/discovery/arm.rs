//! The arms of a discovery: what each sets in a run file.

/// A way of finding fast code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arm {
    /// Answers to the seed's prompts, and nothing else.
    BestOfN,
    /// The staged search, without learning.
    Search,
    /// The staged search, and GRPO on the mean reward.
    Grpo,
    /// The staged search, and GRPO on the expected best of k.
    MaxAtK,
    /// PUCT and the entropic objective, as TTT-Discover.
    Entropic,
}

impl Arm {
    /// All arms: first those that a verdict needs.
    pub const ALL: [Self; 5] = [
        Self::Search,
        Self::Entropic,
        Self::Grpo,
        Self::MaxAtK,
        Self::BestOfN,
    ];

    /// The name, which is also the beginning of its runs' folders.
    pub fn name(self) -> &'static str {
        match self {
            Self::BestOfN => "best-of-n",
            Self::Search => "search",
            Self::Grpo => "grpo",
            Self::MaxAtK => "max-at-k",
            Self::Entropic => "entropic",
        }
    }

    /// What it does, in a few words.
    pub fn summary(self) -> &'static str {
        match self {
            Self::BestOfN => "answers to the seed's prompts; no search, no learning",
            Self::Search => "the staged search without learning",
            Self::Grpo => "the staged search, learning from the mean reward",
            Self::MaxAtK => "the staged search, learning from the expected best of k",
            Self::Entropic => "PUCT, learning from exponential weights (TTT-Discover)",
        }
    }

    /// The keys of a run file that make it this arm. Everything else is equal for all arms.
    pub fn sets(self) -> &'static [&'static str] {
        match self {
            Self::BestOfN => &["learning.rate=0", "search.archive=none"],
            Self::Search => &["learning.rate=0"],
            // Without shares for copies, the mean reward soon makes all answers one program.
            Self::Grpo => &["learning.advantage=shared"],
            Self::MaxAtK => &[
                "learning.advantage=max-at-k",
                "learning.k=16",
                "learning.k-last=4",
            ],
            Self::Entropic => &["learning.advantage=entropic", "search.archive=puct"],
        }
    }
}

impl std::str::FromStr for Arm {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|arm| arm.name() == name);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("there is no arm `{name}`; there are {names}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layered;

    #[test]
    fn every_arm_is_a_valid_run_and_controls_do_not_learn() {
        for arm in Arm::ALL {
            let sets: Vec<String> = arm.sets().iter().map(|set| (*set).to_owned()).collect();
            let layered = Layered::read(None, &sets).expect("its keys exist");
            let is_control = matches!(arm, Arm::BestOfN | Arm::Search);
            assert_eq!(layered.config.learning.rate > 0.0, !is_control);
            assert_eq!(arm.name().parse(), Ok(arm));
        }
        assert!("grpq".parse::<Arm>().is_err());
    }
}
