//! The file of a sweep: policies, problems of `KernelBench`, and how to ask and judge.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hotloop_flow::Reward;
use hotloop_policy::Device;
use serde::Deserialize;

use crate::cmd::bench::module::worth;
use crate::failure::Failure;
use crate::{models, nano};

/// A sweep, as people write it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct SweepFile {
    title: Option<String>,
    /// The checkout.
    kernelbench: Option<String>,
    pub(super) problems: Vec<String>,
    /// Answers a problem and policy.
    #[serde(default = "one")]
    pub(super) count: u32,
    #[serde(default)]
    pub(super) temperature: f64,
    #[serde(default = "max_tokens")]
    pub(super) max_tokens: u32,
    #[serde(default = "seed")]
    pub(super) seed: u64,
    /// Whether to time `torch.compile` as well.
    #[serde(default)]
    pub(super) compile: bool,
    /// Seconds that one call of an answer may take.
    #[serde(default = "limit")]
    pub(super) limit: f64,
    /// Verified runs that are timed at least; with 0 the bench decides.
    #[serde(default)]
    pub(super) runs: u32,
    /// What answers earn.
    pub(super) reward: Option<Reward>,
    preset: Option<String>,
    /// Where local models compute.
    #[serde(default = "device")]
    device: String,
    pub(super) policy: Vec<PolicyEntry>,
}

/// One policy of a sweep.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct PolicyEntry {
    pub(super) name: String,
    pub(super) model: String,
    adapter: Option<String>,
    /// The address of an endpoint.
    pub(super) api: Option<String>,
    /// The environment variable with its key.
    pub(super) api_key: Option<String>,
}

/// The preset that evaluates as Garg, Heo and Mou do, and its runs.
const P3: &str = "p3";
const P3_RUNS: u32 = 100;
/// Runs that may be asked for.
const RUNS: u32 = 1000;

fn one() -> u32 {
    1
}

fn max_tokens() -> u32 {
    2048
}

fn seed() -> u64 {
    1
}

fn limit() -> f64 {
    10.0
}

fn device() -> String {
    "auto".to_owned()
}

/// Whether a suite asks for problems of `KernelBench`. A file that cannot be read does not.
pub(in crate::cmd::evaluate) fn is_one(path: &Path) -> bool {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let table: toml::Table = toml::from_str(&text).unwrap_or_default();
    ["problems", "kernelbench"]
        .iter()
        .any(|key| table.contains_key(*key))
}

impl SweepFile {
    /// Reads and checks a file.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let wrong = |why: String| Failure::user(format!("{}: {why}", path.display()));
        let text =
            fs_err::read_to_string(path).map_err(|error| Failure::user(error.to_string()))?;
        let mut suite: Self = toml::from_str(&text).map_err(|error| {
            wrong(error.to_string())
                .hint("docs/kernelbench.md explains every key of a suite of problems")
        })?;
        suite.check().map_err(|(why, hint)| wrong(why).hint(hint))?;
        worth::check(suite.reward)?;
        if suite.preset.is_some() && suite.runs == 0 {
            suite.runs = P3_RUNS;
        }
        Ok(suite)
    }

    /// What is wrong, and what helps.
    fn check(&self) -> Result<(), (String, &'static str)> {
        let because = |wrong: bool, why: &str, hint| {
            if wrong {
                Err((why.to_owned(), hint))
            } else {
                Ok(())
            }
        };
        because(
            self.problems.is_empty(),
            "`problems` is empty",
            "name problems such as \"kernelbench/1/19\", or a level such as \"kernelbench/1\"",
        )?;
        because(
            self.policy.is_empty(),
            "there is no policy",
            "add [[policy]] with a `name` and a `model`",
        )?;
        because(
            self.count == 0,
            "`count` is 0",
            "it is the number of answers for each problem and policy",
        )?;
        because(
            self.max_tokens == 0,
            "`max-tokens` is 0",
            "an answer needs about 1000",
        )?;
        because(
            !(0.0..=10.0).contains(&self.temperature),
            "`temperature` is not from 0 to 10",
            "0 always takes the most likely token",
        )?;
        because(
            !(0.001..=600.0).contains(&self.limit),
            "`limit` is not from 0.001 to 600",
            "it is the number of seconds that one call of an answer may take",
        )?;
        because(
            self.runs > RUNS,
            "`runs` is above 1000",
            "it is the least number of timed runs",
        )?;
        because(
            self.preset.as_ref().is_some_and(|preset| preset != P3),
            "`preset` is unknown",
            "the only preset is \"p3\"",
        )?;
        because(
            self.preset.is_some() && (self.count, self.temperature) != (1, 0.0),
            "`preset` asks once at temperature 0",
            "leave `count` and `temperature` out, or leave `preset` out and set `runs`",
        )?;
        because(
            self.device.parse::<Device>().is_err(),
            "`device` is unknown",
            "choose \"auto\", \"cpu\" or \"cuda\"",
        )?;
        because(
            self.count > 1 && self.temperature == 0.0,
            "`count` is above 1 and `temperature` is 0, so all answers would be the same",
            "set `temperature`, such as 0.8, or leave `count` out",
        )?;
        self.check_policies()
    }

    fn check_policies(&self) -> Result<(), (String, &'static str)> {
        let mut seen = BTreeSet::new();
        for entry in &self.policy {
            if entry.name.trim().is_empty() || !seen.insert(&entry.name) {
                let why = format!(
                    "two policies are called `{}`, or one has no name",
                    entry.name
                );
                return Err((why, "each [[policy]] needs a `name` of its own"));
            }
            entry
                .check()
                .map_err(|(why, hint)| (format!("policy `{}`: {why}", entry.name), hint))?;
        }
        Ok(())
    }

    /// Where local models compute.
    pub(super) fn device(&self) -> Device {
        self.device.parse().unwrap_or_default()
    }

    /// What to call it.
    pub(super) fn title(&self, path: &Path) -> String {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        self.title.clone().unwrap_or_else(|| stem.into_owned())
    }

    /// The checkout: that of the command line, or else that of the file.
    pub(super) fn checkout(&self, given: Option<&Path>) -> Result<PathBuf, Failure> {
        let own = || self.kernelbench.as_deref().map(at_home);
        given.map(Path::to_owned).or_else(own).ok_or_else(|| {
            Failure::user("no checkout of KernelBench is named").hint(
                "clone KernelBench, and name it by --kernelbench DIR or by `kernelbench` in the \
                 suite",
            )
        })
    }
}

