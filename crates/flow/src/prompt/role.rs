//! Why a parent is asked about.

use serde::{Deserialize, Serialize};

/// Why a parent is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Begin from the seed, or from nothing but a fixed prompt.
    Explore,
    /// Take a fast one to the next stage.
    Deepen,
    /// Vary a middling one at its stage.
    Improve,
    /// Correct one that failed.
    Repair,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 4] = [Self::Explore, Self::Deepen, Self::Improve, Self::Repair];

    /// The name as JSON and people write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Explore => "explore",
            Self::Deepen => "deepen",
            Self::Improve => "improve",
            Self::Repair => "repair",
        }
    }
}
