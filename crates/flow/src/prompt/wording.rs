//! The texts of prompts, as data.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::role::Role;
use crate::language::Language;
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
    /// Before other programs with their speeds. Older files lack it.
    #[serde(default = "contrast")]
    contrast: String,
    /// Before a profile of the parent.
    #[serde(default = "profile")]
    profile: String,
    /// Texts that replace the first two for tasks in CUDA.
    #[serde(default)]
    cuda: Option<OfLanguage>,
    /// Texts that replace a stage's own wording, by its number or name.
    #[serde(default)]
    stages: BTreeMap<String, String>,
}

/// The texts that differ between languages.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfLanguage {
    system: String,
    fixed: Vec<String>,
}

/// A wording that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WordingError(String);

fn contrast() -> String {
    Wording::default().contrast
}

fn profile() -> String {
    Wording::default().profile
}

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

    /// The text before other programs with their speeds.
    pub fn contrast(&self) -> &str {
        &self.contrast
    }

    /// The text about a parent's profile.
    pub fn profile(&self, profile: &str) -> String {
        format!("{}\n\n```\n{}\n```", self.profile, profile.trim())
    }

    fn of_language(&self, language: Language) -> Option<&OfLanguage> {
        match language {
            Language::Cuda => self.cuda.as_ref(),
            Language::C | Language::Torch => None,
        }
    }

    /// Standing instructions.
    pub fn system(&self, language: Language) -> &str {
        self.of_language(language)
            .map_or(&self.system, |texts| &texts.system)
    }

    fn all_fixed(&self, language: Language) -> &[String] {
        self.of_language(language)
            .map_or(&self.fixed, |texts| &texts.fixed)
    }

    /// How many fixed prompts there are.
    pub fn fixed_count(&self, language: Language) -> usize {
        self.all_fixed(language).len()
    }

    /// A fixed prompt. The numbers wrap around.
    pub fn fixed(&self, language: Language, variant: usize) -> Option<&str> {
        let fixed = self.all_fixed(language);
        let at = variant.checked_rem(fixed.len())?;
        Some(&fixed[at])
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
