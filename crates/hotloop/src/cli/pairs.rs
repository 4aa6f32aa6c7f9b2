//! The command line of pairs and lessons from others: `hotloop corpus pairs` and `teach`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::learn::{DrawArgs, WhoArgs};

/// `hotloop corpus pairs`
#[derive(Debug, Args)]
#[command(after_help = "\
Reads suites of benchmarks that you have (none is part of hotloop) and writes a folder: records.jsonl with both \
sides of each pair and what is known about it, train.jsonl and held-out.jsonl with chats for `hotloop tune`, \
left-out.jsonl with a reason for every file, summary.json, and README.md, the data card. Whole benchmarks are held \
out, never single records.

Kernels are cut out of the file that includes them, with all types, macros and helpers that they name. --paper takes \
files of the same name and their device code alone, as Gulati's KernelCompare does. Where the suite has only fast \
versions, slow ones are made by taking optimisations out, and by --writer where that gives nothing.

Both sides are compiled if NVRTC is found (LD_LIBRARY_PATH, or `pip install nvidia-cuda-nvrtc`).

Examples:
  hotloop corpus pairs --parboil Parboil --rodinia gpu-rodinia --out pairs
  hotloop corpus pairs --parboil Parboil --out paper --paper --json
  hotloop corpus pairs --slow naive --fast tuned --tokenizer Qwen/Qwen2.5-Coder-0.5B-Instruct --out mine
  hotloop tune --model qwen --data pairs/train.jsonl --recipe kernelcompare --out warm")]
pub(crate) struct PairsArgs {
    /// A folder in Parboil's layout: `benchmarks/APP/src/cuda_base` and cuda
    #[arg(long, value_name = "DIR")]
    pub(crate) parboil: Option<PathBuf>,
    /// A folder in Rodinia's layout: cuda/APP, optimised only
    #[arg(long, value_name = "DIR")]
    pub(crate) rodinia: Option<PathBuf>,
    /// A folder of slow versions, paired with --fast by their paths
    #[arg(long, value_name = "DIR", requires = "fast", conflicts_with = "list")]
    pub(crate) slow: Option<PathBuf>,
    /// The folder of their fast versions
    #[arg(long, value_name = "DIR", requires = "slow")]
    pub(crate) fast: Option<PathBuf>,
    /// A list of pairs: lines of {"slow": FILE, "fast": FILE}, with `benchmark` and `description`
    /// if you like
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) list: Option<PathBuf>,
    /// The folder to write, which must not exist yet
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Choose and clean pairs exactly as the paper does
    #[arg(long)]
    pub(crate) paper: bool,
    /// The model whose tokenizer counts [default: words and signs are counted]
    #[arg(long, value_name = "MODEL")]
    pub(crate) tokenizer: Option<String>,
    /// Leave out chats with more tokens
    #[arg(long, value_name = "N", default_value_t = 4096)]
    pub(crate) max_tokens: usize,
    /// Percentage of the records to hold out, by benchmark
    #[arg(
        long,
        value_name = "PERCENT",
        default_value_t = 15,
        value_parser = clap::value_parser!(u8).range(0..=50)
    )]
    pub(crate) held_out: u8,
    /// Seed of the split and of the writer's answers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// A model that writes slow versions where no optimisation can be taken out mechanically: a
    /// local one, or URL#NAME with the key in `HOTLOOP_API_KEY`
    #[arg(long, value_name = "MODEL")]
    pub(crate) writer: Option<String>,
    /// An adapter of the writer
    #[arg(long, value_name = "DIR", requires = "writer")]
    pub(crate) writer_adapter: Option<String>,
    /// Compile for this compute capability, such as 9.0
    #[arg(long, value_name = "X.Y", value_parser = capability)]
    pub(crate) arch: Option<(u32, u32)>,
    /// Do not compile, even if there is a compiler
    #[arg(long)]
    pub(crate) no_compile: bool,
    /// Print the summary as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `hotloop corpus pairs-run`
#[derive(Debug, Args)]
#[command(after_help = "\
A harness makes candidates of a pair's two sides: a task with arguments, sizes, a tolerance and a reference in double \
precision, and the host code that launches the kernels of each side. Harnesses for pairs of Parboil and Rodinia come \
with hotloop. A pair without one is not run.

