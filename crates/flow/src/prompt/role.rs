//! Why the search chose a parent.

use serde::{Deserialize, Serialize};

/// Why the search chose a parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Start from the seed, or only from a fixed prompt.
    Explore,
    /// Take a fast candidate to the next stage.
    Deepen,
    /// Vary a mediocre candidate at its stage.
    Improve,
    /// Correct a failed candidate.
    Repair,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 4] = [Self::Explore, Self::Deepen, Self::Improve, Self::Repair];

    /// The name in JSON and in text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Explore => "explore",
            Self::Deepen => "deepen",
            Self::Improve => "improve",
            Self::Repair => "repair",
        }
    }
}