impl PolicyEntry {
    fn check(&self) -> Result<(), (String, &'static str)> {
        match (&self.api, &self.adapter, &self.api_key) {
            (Some(_), Some(_), _) => Err((
                "`adapter` does not go with `api`".to_owned(),
                "leave one of them out",
            )),
            (None, _, Some(_)) => Err((
                "`api-key` needs `api`".to_owned(),
                "name the endpoint's address by `api`",
            )),
            (Some(_), None, Some(key)) if std::env::var_os(key).is_none() => Err((
                format!("`api-key`: the environment has no {key}"),
                "set that variable to the endpoint's key",
            )),
            _ => Ok(()),
        }
    }

    /// The folder of the adapter.
    pub(super) fn adapter(&self) -> Option<PathBuf> {
        self.adapter.as_deref().map(at_home)
    }

    /// A local model's name or path.
    pub(super) fn local(&self) -> String {
        at_home(&self.model).display().to_string()
    }

    /// Checks that the policy's files are here.
    pub(super) fn find(&self) -> Result<(), Failure> {
        let about = |failure: Failure| {
            let what = format!("policy `{}`: {}", self.name, failure.what());
            failure.about(what)
        };
        if self.api.is_some() {
            return Ok(());
        }
        models::find(&self.local()).map_err(about)?;
        if nano::speaks(&self.local()) {
            return Err(about(
                Failure::user("the nano policy knows no Python")
                    .hint("problems of KernelBench need a language model"),
            ));
        }
        match self.adapter() {
            Some(folder) if !folder.join("adapter_config.json").exists() => Err(about(
                Failure::user(format!(
                    "`adapter`: {}: there is no adapter_config.json in it",
                    folder.display()
                ))
                .hint("`adapter` names a folder that `hotloop tune` or a run with LoRA wrote"),
            )),
            _ => Ok(()),
        }
    }
}

