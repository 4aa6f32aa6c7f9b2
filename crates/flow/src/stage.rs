//! The stages of a task: each names techniques that its candidates must not use.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::technique::{Scan, Technique};

/// A stage of a task by its number, from 1, as in configuration, JSON and journals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Stage(u8);

/// A stage that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StageError {
    /// Stages count from 1.
    #[error("stage 0 does not exist; stages count from 1")]
    Zero,
    /// The task has no such stage.
    #[error("stage {asked} does not exist; {known}")]
    Unknown {
        /// A number or a name.
        asked: String,
        /// The known stages.
        known: String,
    },
}

impl TryFrom<u8> for Stage {
    type Error = StageError;

    fn try_from(number: u8) -> Result<Self, StageError> {
        match number {
            0 => Err(StageError::Zero),
            _ => Ok(Self(number)),
        }
    }
}

impl From<Stage> for u8 {
    fn from(stage: Stage) -> Self {
        stage.0
    }
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "stage {}", self.0)
    }
}

impl Stage {
    /// The stage that a search begins with.
    pub const FIRST: Self = Self(1);

    /// The stage with this number, for constants. Numbers from outside go through `try_from`.
    ///
    /// # Panics
    /// For 0.
    pub const fn numbered(number: u8) -> Self {
        assert!(number > 0, "stages count from 1");
        Self(number)
    }

    pub fn number(self) -> u8 {
        self.0
    }
}

/// What one stage asks for and forbids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct StageSpec {
    /// Lower-case letters, digits and dashes, with a letter first.
    pub name: String,
    /// The text of a prompt at this stage.
    pub wording: String,
    /// A description of what the stage allows, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allows: Option<String>,
    /// The techniques that are refused.
    #[serde(default)]
    pub forbids: Vec<Technique>,
}

/// The stages of a task, in order. A good candidate goes from one to the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Stages(Vec<StageSpec>);

impl Stages {
    /// Maximum number of stages. More would need a wider number in journals.
    const MOST: usize = 99;

    /// One stage that forbids nothing.
    pub fn unrestricted() -> Self {
        Self(vec![StageSpec {
            name: "all".into(),
            wording: "Use all techniques. Nothing is forbidden; choose whatever is fastest.".into(),
            allows: None,
            forbids: Vec::new(),
        }])
    }

    /// `Err` names the broken rule and the key.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.0.is_empty() || self.0.len() > Self::MOST {
            let (count, most) = (self.0.len(), Self::MOST);
            return Err(format!("stages: {count} are not between 1 and {most}"));
        }
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let mut seen = BTreeSet::new();
        for (index, StageSpec { name, wording, .. }) in self.0.iter().enumerate() {
            let fail = |why: String| Err(format!("stages.{}.{why}", index + 1));
            if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(plain) {
                return fail(format!(
                    "name: `{name}` must be lower-case letters, digits and dashes, with a letter \
                     first"
                ));
            }
            if !seen.insert(name) {
                return fail(format!("name: another stage is already called `{name}`"));
            }
            if wording.trim().is_empty() {
                return fail("wording: a prompt needs words".into());
            }
        }
        Ok(())
    }

    /// The stages, in order.
    pub fn iter(&self) -> impl Iterator<Item = Rules<'_>> {
        let numbered = (1..).map(Stage).zip(&self.0);
        numbered.map(|(stage, spec)| Rules { stage, spec })
    }

    /// How many there are; at least one.
    #[expect(clippy::len_without_is_empty, reason = "a task has at least one stage")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The stage at `index`, which counts from 0 and wraps around.
    pub fn cycle(&self, index: usize) -> Stage {
        Stage((index % self.0.len()) as u8 + 1)
    }

    pub fn last(&self) -> Stage {
        Stage(self.0.len() as u8)
    }

    /// The stage by its number or its name.
    pub fn find(&self, asked: &str) -> Result<Stage, StageError> {
        let fits = |rules: &Rules<'_>| {
            rules.spec.name == asked || asked.parse() == Ok(rules.stage.number())
        };
        let found = self.iter().find(fits);
        found
            .map(|rules| rules.stage)
            .ok_or_else(|| self.unknown(asked))
    }

    pub fn get(&self, stage: Stage) -> Result<Rules<'_>, StageError> {
        let index = usize::from(stage.0) - 1;
        match self.0.get(index) {
            Some(spec) => Ok(Rules { stage, spec }),
            None => Err(self.unknown(&stage.0.to_string())),
        }
    }

    fn unknown(&self, asked: &str) -> StageError {
        let names: Vec<&str> = self.0.iter().map(|spec| spec.name.as_str()).collect();
        StageError::Unknown {
            asked: asked.to_owned(),
            known: match names.as_slice() {
                [only] => format!("the task has only stage 1 ({only})"),
                all => format!("stages are 1 to {} ({})", all.len(), all.join(", ")),
            },
        }
    }
}

/// One stage of a task: its number and its rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules<'a> {
    pub stage: Stage,
    pub spec: &'a StageSpec,
}

impl Rules<'_> {
    pub fn forbids(&self, technique: Technique) -> bool {
        self.spec.forbids.contains(&technique)
    }

    /// A sentence about the first forbidden technique that `scan` found.
    pub fn violation(&self, scan: &Scan) -> Option<String> {
        let found = self
            .spec
            .forbids
            .iter()
            .find_map(|technique| Some((technique, scan.techniques.get(technique)?)));
        found.map(|(technique, evidence)| {
            format!(
                "{} forbids {}: line {} uses `{}`",
                self.stage,
                technique.name(),
                evidence.line,
                evidence.text
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stages(toml: &str) -> Stages {
        #[derive(Deserialize)]
        struct File {
            stages: Stages,
        }
        toml::from_str::<File>(toml).unwrap().stages
    }

    const TWO: &str = "[[stages]]\nname = \"plain\"\nwording = \"No vectors.\"\nforbids = [\"simd\"]\n[[stages]]\nname = \"all\"\nwording = \"Anything.\"\n";

    #[test]
    fn a_stage_is_a_number_in_configuration() {
        #[derive(Deserialize)]
        struct Config {
            stage: Stage,
        }
        assert_eq!(
            toml::from_str::<Config>("stage = 3").map(|config| config.stage),
            Ok(Stage(3))
        );
        assert!(toml::from_str::<Config>("stage = 0").is_err());
    }

    #[test]
    fn a_stage_is_found_by_its_number_or_its_name() {
        let stages = stages(TWO);
        assert_eq!(stages.find("2"), Ok(Stage(2)));
        assert_eq!(stages.find("plain"), Ok(Stage(1)));
        assert_eq!(stages.last(), Stage(2));
        assert_eq!((stages.cycle(2), stages.cycle(3)), (Stage(1), Stage(2)));
        let error = stages.find("3").unwrap_err().to_string();
        assert_eq!(
            error,
            "stage 3 does not exist; stages are 1 to 2 (plain, all)"
        );
        assert!(stages.get(Stage(3)).is_err());
    }

    #[test]
    fn stages_have_distinct_names_and_texts() {
        assert_eq!(stages(TWO).check(), Ok(()));
        let check = |from: &str, to: &str| stages(&TWO.replace(from, to)).check().unwrap_err();
        assert_eq!(
            check("plain", "all"),
            "stages.2.name: another stage is already called `all`"
        );
        assert_eq!(
            check("Anything.", " "),
            "stages.2.wording: a prompt needs words"
        );
        assert!(check("plain", "1").starts_with("stages.1.name: `1`"));
        assert!(stages("stages = []").check().is_err());
    }
}
