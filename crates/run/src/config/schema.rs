//! What a run file can say: every key, typed.

use hotloop_flow::{Advantage, How, Reward, Sampling};
use serde::{Deserialize, Serialize};

use super::tasks::Tasks;

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
    #[serde(flatten)]
    pub how: How,
    /// Candidates that are timed at once.
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
    /// A divergence that leaps above this stops the run; 0 never does.
    pub max_kl: f64,
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
