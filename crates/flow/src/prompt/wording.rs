//! What prompts say, as data.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::role::Role;
use crate::stage::Rules;

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
    /// Instead of a stage's own wording, by its number or its name.
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

    /// What there is words for, a number or a name each: a run checks that its tasks have such
    /// stages.
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

    /// A fixed prompt; they repeat.
    pub fn fixed(&self, variant: usize) -> Option<&str> {
        let at = variant.checked_rem(self.fixed.len())?;
        Some(&self.fixed[at])
    }

    /// What a stage asks for: the words here, or its own.
    pub fn stage<'a>(&'a self, rules: Rules<'a>) -> &'a str {
        let here = self.stages.get(&rules.stage.number().to_string());
        here.or_else(|| self.stages.get(&rules.spec.name))
            .unwrap_or(&rules.spec.wording)
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
