//! What a run file says, layered over the embedded defaults.
//!
//! `default.toml` < run file < `--set key=value`. Nothing has a default anywhere else, and
//! a key that `default.toml` does not have is a mistake.

mod tasks;

use std::collections::BTreeMap;

use hotloop_flow::bench::{Compiler, OptLevel};
use hotloop_flow::{Advantage, Reward, Sampling};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

pub use tasks::Tasks;

/// The embedded defaults: every key with its sentence.
pub const DEFAULT: &str = include_str!("default.toml");
/// A default value that is a table chosen as a whole, not a section with keys.
const WHOLE: [&str; 1] = ["reward"];
/// A key whose value is a string, or a list of strings.
const LISTED: &str = "task";

/// Everything that a run file can say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// The task's name or folder, and behind it those of practised tasks.
    pub task: Tasks,
    /// The model.
    pub model: String,
    /// An adapter to start from; empty for none.
    pub adapter: String,
    /// `auto`, `cpu` or `cuda`.
    pub device: Device,
    /// Every random choice follows from it.
    pub seed: u64,
    /// The run directory.
    pub directory: String,
    /// The fleet that judges; empty for this machine.
    pub fleet: String,
    /// The reward's shape and numbers.
    pub reward: Reward,
    /// When the run ends.
    pub budget: Budget,
    /// How answers are drawn.
    pub sampling: SamplingConfig,
    /// What is asked.
    pub prompts: Prompts,
    /// How parents are chosen.
    pub search: Search,
    /// How the policy learns.
    pub learning: Learning,
    /// How candidates are judged.
    pub bench: BenchConfig,
    /// How the loop runs.
    #[serde(rename = "loop")]
    pub stepping: Stepping,
}

/// Where the model computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Device {
    /// The GPU where there is one.
    Auto,
    /// The CPU.
    Cpu,
    /// The GPU.
    Cuda,
}

/// When the run ends; 0 sets no limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Budget {
    /// Steps at most.
    pub steps: u64,
    /// Seconds of stepping at most.
    pub seconds: f64,
    /// Iterations of the search at most.
    pub iterations: u32,
}

/// How answers are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SamplingConfig {
    /// Answers to one prompt.
    pub group: u32,
    /// Groups behind one update.
    pub prompts_per_step: u32,
    /// Of the first step.
    pub temperature: f64,
    /// 1 keeps all.
    pub top_p: f64,
    /// 0 keeps all.
    pub top_k: u32,
    /// 0 keeps all.
    pub min_p: f64,
    /// Tokens of an answer at most.
    pub max_tokens: u32,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Prompts {
    /// Where prompts come from.
    pub source: SourceKind,
    /// A file with other words; empty for the embedded ones.
    pub wording: String,
    /// Whether the answer is begun.
    pub begin: bool,
}

/// Where prompts come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// The staged search.
    Sqd,
    /// The fixed prompts in turn.
    Fixed,
    /// In every step as many of each.
    Both,
}

impl SourceKind {
    /// Whether the search is asked.
    pub fn searches(self) -> bool {
        matches!(self, Self::Sqd | Self::Both)
    }

    /// Whether fixed prompts are asked.
    pub fn asks_fixed(self) -> bool {
        matches!(self, Self::Fixed | Self::Both)
    }
}

/// The search's rules and what an ablation switches off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Search {
    /// Parents of an iteration at most.
    pub parents: usize,
    /// Stages with their rules.
    pub stages: bool,
    /// Failed candidates are repaired.
    pub repair: bool,
    /// Fast candidates go to the next stage.
    pub deepening: bool,
    /// Of each stage's fastest, how many stay.
    pub elites: usize,
}

