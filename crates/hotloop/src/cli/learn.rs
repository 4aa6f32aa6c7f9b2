//! The command line of models and runs.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::watch::BesideArgs;

/// `hotloop model`
#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub(crate) command: ModelCommand,
}

/// The subcommands of `hotloop model`.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Show a model's family, sizes, storage and memory needs
    #[command(after_help = "\
Examples:
  hotloop model info SmolLM2-135M-Instruct.Q4_1.gguf
  hotloop model info ./Qwen2.5-Coder-0.5B-Instruct --json")]
    Info {
        /// A folder with config.json and safetensors, a GGUF file, or a hub name that was
        /// downloaded before
        model: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Write a model as a Hugging Face folder: config.json, model.safetensors (f32) and the
    /// tokenizer
    #[command(
        after_help = "Example:\n  hotloop model convert SmolLM2-135M-Instruct.Q4_1.gguf ./smollm2"
    )]
    Convert {
        /// A GGUF file or a folder
        from: String,
        /// The folder to write, which must not exist yet
        to: PathBuf,
    },
    /// Download a model from the Hugging Face hub
    Pull(PullArgs),
}

/// `hotloop model pull`
#[derive(Debug, Args)]
#[command(
    after_help = "Files go to the cache that all Hugging Face tools share (HF_HUB_CACHE, \
HF_HOME, or ~/.cache/huggingface/hub), where `--model OWNER/NAME` finds them. An interrupted \
download continues where it stopped. HF_ENDPOINT names another hub, HF_TOKEN a token for models \
that need one.

Examples:
  hotloop model pull Qwen/Qwen2.5-Coder-0.5B-Instruct
  hotloop model pull Qwen/Qwen2.5-Coder-0.5B-Instruct --to ./qwen
  hotloop model pull Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF --file qwen2.5-coder-0.5b-instruct-q8_0.gguf"
)]
pub(crate) struct PullArgs {
    /// A hub name, such as Qwen/Qwen2.5-Coder-0.5B-Instruct
    pub(crate) name: String,
    /// Put plain files into this folder instead of the shared cache
    #[arg(long, value_name = "DIR")]
    pub(crate) to: Option<PathBuf>,
    /// Download only this file of the repository, such as one GGUF; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Vec<String>,
    /// The branch, tag or commit
    #[arg(long, value_name = "REVISION", default_value = "main")]
    pub(crate) revision: String,
    /// Print one JSON object: path, commit, files, bytes
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which model answers.
#[derive(Debug, Args)]
pub(crate) struct WhoArgs {
    /// A folder, a GGUF file or a hub name that was downloaded before; with --api the model's name
    /// there
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: String,
    /// An adapter (PEFT) on top of it, such as a checkpoint of a run
    #[arg(long, value_name = "DIR", conflicts_with = "api")]
    pub(crate) adapter: Option<PathBuf>,
    /// Ask an OpenAI-compatible endpoint instead, such as `http://localhost:8000/v1`. If it ends in
    /// /completions, it gets texts instead of chats, for base models
    #[arg(long, value_name = "URL")]
    pub(crate) api: Option<String>,
    /// The environment variable that holds the endpoint's key [default: no key]
    #[arg(long, value_name = "NAME", requires = "api")]
    pub(crate) api_key: Option<String>,
    /// Maximum number of requests per minute, evenly spaced [default: `HOTLOOP_API_PER_MINUTE`, or
    /// no limit]
    #[arg(long, value_name = "N", requires = "api")]
    pub(crate) api_per_minute: Option<NonZeroU32>,
    /// Threads of the engine; 0 uses every core
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,
    /// Where the engine computes: auto (a GPU if there is one), cpu or cuda
    #[arg(
        long,
        value_name = "DEVICE",
        default_value = "auto",
        conflicts_with = "api"
    )]
    pub(crate) device: hotloop_policy::Device,
    /// Precision of the weights: f32 or bf16 [default: bf16 on a GPU, and on the CPU if the file
    /// has 16 bits or fewer]
    #[arg(long, value_name = "PRECISION", conflicts_with = "api")]
    pub(crate) precision: Option<hotloop_policy::Precision>,
}

/// How answers are drawn.
#[derive(Debug, Args)]
pub(crate) struct DrawArgs {
    /// Sampling temperature; 0 always takes the most likely token
    #[arg(long, value_name = "T", default_value_t = 1.0, value_parser = parse_temperature)]
    pub(crate) temperature: f64,
    /// Draw from the K most likely tokens, ties included; 0 draws from all
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub(crate) top_k: u32,
    /// Draw from the most likely tokens up to this share of probability
    #[arg(long, value_name = "P", default_value_t = 1.0, value_parser = parse_share)]
    pub(crate) top_p: f64,
    /// Draw from tokens at least this likely, relative to the most likely one
    #[arg(long, value_name = "P", default_value_t = 0.0, value_parser = parse_share)]
    pub(crate) min_p: f64,
    /// Maximum number of tokens of an answer
    #[arg(
        long,
        value_name = "N",
        default_value_t = 512,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) max_tokens: u32,
    /// Answer number n draws from seed + n
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