/// A path in which `~` is the user's home.
fn at_home(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => PathBuf::from(home).join(rest),
        _ => PathBuf::from(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<SweepFile, Failure> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("suite.toml");
        std::fs::write(&path, text).unwrap();
        assert!(is_one(&path) || !text.contains("problems"));
        SweepFile::read(&path)
    }

    const HEAD: &str = "problems = [\"kernelbench/1/19\"]\n";
    const POLICY: &str = "[[policy]]\nname = \"base\"\nmodel = \"m\"\n";

    #[test]
    fn what_a_suite_leaves_out_is_the_papers_evaluation() {
        let suite = read(&format!("{HEAD}{POLICY}")).unwrap();
        assert_eq!((suite.count, suite.max_tokens, suite.seed), (1, 2048, 1));
        assert_eq!((suite.temperature, suite.limit), (0.0, 10.0));
        assert!(!suite.compile && suite.device() == Device::Auto);
        assert_eq!(suite.title(Path::new("a/b.toml")), "b");
        assert!(suite.checkout(None).is_err());
        let given = suite.checkout(Some(Path::new("here"))).unwrap();
        assert_eq!(given, Path::new("here"));
    }

    #[test]
    fn a_preset_asks_once_and_times_a_hundred_runs() {
        let suite = |line: &str| read(&format!("{HEAD}{line}\n{POLICY}")).unwrap();
        assert_eq!(suite("preset = \"p3\"").runs, 100);
        assert_eq!(suite("preset = \"p3\"\nruns = 30").runs, 30);
        assert_eq!(suite("").runs, 0);
        let reward = "reward = { shape = \"composite\", alpha = 0.5, beta = 0.5 }";
        assert_eq!(suite(reward).reward.map(Reward::name), Some("composite"));
        let sol = read(&format!("{HEAD}reward = {{ shape = \"sol\" }}\n{POLICY}")).unwrap_err();
        assert!(sol.what().contains("`sol`"), "{}", sol.what());
    }

    #[test]
    fn every_key_is_read() {
        let suite = read(&format!(
            "title = \"t\"\nkernelbench = \"kb\"\n{HEAD}count = 4\ntemperature = 1\n\
             max-tokens = 100\nseed = 7\ncompile = true\nlimit = 2\ndevice = \"cpu\"\n{POLICY}\
             adapter = \"a\"\n[[policy]]\nname = \"hosted\"\napi = \"http://h/v1\"\nmodel = \"n\"\n\
             api-key = \"PATH\"\n"
        ))
        .unwrap();
        assert_eq!((suite.count, suite.max_tokens, suite.seed), (4, 100, 7));
        assert_eq!((suite.temperature, suite.limit), (1.0, 2.0));
        assert!(suite.compile && suite.device() == Device::Cpu);
        assert_eq!(suite.checkout(None).unwrap(), Path::new("kb"));
        let [base, hosted] = &suite.policy[..] else {
            panic!("{suite:?}");
        };
        assert_eq!(base.adapter(), Some(PathBuf::from("a")));
        assert_eq!(hosted.api.as_deref(), Some("http://h/v1"));
    }

    #[test]
    fn mistakes_name_the_file_and_the_key() {
        let refused = |text: &str, words: &str| {
            let what = read(text).unwrap_err().what().to_owned();
            assert!(
                what.contains("suite.toml") && what.contains(words),
                "{words} is missing in {what}"
            );
        };
        refused(&format!("problems = []\n{POLICY}"), "`problems`");
        refused(&format!("{HEAD}policy = []"), "no policy");
        for (line, words) in [
            ("cuont = 1", "cuont"),
            ("count = 0", "`count`"),
            ("count = 2", "`temperature` is 0"),
            ("max-tokens = 0", "`max-tokens`"),
            ("temperature = 11", "`temperature`"),
            ("limit = 0", "`limit`"),
            ("runs = 1001", "`runs`"),
            ("preset = \"p4\"", "`preset`"),
            (
                "preset = \"p3\"\ncount = 2\ntemperature = 1",
                "`preset` asks once",
            ),
            ("reward = { shape = \"wieghted\" }", "reward"),
            ("device = \"tpu\"", "`device`"),
            ("compile = 1", "compile"),
        ] {
            refused(&format!("{HEAD}{line}\n{POLICY}"), words);
        }
        refused(&format!("{HEAD}{POLICY}{POLICY}"), "`base`");
        for (line, words) in [
            ("api-key = \"K\"", "`api-key` needs `api`"),
            ("api = \"u\"\nadapter = \"a\"", "`adapter`"),
            ("api = \"u\"\napi-key = \"HOTLOOP_NONE\"", "HOTLOOP_NONE"),
            ("modle = \"m\"", "modle"),
        ] {
            refused(&format!("{HEAD}{POLICY}{line}\n"), words);
        }
    }

    #[test]
    fn a_policy_must_be_here_and_know_python() {
        let entry = |model: &str| PolicyEntry {
            name: "base".to_owned(),
            model: model.to_owned(),
            adapter: None,
            api: None,
            api_key: None,
        };
        let what = |entry: &PolicyEntry| entry.find().unwrap_err().what().to_owned();
        assert!(what(&entry("nano")).contains("`base`: the nano policy"));
        assert!(what(&entry("./none")).contains("`base`: ./none"));
    }

    #[test]
    fn the_shipped_suites_are_sound() {
        let path = "../../experiments/kernelbench-suite.toml";
        let suite = SweepFile::read(Path::new(path)).unwrap();
        assert_eq!((suite.problems.len(), suite.policy.len()), (20, 2));
        let p3 = SweepFile::read(Path::new("../../experiments/kernelbench-p3.toml")).unwrap();
        assert_eq!(
            (p3.runs, p3.reward.map(Reward::name)),
            (100, Some("composite"))
        );
    }

    #[test]
    fn a_tilde_is_the_users_home() {
        let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
        assert_eq!(at_home("~/kb"), home.join("kb"));
        assert_eq!(at_home("a/~/kb"), Path::new("a/~/kb"));
    }
}