/// How the policy learns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Learning {
    /// The learning rate; 0 only searches.
    pub rate: f64,
    /// Weight of the divergence from the reference policy.
    pub beta: f64,
    /// How advantages follow from rewards.
    pub advantage: Advantage,
    /// The least std.
    pub std_floor: f64,
    /// Lower clip.
    pub clip_low: f64,
    /// Upper clip.
    pub clip_high: f64,
    /// What the loss is a mean over.
    pub normalise: Normalise,
    /// 0 trains all parameters.
    pub lora_rank: u32,
    /// Steps over which the rate rises.
    pub warm_up: u32,
}

/// What the loss is a mean over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Normalise {
    /// All tokens of the batch.
    Token,
    /// Each answer's tokens, then the answers.
    Sequence,
}

/// How candidates are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BenchConfig {
    /// The compiler.
    pub compiler: Compiler,
    /// Its optimisation level.
    pub opt: OptLevel,
    /// OpenMP threads of a candidate.
    pub threads: u32,
    /// Candidates that are timed at once.
    pub slots: u32,
    /// The deciding estimator.
    pub timing: Estimator,
    /// The deciding check.
    pub verify: Check,
}

/// Estimators of a candidate's seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// Probe-gated median.
    Gated,
    /// The mean of three runs after one warm-up.
    Paper,
}

/// Checks of a candidate's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// Every element, scale-aware bound.
    Strict,
    /// 105 points, 1e-6.
    Paper,
}

/// How the loop runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Stepping {
    /// Sample the next group while the last is judged.
    pub overlap: bool,
    /// Steps between checkpoints.
    pub checkpoint_every: u64,
    /// Answers to each probe prompt; 0 for no probe.
    pub probe: u32,
    /// A divergence that leaps above this stops the run; 0 never does.
    pub max_kl: f64,
}

/// A mistake in a run's configuration: one line that names the file and the key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {}{what}", if key.is_empty() { String::new() } else { format!("{key}: ") })]
pub struct Mistake {
    /// The file, or `--set`.
    pub file: String,
    /// The key, as a path.
    pub key: String,
    /// What is wrong with it.
    pub what: String,
}

impl Mistake {
    fn new(file: &str, key: &str, what: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            key: key.to_owned(),
            what: what.into(),
        }
    }
}

/// A configuration, and which layer said what.
#[derive(Debug, Clone)]
pub struct Layered {
    /// The configuration.
    pub config: Config,
    origins: BTreeMap<String, String>,
    /// Where a key that no layer set is to be set: the run file, or `--set` where there is none.
    place: String,
}

impl Layered {
    /// Lays a run file (its name and content) and overrides (`key=value`) over the defaults.
    pub fn read(file: Option<(&str, &str)>, overrides: &[String]) -> Result<Self, Vec<Mistake>> {
        let defaults: Table = DEFAULT.parse().expect("a test reads the embedded defaults");
        let mut table = defaults.clone();
        let mut laid = Laid::default();
        let place = file.map_or("--set", |(name, _)| name).to_owned();
        if let Some((name, text)) = file {
            let layer: Table = text
                .parse()
                .map_err(|error: toml::de::Error| vec![unreadable(name, text, &error)])?;
            laid.lay(&mut table, &layer, &defaults, (name, ""));
        }
        for set in overrides {
            match parse_override(set, &defaults) {
                Ok(layer) => laid.lay(&mut table, &layer, &defaults, ("--set", "")),
                Err(mistake) => laid.mistakes.push(mistake),
            }
        }
        if !laid.mistakes.is_empty() {
            return Err(laid.mistakes);
        }
        match Value::Table(table).try_into::<Config>() {
            Ok(config) => Ok(Self {
                config,
                origins: laid.origins,
                place,
            }),
            Err(error) => Err(vec![wrong_value(&error, &laid.origins, &place)]),
        }
    }

    /// The mistake of a key, with the layer that set it or is to set it: nobody edits the embedded defaults.
    pub fn mistake(&self, key: &str, what: impl Into<String>) -> Mistake {
        Mistake::new(origin(key, &self.origins).unwrap_or(&self.place), key, what)
    }

    /// Whether no layer set the key.
    pub fn is_default(&self, key: &str) -> bool {
        origin(key, &self.origins).is_none()
    }