/// `hotloop sample`
#[derive(Debug, Args)]
#[command(
    group(clap::ArgGroup::new("asked").required(true).args(["prompt", "task", "chats"])),
    after_help = "With --task the model gets the prompt of a run: the task's prompt, the stage's, \
and the seed. The answer starts with a code fence, headers and the signature (with --api only if \
the URL ends in /completions).

Each line of --chats is {\"messages\": [{\"role\": \"user\", \"content\": \"...\"}], \"begun\": \"...\"}, \
`begun` is optional.

Examples:
  hotloop sample --model smollm2.gguf --prompt 'Write a C function that adds two arrays.'
  hotloop sample --model smollm2.gguf --task matmul --stage 1 --count 8 --json \\
    | hotloop judge matmul --completions -
  hotloop sample --api http://localhost:8000/v1 --model qwen --chats asked.jsonl --json
  hotloop sample --api http://localhost:8000/v1/completions --model qwen-base --task matmul --stage 1
  hotloop sample --api https://HOST/v1 --api-key HOST_KEY --api-per-minute 60 --model qwen --task matmul"
)]
pub(crate) struct SampleArgs {
    /// Which model answers.
    #[command(flatten)]
    pub(crate) who: WhoArgs,
    /// A question
    #[arg(long, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,
    /// Ask for a candidate of this task
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<String>,
    /// The stage of the task to ask for, a number or a name [default: the first fixed prompt]
    #[arg(long, value_name = "N|NAME", requires = "task")]
    pub(crate) stage: Option<String>,
    /// Chats, one JSON object per line; `-` is standard input
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) chats: Option<PathBuf>,
    /// Answers to each chat
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) count: u32,
    /// How answers are drawn.
    #[command(flatten)]
    pub(crate) draw: DrawArgs,
    /// Start every answer with this text; an empty text disables the default start
    #[arg(long, value_name = "TEXT")]
    pub(crate) begin: Option<String>,
    /// End an answer before this text; may be repeated [default: the end of the code block]
    #[arg(long, value_name = "TEXT")]
    pub(crate) stop: Vec<String>,
    /// Print one JSON object per line: `completion`, `tokens`, `mean_logprob`, `ending`,
    /// `chat`, `answer`
    #[arg(long)]
    pub(crate) json: bool,
}

/// `hotloop chat`
#[derive(Debug, Args)]
#[command(after_help = "\
Each line is a question, and each answer appears when it is complete. Ctrl-D ends the chat.

Examples:
  hotloop chat --model smollm2.gguf
  hotloop chat --api http://localhost:8000/v1 --model qwen --system 'Answer in one sentence.'")]
pub(crate) struct ChatArgs {
    /// Which model answers.
    #[command(flatten)]
    pub(crate) who: WhoArgs,
    /// The system message
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
    /// How answers are drawn.
    #[command(flatten)]
    pub(crate) draw: DrawArgs,
}

/// `hotloop train`
#[derive(Debug, Args)]
#[command(
    group(clap::ArgGroup::new("which").required(true).args(["file", "resume"])),
    after_help = "A run file names only the keys that differ from the defaults. `hotloop train \
--defaults` prints all keys with a sentence each. `model` is a folder, a GGUF file, a hub name \
that was downloaded before, or URL#NAME for an OpenAI-compatible endpoint, which searches without \
learning. HOTLOOP_API_KEY holds the key of the endpoint, and HOTLOOP_API_PER_MINUTE its quota of \
requests. A URL that ends in /completions gets texts instead of chats, for base models. `device` \
selects a GPU if there is one. On the CPU sampling and judging take turns unless the run file sets \
loop.overlap.

Ctrl-C pauses the run as soon as possible, and a second Ctrl-C stops it at once. Neither loses \
more than the current step, and `--resume` continues. A run ends before its budget if its policy \
breaks or if nothing can be learned any more, and says why.

Examples:
  hotloop train run.toml
  hotloop train run.toml --set budget.steps=10 --set learning.rate=0
  hotloop train run.toml --set task=matmul,softmax   # trains on matmul, also practises softmax
  hotloop train run.toml --set model=http://localhost:8000/v1/completions#qwen-base
  hotloop train --resume runs/run
  hotloop train run.toml --watch   # and a page that shows the run

Exit status: 0 the run is over; 1 your error; 3 the run paused because the machine failed; 130 \
stopped."
)]
pub(crate) struct TrainArgs {
    /// The run file
    #[arg(value_name = "RUN.toml")]
    pub(crate) file: Option<PathBuf>,
    /// Continue the run in this directory
    #[arg(long, value_name = "DIR", conflicts_with = "file")]
    pub(crate) resume: Option<PathBuf>,
    /// Override a key of the run file; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Print every key with its default, and exit
    #[arg(long, group = "which")]
    pub(crate) defaults: bool,
    /// A page beside the run.
    #[command(flatten)]
    pub(crate) beside: BesideArgs,
}

