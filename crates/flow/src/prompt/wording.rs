//! The texts of prompts, as data.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::role::Role;
use crate::stage::Rules;

const DEFAULT: &str = include_str!("default.toml");

/// The texts of prompts, except for the task's own statement.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wording {
    system: String,
    fixed: Vec<String>,
    explore: String,
    deepen: String,
    improve: String,
    repair: String,
    /// Texts that replace a stage's own wording, by its number or name.
    #[serde(default)]
    stages: BTreeMap<String, String>,
}

/// A wording that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WordingError(String);

impl Default for Wording {
    fn default() -> Self {
        Self::parse(DEFAULT).expect("a test reads the embedded wording")
    }
}

impl Wording {
    /// Reads a wording.
    pub fn parse(text: &str) -> Result<Self, WordingError> {
        toml::from_str(text).map_err(|error| WordingError(error.to_string().trim().to_owned()))
    }

    /// The stages with a text, by number or name. A run checks that its tasks have these stages.
    pub fn stages(&self) -> impl Iterator<Item = &str> {
        self.stages.keys().map(String::as_str)
    }

    /// Standing instructions.
    pub fn system(&self) -> &str {
        &self.system
    }

    /// How many fixed prompts there are.
    pub fn fixed_count(&self) -> usize {
        self.fixed.len()
    }

    /// A fixed prompt. The numbers wrap around.
    pub fn fixed(&self, variant: usize) -> Option<&str> {
        let at = variant.checked_rem(self.fixed.len())?;
        Some(&self.fixed[at])
    }

    /// The text of a stage: the one here, or its own.
    pub fn stage<'a>(&'a self, rules: Rules<'a>) -> &'a str {
        let here = self.stages.get(&rules.stage.number().to_string());
        here.or_else(|| self.stages.get(&rules.spec.name))
            .unwrap_or(&rules.spec.wording)
    }

    /// The text about a parent with this role.
    pub fn role(&self, role: Role) -> &str {
        match role {
            Role::Explore => &self.explore,
            Role::Deepen => &self.deepen,
            Role::Improve => &self.improve,
            Role::Repair => &self.repair,
        }
    }
}