    /// Whether the key has another value than by default.
    pub(crate) fn changes(&self, key: &str) -> bool {
        let defaults = Self::read(None, &[]).expect("a test reads the embedded defaults");
        differences(&defaults.config, &self.config)
            .iter()
            .any(|other| other == key)
    }
}

impl Config {
    /// The configuration as a complete run file.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("every key has a TOML form")
    }

    /// The tasks: the run's own, then those that it practises beside it.
    pub fn tasks(&self) -> impl Iterator<Item = &str> {
        self.task.names().into_iter()
    }

    /// How answers are drawn at a temperature. A begun answer ends with its code block.
    pub fn draw(&self, temperature: f64, seed: u64) -> Sampling {
        let sampling = self.sampling;
        Sampling {
            temperature,
            top_k: sampling.top_k,
            top_p: sampling.top_p,
            min_p: sampling.min_p,
            max_tokens: sampling.max_tokens,
            stop: if self.prompts.begin {
                vec!["```".to_owned()]
            } else {
                Vec::new()
            },
            seed,
        }
    }
}

/// The keys in which two configurations of one run differ, but for where it lies and where it is computed.
pub(crate) fn differences(was: &Config, is: &Config) -> Vec<String> {
    const PLACE: [&str; 3] = ["directory", "device", "fleet"];
    let flat = |config: &Config| {
        let table: Table = config
            .to_toml()
            .parse()
            .expect("what was written can be read");
        let mut keys = BTreeMap::new();
        flatten("", &table, &mut keys);
        keys
    };
    let (was, is) = (flat(was), flat(is));
    let keys: std::collections::BTreeSet<&String> = was.keys().chain(is.keys()).collect();
    keys.into_iter()
        .filter(|key| was.get(*key) != is.get(*key) && !PLACE.contains(&key.as_str()))
        .cloned()
        .collect()
}

fn flatten(above: &str, table: &Table, keys: &mut BTreeMap<String, Value>) {
    for (name, value) in table {
        let key = if above.is_empty() {
            name.clone()
        } else {
            format!("{above}.{name}")
        };
        match value {
            Value::Table(inner) => flatten(&key, inner, keys),
            _ => drop(keys.insert(key, value.clone())),
        }
    }
}

fn origin<'a>(key: &str, origins: &'a BTreeMap<String, String>) -> Option<&'a str> {
    // What is inside a table that was set as a whole came with it.
    let mut above = std::iter::successors(Some(key), |key| Some(key.rsplit_once('.')?.0));
    above.find_map(|key| origins.get(key)).map(String::as_str)
}

fn unreadable(name: &str, text: &str, error: &toml::de::Error) -> Mistake {
    let line = error
        .span()
        .map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
    let what = error.message().replace('\n', "; ");
    Mistake::new(
        name,
        "",
        line.map_or(what.clone(), |line| format!("line {line}: {what}")),
    )
}

/// toml names the key in a line of its own.
fn wrong_value(
    error: &toml::de::Error,
    origins: &BTreeMap<String, String>,
    place: &str,
) -> Mistake {
    let text = error.to_string();
    let key = text
        .lines()
        .find_map(|line| line.strip_prefix("in `")?.strip_suffix('`'))
        .unwrap_or("");
    Mistake::new(
        origin(key, origins).unwrap_or(place),
        key,
        error.message().replace('\n', "; "),
    )
}

/// What came of laying layers over the defaults.
#[derive(Default)]
struct Laid {
    /// Which layer set a key.
    origins: BTreeMap<String, String>,
    mistakes: Vec<Mistake>,
}

