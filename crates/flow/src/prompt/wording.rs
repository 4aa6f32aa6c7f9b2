//! What prompts say, as data.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::prompt::Role;
use crate::stage::Stage;

const DEFAULT: &str = include_str!("default.toml");

/// What prompts say, apart from the task's own statement.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wording {
    system: String,
    fixed: Vec<String>,
    explore: String,
    deepen: String,
    improve: String,
    repair: String,
    stages: BTreeMap<String, String>,
}

/// A wording that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WordingError {
    /// Not what it should be.
    #[error("{0}")]
    Toml(String),
    /// No such stage.
    #[error("stages: `{0}` names no stage; stages are 1 to 6")]
    Stage(String),
}

impl Default for Wording {
    fn default() -> Self {
        Self::parse(DEFAULT).expect("a test reads the embedded wording")
    }
}

impl Wording {
    /// Reads a wording.
    pub fn parse(text: &str) -> Result<Self, WordingError> {
        let wording: Self = toml::from_str(text)
            .map_err(|error| WordingError::Toml(error.to_string().trim().to_owned()))?;
        match wording.stages.keys().find(|key| {
            !Stage::ALL
                .iter()
                .any(|stage| stage.number().to_string() == **key)
        }) {
            Some(key) => Err(WordingError::Stage(key.clone())),
            None => Ok(wording),
        }
    }

    /// Standing instructions.
    pub fn system(&self) -> &str {
        &self.system
    }

    /// How many fixed prompts there are.
    pub fn fixed_count(&self) -> usize {
        self.fixed.len()
    }

    /// A fixed prompt; they repeat.
    pub fn fixed(&self, variant: usize) -> Option<&str> {
        let at = variant.checked_rem(self.fixed.len())?;
        Some(&self.fixed[at])
    }

    /// What a stage asks for.
    pub fn stage(&self, stage: Stage) -> Option<&str> {
        self.stages
            .get(&stage.number().to_string())
            .map(String::as_str)
    }

    /// How a parent is spoken of.
    pub fn role(&self, role: Role) -> &str {
        match role {
            Role::Explore => &self.explore,
            Role::Deepen => &self.deepen,
            Role::Improve => &self.improve,
            Role::Repair => &self.repair,
        }
    }
}
