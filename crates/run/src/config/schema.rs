//! The keys of a run file, with their types.

use hotloop_flow::advantage::{Numbers, max_at_k};
use hotloop_flow::search::ArchiveKind;
use hotloop_flow::{Advantage, How, Reward, Sampling};
use serde::{Deserialize, Serialize};

use super::tasks::Tasks;

/// All settings of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// The task's name or folder, followed by those of practised tasks.
    pub task: Tasks,
    pub model: String,
    /// An adapter to start from; empty for none.
    pub adapter: String,
    /// `auto`, `cpu` or `cuda`.
    pub device: Device,
    /// The seed of every random choice.
    pub seed: u64,
    /// The run directory.
    pub directory: String,
    /// The fleet that judges; empty for this machine.
    pub fleet: String,
    /// The reward's shape and numbers, and perhaps a reviewer's part in it.
    pub reward: RewardConfig,
    /// What a correct copy of the parent or of an earlier program loses.
    pub copy_penalty: f64,
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
    /// The GPU if there is one, otherwise the CPU.
    Auto,
    Cpu,
    /// The GPU.
    Cuda,
}

/// What an answer earns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RewardConfig {
    /// What its verdict is worth.
    #[serde(flatten)]
    pub shape: Reward,
    /// A second policy whose opinion counts, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewer: Option<Reviewer>,
}

/// A policy that reads answers and says what it expects of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Reviewer {
    /// A model, or `URL#NAME`.
    pub model: String,
    /// An adapter for it; empty for none.
    #[serde(default)]
    pub adapter: String,
    /// The weight of its opinion, the mean of three numbers from 0 to 1.
    #[serde(default = "half")]
    pub lambda: f64,
    /// What an answer earns about which it gives no opinion that can be read.
    #[serde(default)]
    pub broken: Broken,
    /// The maximum number of tokens in an opinion, with its reasoning.
    #[serde(default = "opinion_tokens")]
    pub max_tokens: u32,
}

/// What becomes of an answer without a readable opinion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Broken {
    /// It takes no part in its group.
    #[default]
    Mask,
    /// Its opinion counts as 0, as Garg, Heo and Mou do.
    Zero,
}

/// The paper's weight.
fn half() -> f64 {
    0.5
}

fn opinion_tokens() -> u32 {
    1024
}

/// When the run ends; 0 sets no limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Budget {
    /// The maximum number of steps.
    pub steps: u64,
    /// The maximum number of seconds spent in steps.
    pub seconds: f64,
    /// The maximum number of iterations of the search.
    pub iterations: u32,
    /// The number of judged answers of the run's own task that ends it.
    pub answers: u64,
}

/// How answers are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SamplingConfig {
    /// Answers to one prompt.
    pub group: u32,
    /// Groups behind one update.
    pub prompts_per_step: u32,
    /// The temperature of the first step.
    pub temperature: f64,
    /// 1 keeps all.
    pub top_p: f64,
    /// 0 keeps all.
    pub top_k: u32,
    /// 0 keeps all.
    pub min_p: f64,
    /// The maximum number of tokens in an answer.
    pub max_tokens: u32,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Prompts {
    /// Where prompts come from.
    pub source: SourceKind,
    /// A file with other wording; empty for the embedded wording.
    pub wording: String,
    /// Whether the prompt begins the answer.
    pub begin: bool,
    /// How many other programs a prompt shows with their speeds.
    pub contrast: usize,
    /// Groups of practised tasks in one update.
    pub practised: u32,
    /// Whether a prompt shows a profile of the parent.
    pub profile: bool,
}

/// Where prompts come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// The staged search.
    Sqd,
    /// The fixed prompts in turn.
    Fixed,
    /// The same number of both in every step.
    Both,
}

impl SourceKind {
    /// Whether prompts come from the search.
    pub fn searches(self) -> bool {
        matches!(self, Self::Sqd | Self::Both)
    }

    /// Whether fixed prompts are used.
    pub fn asks_fixed(self) -> bool {
        matches!(self, Self::Fixed | Self::Both)
    }
}

/// The search's rules, and switches for ablations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Search {
    /// What is kept, and how parents are chosen from it.
    pub archive: ArchiveKind,
    /// The maximum number of parents in an iteration.
    pub parents: usize,
    /// Stages with their rules.
    pub stages: bool,
    /// Failed candidates are repaired.
    pub repair: bool,
    /// Fast candidates go to the next stage.
    pub deepening: bool,
    /// How many of each stage's fastest candidates stay.
    pub elites: usize,
}

/// How the policy learns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Learning {
    /// The learning rate. At 0 the run only searches.
    pub rate: f64,
    /// The weight of the KL divergence from the reference policy.
    pub beta: f64,
    /// How advantages follow from rewards.
    pub advantage: Advantage,
    /// The k of `max-at-k` at the beginning.
    pub k: u32,
    /// The k of `max-at-k` at the end.
    pub k_last: u32,
    /// The KL budget of `entropic`, in nats.
    pub kl_budget: f64,
    /// The smallest standard deviation that advantages are divided by.
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

impl Learning {
    /// The numbers of the estimator when this share of the budget is spent.
    pub fn numbers(&self, spent: f64) -> Numbers {
        Numbers {
            std_floor: self.std_floor,
            k: max_at_k::annealed(self.k, self.k_last, spent),
            kl: self.kl_budget,
        }
    }
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
    #[serde(flatten)]
    pub how: How,
    /// How many candidates are timed at once.
    pub slots: u32,
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
    /// The run stops if the KL divergence jumps above this value; 0 disables the check.
    pub max_kl: f64,
}

impl Config {
    /// The configuration as a complete run file.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("every key has a TOML form")
    }

    /// The tasks: first the run's own, then the practised ones.
    pub fn tasks(&self) -> impl Iterator<Item = &str> {
        self.task.names().into_iter()
    }

    /// The sampling settings at a temperature. An answer that the prompt began ends with its code
    /// block.
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