impl Laid {
    /// `at` names the layer and the section.
    fn lay(&mut self, table: &mut Table, layer: &Table, defaults: &Table, at: (&str, &str)) {
        let (file, above) = at;
        for (name, value) in layer {
            let key = if above.is_empty() {
                name.clone()
            } else {
                format!("{above}.{name}")
            };
            let Some(default) = defaults.get(name) else {
                self.mistakes
                    .push(Mistake::new(file, &key, no_such(name, defaults)));
                continue;
            };
            match (table.get_mut(name), value, default) {
                (Some(Value::Table(inner)), Value::Table(value), Value::Table(default))
                    if !WHOLE.contains(&&*key) =>
                {
                    self.lay(inner, value, default, (file, &key));
                }
                (Some(place), value, default) => {
                    let listed = key == LISTED && is_list_of_strings(value);
                    if let Some(value) = if listed {
                        Some(value.clone())
                    } else {
                        fitted(value, default)
                    } {
                        *place = value;
                        self.origins.insert(key, file.to_owned());
                    } else {
                        let or_list = if key == LISTED {
                            " or a list of strings"
                        } else {
                            ""
                        };
                        let what = format!(
                            "{}{or_list} is wanted, not {}",
                            kind(default),
                            value.type_str()
                        );
                        self.mistakes.push(Mistake::new(file, &key, what));
                    }
                }
                (None, ..) => {}
            }
        }
    }
}

fn no_such(name: &str, known: &Table) -> String {
    let near = known.keys().find(|key| {
        key.replace('-', "") == name.replace(['-', '_'], "") || distance(key, name) <= 2
    });
    near.map_or("no such key".to_owned(), |near| {
        format!("no such key; is `{near}` meant?")
    })
}

/// Levenshtein's distance, for names of a few letters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let cost = corner + usize::from(from != *to);
            corner = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

/// The value, when it is of the default's kind; whole numbers may stand for fractions.
fn fitted(value: &Value, default: &Value) -> Option<Value> {
    match (value, default) {
        (Value::Integer(whole), Value::Float(_)) => Some(Value::Float(*whole as f64)),
        _ if value.same_type(default) => Some(value.clone()),
        _ => None,
    }
}

fn is_list_of_strings(value: &Value) -> bool {
    value
        .as_array()
        .is_some_and(|values| values.iter().all(Value::is_str))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a string",
        Value::Integer(_) => "a whole number",
        Value::Float(_) => "a number",
        Value::Boolean(_) => "true or false",
        Value::Datetime(_) => "a date",
        Value::Array(_) => "a list",
        Value::Table(_) => "a table",
    }
}

/// `a.b=c` as a table. A bare word is a string where a string is wanted.
fn parse_override(set: &str, defaults: &Table) -> Result<Table, Mistake> {
    let wrong = |what: &str| Mistake::new("--set", set, what);
    let (key, value) = set
        .split_once('=')
        .ok_or_else(|| wrong("key=value is wanted"))?;
    let (key, value) = (key.trim(), value.trim());
    let parts: Vec<&str> = key.split('.').collect();
    let default = parts.iter().try_fold(None, |table: Option<&Value>, part| {
        Some(Some(
            table.map_or(defaults.get(*part), |table| table.get(*part))?,
        ))
    });
    let quoted = format!("x = {}", Value::String(value.to_owned()));
    let plain = format!("x = {value}");
    let is_list = key == LISTED && value.starts_with('[') && plain.parse::<Table>().is_ok();
    let text = match default.flatten() {
        Some(_) if is_list => plain,
        Some(Value::String(_)) if !value.starts_with('"') => quoted,
        // Of a key that does not exist, that is what is to be said, whatever its value.
        None if plain.parse::<Table>().is_err() => quoted,
        _ => plain,
    };
    let parsed: Table = text
        .parse()
        .map_err(|_| wrong("the value cannot be read"))?;
    let value = parsed
        .get("x")
        .cloned()
        .ok_or_else(|| wrong("the value cannot be read"))?;
    let nested = parts.iter().rev().fold(value, |value, part| {
        Value::Table(Table::from_iter([((*part).to_owned(), value)]))
    });
    nested
        .as_table()
        .cloned()
        .ok_or_else(|| wrong("key=value is wanted"))
}

#[cfg(test)]
mod tests;
