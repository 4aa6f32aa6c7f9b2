//! The file of a suite: policies, tasks, and how to ask.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::cli::evaluate::{EvaluateArgs, Stages};
use crate::failure::Failure;

/// A suite, as people write it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct SuiteFile {
    pub(super) title: Option<String>,
    pub(super) tasks: Vec<String>,
    pub(super) policy: Vec<PolicyEntry>,
    preset: Option<Preset>,
    count: Option<u32>,
    stage: Option<Vec<String>>,
    temperature: Option<f64>,
    max_tokens: Option<u32>,
    seed: Option<u64>,
    opt: Option<String>,
    threads: Option<u32>,
    slots: Option<u32>,
    #[serde(default)]
    set: Vec<String>,
}

/// One policy of a suite.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct PolicyEntry {
    pub(super) name: String,
    model: String,
    adapter: Option<String>,
    #[serde(default)]
    set: Vec<String>,
}

/// How a paper asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Preset {
    /// One answer at temperature 0 to the stage that allows everything.
    P3,
}

impl SuiteFile {
    /// Reads and checks a file.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let wrong = |why: String| Failure::user(format!("{}: {why}", path.display()));
        let text =
            fs_err::read_to_string(path).map_err(|error| Failure::user(error.to_string()))?;
        let suite: Self = toml::from_str(&text).map_err(|error| {
            wrong(error.to_string()).hint("`hotloop evaluate --help` shows a suite")
        })?;
        if suite.tasks.is_empty() {
            return Err(wrong("`tasks` is empty".to_owned()));
        }
        let mut seen = BTreeSet::new();
        for PolicyEntry { name, .. } in &suite.policy {
            if name.trim().is_empty() || !seen.insert(name) {
                return Err(wrong(format!(
                    "two policies are called `{name}`, or one has no name"
                ))
                .hint("each [[policy]] needs a `name` of its own"));
            }
        }
        if suite
            .temperature
            .is_some_and(|value| !(0.0..=10.0).contains(&value))
        {
            return Err(wrong("`temperature` must be from 0 to 10".to_owned()));
        }
        for (key, value) in [
            ("count", suite.count),
            ("max-tokens", suite.max_tokens),
            ("threads", suite.threads),
            ("slots", suite.slots),
        ] {
            if value == Some(0) {
                return Err(wrong(format!("`{key}` must be at least 1")));
            }
        }
        Ok(suite)
    }

    /// The flags of an evaluation of one policy.
    pub(super) fn arguments(
        &self,
        entry: &PolicyEntry,
        given: &EvaluateArgs,
    ) -> Result<EvaluateArgs, Failure> {
        let mut arguments = given.clone();
        arguments.suite = None;
        arguments.model = vec![entry.model.clone()];
        arguments.adapter = entry.adapter.iter().cloned().collect();
        arguments.task.clone_from(&self.tasks);
        if self.preset == Some(Preset::P3) {
            (arguments.count, arguments.temperature) = (1, 0.0);
        }
        if let Some(count) = self.count {
            arguments.count = count;
        }
        if let Some(stages) = &self.stage {
            arguments.stage = Stages::These(stages.clone());
        }
        if let Some(temperature) = self.temperature {
            arguments.temperature = temperature;
        }
        if let Some(opt) = &self.opt {
            arguments.opt = opt
                .parse()
                .map_err(|error| Failure::user(format!("opt: {error}")))?;
        }
        arguments.max_tokens = self.max_tokens.or(arguments.max_tokens);
        arguments.seed = self.seed.unwrap_or(arguments.seed);
        arguments.threads = self.threads.unwrap_or(arguments.threads);
        arguments.slots = self.slots.unwrap_or(arguments.slots);
        arguments
            .set
            .extend(self.set.iter().chain(&entry.set).cloned());
        Ok(arguments)
    }

    /// Whether only the last stage of each task is asked for.
    pub(super) fn asks_last_stage(&self) -> bool {
        self.preset == Some(Preset::P3) && self.stage.is_none()
    }

    /// What to call it.
    pub(super) fn title(&self, path: &Path) -> String {
        let stem = || {
            path.file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        };
        self.title.clone().unwrap_or_else(stem)
    }
}

impl PolicyEntry {
    /// The files that the policy is made of, if they are on this machine.
    pub(super) fn files(&self) -> impl Iterator<Item = PathBuf> {
        let named = std::iter::once(&self.model).chain(&self.adapter);
        named.map(PathBuf::from).filter(|path| path.exists())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Called {
        #[command(flatten)]
        arguments: EvaluateArgs,
    }

    fn read(text: &str) -> Result<SuiteFile, Failure> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("suite.toml");
        std::fs::write(&path, text).unwrap();
        SuiteFile::read(&path)
    }

    const POLICY: &str = "[[policy]]\nname = \"base\"\nmodel = \"nano\"\n";

    #[test]
    fn a_suite_sets_the_flags_of_each_policy() {
        let suite = read(&format!(
            "tasks = [\"matmul\"]\npreset = \"p3\"\ncount = 4\nset = [\"device=cpu\"]\n{POLICY}\
             adapter = \"warm\"\nset = [\"sampling.top-p=0.9\"]\n"
        ))
        .unwrap();
        let given = Called::parse_from(["x", "--suite", "s", "--out", "o"]).arguments;
        let arguments = suite.arguments(&suite.policy[0], &given).unwrap();
        assert_eq!(arguments.model, ["nano"]);
        assert_eq!(arguments.adapter, ["warm"]);
        assert_eq!((arguments.count, arguments.temperature), (4, 0.0));
        assert_eq!(arguments.set, ["device=cpu", "sampling.top-p=0.9"]);
        assert!(suite.asks_last_stage());
    }

    #[test]
    fn mistakes_name_the_key() {
        let what = |text: &str| read(text).unwrap_err().what().to_owned();
        assert!(what(&format!("tasks = []\n{POLICY}")).contains("`tasks` is empty"));
        assert!(what(&format!("tasks = [\"a\"]\n{POLICY}{POLICY}")).contains("`base`"));
        assert!(what(&format!("tasks = [\"a\"]\ncuont = 1\n{POLICY}")).contains("cuont"));
        assert!(what(&format!("tasks = [\"a\"]\ncount = 0\n{POLICY}")).contains("`count`"));
    }
}