The GPU bench judges both sides in turns, with fresh inputs each time. A pair is `faster` if both sides are always \
right and the whole 95 % interval of the speed-up lies above 1. Otherwise it is `as-fast`, `slower`, `unequal` (the \
fast side is wrong) or `unproven` (the slow side fails, too).

records.jsonl, summary.json and README.md then hold what was found. train.jsonl and held-out.jsonl lose pairs that are \
not equal or not faster. Each pair is in runs.jsonl as soon as it has run. The same command continues after a kill.

Examples:
  hotloop corpus pairs-run pairs
  hotloop corpus pairs-run pairs --keep-slower --rounds 20 --json
  hotloop corpus pairs-run mine --harness my-harnesses")]
pub(crate) struct PairsRunArgs {
    /// A folder that `hotloop corpus pairs` wrote
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// A folder with harnesses of your own, each in a folder; repeatable
    #[arg(long, value_name = "DIR")]
    pub(crate) harness: Vec<PathBuf>,
    /// How often each side is judged
    #[arg(
        long,
        value_name = "N",
        default_value_t = 9,
        value_parser = clap::value_parser!(u16).range(6..=500)
    )]
    pub(crate) rounds: u16,
    /// Leave pairs that are not faster in the chats
    #[arg(long)]
    pub(crate) keep_slower: bool,
    /// Print what was found as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `hotloop corpus teach`
#[derive(Debug, Args)]
#[command(after_help = "\
A teacher answers tasks, the bench judges, and correct answers become chats: each prompt is the task's statement and \
prototype, without a seed to copy. The folder keeps every answer with its verdict in answers.jsonl. The same command \
continues after a kill, and neither asks nor judges anything twice. chats.jsonl is written when all is done.

Only tasks of the training split are taught. The split shuffles the tasks' names by --split-seed and holds the last \
--held-out percent back; split.json names both parts.

Examples:
  hotloop corpus teach --api https://api.openai.com/v1 --api-key OPENAI_API_KEY --model gpt-4.1 \\
    --task all-cuda --count 4 --budget-tokens 2000000 --out taught
  hotloop corpus teach --model qwen-32b --task matmul,matvec,softmax --held-out 0 --count 8 --best 2 --out taught
  hotloop tune --model qwen --data taught/chats.jsonl --recipe distil --out warm")]
pub(crate) struct TeachArgs {
    /// Who teaches.
    #[command(flatten)]
    pub(crate) who: WhoArgs,
    /// How answers are drawn.
    #[command(flatten)]
    pub(crate) draw: DrawArgs,
    /// Shipped tasks, or tasks' folders; `all-c` and `all-cuda` are the shipped ones in a language
    #[arg(long, value_name = "TASK,...", required = true)]
    pub(crate) task: Vec<String>,
    /// Answers to each task
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) count: u32,
    /// The number of different answers to keep for each task, the fastest ones
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) best: u32,
    /// Which answers become chats
    #[arg(long, value_name = "WHICH", default_value = "correct")]
    pub(crate) keep: Keep,
    /// Whether the reasoning before an answer is learned
    #[arg(long, value_name = "WHAT", default_value = "drop")]
    pub(crate) reasoning: Reasoning,
    /// Stop asking after this many tokens of answers; an endpoint that counts none is estimated at
    /// four bytes a token
    #[arg(long, value_name = "N")]
    pub(crate) budget_tokens: Option<u64>,
    /// Percentage of the tasks to hold back
    #[arg(
        long,
        value_name = "PERCENT",
        default_value_t = 20,
        value_parser = clap::value_parser!(u8).range(0..=90)
    )]
    pub(crate) held_out: u8,
    /// Seed of the split
    #[arg(long, value_name = "N", default_value_t = 42)]
    pub(crate) split_seed: u64,
    /// The folder to write; one that an earlier call with the same settings began is continued
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Print the summary as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which answers of a teacher become chats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Keep {
    /// Those that the bench found correct
    Correct,
    /// All that hold code, as Garg, Heo and Mou do; correct ones first
    All,
}

/// What becomes of a teacher's reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Reasoning {
    /// It is part of what is learned
    Keep,
    /// Only the answer is learned
    Drop,
}

fn capability(text: &str) -> Result<(u32, u32), String> {
    let parts = text.split_once('.');
    parts
        .and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)))
        .ok_or_else(|| "not a compute capability such as 9.0".to_owned())
}