/// `hotloop quickstart`
#[derive(Debug, Args)]
#[command(
    after_help = "Probes the nano policy, trains it by GRPO and staged search on timings of \
one core, probes it again, and writes a report. The nano policy knows matmul, matmul-any, matvec, \
transpose, stencil2d and softmax. The program carries its weights and downloads nothing.

Examples:
  hotloop quickstart
  hotloop quickstart --watch
  hotloop quickstart --task stencil2d --seconds 120 --out runs/stencil
  hotloop quickstart --control --seed 2 --out runs/second"
)]
pub(crate) struct QuickstartArgs {
    /// Seconds of learning; the probes before and after take extra time
    #[arg(long, value_name = "SECONDS", default_value_t = 240.0, value_parser = parse_seconds)]
    pub(crate) seconds: f64,
    /// The task, instead of the default one
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<String>,
    /// Also run the control: the same search for the same time, without learning
    #[arg(long)]
    pub(crate) control: bool,
    /// Seed of every random choice
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The folder of the runs and the report
    #[arg(long, value_name = "DIR", default_value = "runs/quickstart")]
    pub(crate) out: PathBuf,
    /// Override a key, as `hotloop train` does; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// A page beside the runs.
    #[command(flatten)]
    pub(crate) beside: BesideArgs,
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|s| (1.0..=1e6).contains(s))
        .ok_or("is not between 1 and 1000000".to_owned())
}

/// `hotloop report`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hotloop report runs/first                       report.html next to the journal, and a table here
  hotloop report runs/learns runs/control --out compared
  hotloop report runs/first --csv > steps.csv")]
pub(crate) struct ReportArgs {
    /// Run directories, finished or not
    #[arg(required = true, value_name = "DIR")]
    pub(crate) run: Vec<PathBuf>,
    /// Where report.html, report.json, steps.csv and figures/ (SVG) go [default: the run's
    /// directory, if there is one run]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the whole report as JSON instead of writing files
    #[arg(long, conflicts_with_all = ["csv", "out"])]
    pub(crate) json: bool,
    /// Print every step as CSV instead of writing files
    #[arg(long, conflicts_with = "out")]
    pub(crate) csv: bool,
}

/// `hotloop experiment`
#[derive(Debug, Args)]
#[command(
    after_help = "exp1: hyperparameters with fixed prompts, 12 runs; exp2: staged search \
with and without learning, 6 runs. At full scale they need the paper's model. A plan is a file of \
your own: runs and other commands in order, each with a time limit, all within a budget \
(experiments/README.md). Finished jobs are skipped, and interrupted runs continue.

Examples:
  hotloop experiment exp2 --dry-run
  hotloop experiment exp2 --scale 0.05 --set model=smollm2.gguf --set bench.threads=1
  hotloop experiment exp2 --only O3-lr0 --set model=smollm2.gguf
  hotloop experiment plan.toml --let model=qwen.gguf --dry-run
  hotloop experiment plan.toml --let model=qwen.gguf --budget 1700 --out work"
)]
pub(crate) struct ExperimentArgs {
    /// exp1, exp2, or a plan such as my-plan.toml
    #[arg(value_name = "EXPERIMENT")]
    pub(crate) experiment: String,
    /// For exp1 and exp2: shrink groups, steps and iterations by this factor
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = parse_scale)]
    pub(crate) scale: f64,
    /// The folder of the runs, the figures (SVG) and the tables [default: runs/EXPERIMENT]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// For exp1 and exp2: set a key in every run; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Only this setting or job, and the jobs that it needs; in a plan `*` matches anything; may be
    /// repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,
    /// Show what would run, in which order and for how long, and exit
    #[arg(long, visible_alias = "list")]
    pub(crate) dry_run: bool,
    /// For a plan: seconds for everything, including the report [default: the plan's budget, or no
    /// limit]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub(crate) budget: Option<f64>,
    /// For a plan: the value of a name in its [let]; may be repeated
    #[arg(long = "let", value_name = "NAME=VALUE", value_parser = parse_pair)]
    pub(crate) values: Vec<(String, String)>,
    /// For a plan: take the folder of an earlier, finished job; may be repeated
    #[arg(long, value_name = "JOB=DIR", value_parser = parse_pair)]
    pub(crate) have: Vec<(String, String)>,
    /// For a plan: print one JSON object per line for each job, and one for the whole plan
    #[arg(long)]
    pub(crate) json: bool,
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    text.split_once('=')
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .ok_or("has no `=`".to_owned())
}

fn parse_scale(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|s: &f64| *s > 0.0 && *s <= 100.0)
        .ok_or("is not above 0 and at most 100".to_owned())
}

pub(super) fn parse_temperature(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|t| (0.0..=100.0).contains(t))
        .ok_or("is not between 0 and 100".to_owned())
}

fn parse_share(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or("is not between 0 and 1".to_owned())
}
