//! The command line of data sets and supervised learning.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::pairs::{PairsArgs, PairsRunArgs, TeachArgs};
use super::recipe::{Recipe, WarmUp};
use super::values::above_zero;

/// `hotloop corpus`
#[derive(Debug, Args)]
pub(crate) struct CorpusArgs {
    /// What to make.
    #[command(subcommand)]
    pub(crate) command: CorpusCommand,
}

/// The subcommands of `hotloop corpus`.
#[derive(Debug, Subcommand)]
pub(crate) enum CorpusCommand {
    /// Write the synthetic corpus: correct C candidates with the prompts that ask for them
    Synth(SynthArgs),
    /// Write the corpus as chats with a run's prompts, for a warm start by `hotloop tune`
    Chats(ChatsArgs),
    /// Write correct answers of policies as chats, for a warm start by `hotloop tune`
    Winners(WinnersArgs),
    /// Make pairs of slow and fast CUDA from benchmark suites, for supervised tuning
    Pairs(PairsArgs),
    /// Run both sides of each pair on the GPU, and compare their results and their speeds
    PairsRun(PairsRunArgs),
    /// Let a teacher answer tasks, judge its answers, and write the correct ones as chats
    Teach(TeachArgs),
    /// Measure how far programs are from the nearest candidate of the corpus
    Nearest(NearestArgs),
    /// Pre-train the nano policy on the synthetic corpus, from nothing
    Nano(NanoArgs),
}

/// The settings that determine a corpus.
#[derive(Debug, Args)]
pub(crate) struct DrawnArgs {
    /// Seed of every random choice
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Number of distinct candidates [default: 60000]
    #[arg(long, value_name = "N")]
    pub(crate) programs: Option<usize>,
    /// Number of records [default: 300000]
    #[arg(long, value_name = "N")]
    pub(crate) records: Option<usize>,
}

/// `hotloop corpus synth`
#[derive(Debug, Args)]
#[command(
    after_help = "Writes train-*.jsonl and validation-*.jsonl with `task`, `stage`, `role`, \
`prompt` and `answer` in each line, the tokenizer, and manifest.json with counts and hashes. The \
same seed gives the same bytes.

Examples:
  hotloop corpus synth --out corpus
  hotloop corpus synth --out small --programs 2000 --records 5000"
)]
pub(crate) struct SynthArgs {
    /// The folder to write, which must not exist yet
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// What is drawn.
    #[command(flatten)]
    pub(crate) drawn: DrawnArgs,
    /// Print the manifest as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `hotloop corpus chats`
#[derive(Debug, Args)]
#[command(after_help = "\
Each line is {\"messages\": [...]} with the prompt of a stage and a correct candidate as its answer, in the form in \
which runs start answers. Prompts name this machine's vector extensions.

Examples:
  hotloop corpus chats --task matmul --count 4000 --out chats.jsonl
  hotloop corpus chats --task matmul --registers 70 --out for-O0.jsonl
  hotloop tune --model qwen.gguf --data chats.jsonl --out warm")]
pub(crate) struct ChatsArgs {
    /// The file to write
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) out: PathBuf,
    /// One of the corpus's tasks: matmul, matmul-any, matvec, transpose, stencil2d or softmax; or
    /// cuda/relu, cuda/saxpy, cuda/sum, cuda/transpose, cuda/softmax, cuda/layernorm or cuda/matmul
    #[arg(long, value_name = "TASK", default_value = "matmul")]
    pub(crate) task: String,
    /// Maximum number of chats
    #[arg(
        long,
        value_name = "N",
        default_value_t = 4000,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) count: u32,
    /// Percentage of the single-threaded matmul tiles with named accumulators that declare these
    /// `register`. The word makes code fast at -O0 and changes nothing at other levels
    #[arg(
        long,
        value_name = "PERCENT",
        default_value_t = 0,
        value_parser = clap::value_parser!(u32).range(..=100)
    )]
    pub(crate) registers: u32,
    /// Seed of every random choice
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

/// `hotloop corpus winners`
#[derive(Debug, Args)]
#[command(after_help = "\
Each line is {\"messages\": [...]} with the prompt and an answer that was judged correct. Every program appears \
once for a prompt. A run's answers come with the run's own prompts, including parents and repairs.

Examples:
  hotloop evaluate --model qwen.gguf --task spmv,softmax --stage all --count 32 --temperature 0.7 --keep kept
  hotloop corpus winners kept --out winners.jsonl
  hotloop tune --model qwen.gguf --data winners.jsonl --out warm
  hotloop tune --model qwen.gguf --data winners.jsonl --out thin --lora-rank 4 --lora-targets q_proj,v_proj

  hotloop corpus winners runs/search --fastest 25 --out winners.jsonl     the fastest quarter of each stage
  hotloop corpus winners runs/* --improving 1.1 --out steps.jsonl        parent, and a child at least 10 % faster")]
pub(crate) struct WinnersArgs {
    /// Run directories, and folders that `hotloop evaluate --keep` wrote
    #[arg(required = true, value_name = "DIR")]
    pub(crate) folder: Vec<PathBuf>,
    /// The file to write
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) out: PathBuf,
    /// Keep only this percentage of each stage's correct answers, the fastest ones
    #[arg(
        long,
        value_name = "PERCENT",
        default_value_t = 100,
        value_parser = clap::value_parser!(u8).range(1..=100)
    )]
    pub(crate) fastest: u8,
    /// Keep only answers at least this many times as fast as the program that their prompt showed:
    /// steps that improve a parent
    #[arg(long, value_name = "TIMES", value_parser = above_zero)]
    pub(crate) improving: Option<f64>,
    /// Keep only this policy's answers, by its name in the evaluation [default: all]
    #[arg(long, value_name = "NAME")]
    pub(crate) policy: Option<String>,
}

/// `hotloop corpus nearest`
#[derive(Debug, Args)]
#[command(
    after_help = "The distance is the share of tokens to change, insert or delete. 0 means the \
same program, and 1 means nothing in common. Comments, white space and #include do not count. \
`distance` treats all names that a program defines as equal, so renaming does not raise it. `as \
written` compares the names too, with the same candidate.

Examples:
  hotloop corpus nearest runs/learns/candidates/*.c
  hotloop corpus nearest best.c --count 4000        against what `corpus chats --count 4000` writes"
)]
pub(crate) struct NearestArgs {
    /// Programs in the task's language
    #[arg(required = true, value_name = "FILE.c")]
    pub(crate) file: Vec<PathBuf>,
    /// One of the corpus's tasks: matmul, matmul-any, matvec, transpose, stencil2d or softmax; or
    /// cuda/relu, cuda/saxpy, cuda/sum, cuda/transpose, cuda/softmax, cuda/layernorm or cuda/matmul
    #[arg(long, value_name = "TASK", default_value = "matmul")]
    pub(crate) task: String,
    /// Compare only with the candidates of this many chats of `corpus chats` [default: all of the
    /// task]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) count: Option<u32>,
    /// The seed that the corpus was drawn with
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print one JSON object per line for each file
    #[arg(long)]
    pub(crate) json: bool,
}

/// `hotloop corpus nano`
#[derive(Debug, Args)]
#[command(
    after_help = "This takes minutes on a GPU and hours on two cores. The program carries \
the weights in models/nano, which this command reproduces:
  hotloop corpus nano --out nano --device cuda"
)]
pub(crate) struct NanoArgs {
    /// The folder to write, which must not exist yet
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// What is drawn.
    #[command(flatten)]
    pub(crate) drawn: DrawnArgs,
    /// Passes over the records
    #[arg(
        long,
        value_name = "N",
        default_value_t = 3,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) epochs: u32,
    /// The highest learning rate
    #[arg(long, value_name = "RATE", default_value_t = 2e-3)]
    pub(crate) rate: f64,
    /// Device to compute on: auto, cpu or cuda
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    pub(crate) device: hotloop_policy::Device,
}

/// `hotloop tune`
#[derive(Debug, Args)]
#[command(after_help = "\
Each line of DATA is {\"prompt\": \"...\", \"answer\": \"...\"} or {\"messages\": [{\"role\": \"user\", \"content\":
\"...\"}, {\"role\": \"assistant\", \"content\": \"...\"}]}; only answers are learned. With \
--lora-rank 0 the folder is a whole model, otherwise an adapter for `--adapter`.

If a loss or a gradient is NaN or infinite, tuning stops and does not write --out. OUT.diverged \
then holds the last good adapter and step.json: the step's loss, gradient norm, rate and examples, \
and the steps before.

Examples:
  hotloop tune --model qwen.gguf --data winners.jsonl --out warm
  hotloop sample --model qwen.gguf --adapter warm --task matmul --stage 3 --count 8
  hotloop tune --model qwen --data pairs/train.jsonl --held-out-data pairs/held-out.jsonl \
    --recipe kernelcompare --warm-up 10% --early-stop 4 --out warm

Exit status: 0 done; 1 your error, or a loss that is NaN; 3 the machine failed; 130 stopped, and \
the adapter so far is written.")]
pub(crate) struct TuneArgs {
    /// A folder, a GGUF file or a hub name that was downloaded before
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: String,
    /// Examples, one JSON object per line
    #[arg(long, value_name = "FILE.jsonl", required = true, num_args = 1..)]
    pub(crate) data: Vec<PathBuf>,
    /// The folder to write, which must not exist yet
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// A paper's settings, for everything that is not set here
    #[arg(long, value_name = "NAME")]
    pub(crate) recipe: Option<Recipe>,
    /// Rank of the adapter; 0 trains all parameters [default: 16]
    #[arg(long, value_name = "R")]
    pub(crate) lora_rank: Option<usize>,
    /// The adapter's alpha: its output is scaled by alpha / rank [default: twice the rank]
    #[arg(long, value_name = "ALPHA", value_parser = parse_alpha)]
    pub(crate) lora_alpha: Option<f32>,
    /// Dropout on the adapter's inputs [default: 0]
    #[arg(long, value_name = "SHARE", value_parser = parse_dropout)]
    pub(crate) lora_dropout: Option<f32>,
    /// Projections that get an adapter, such as `q_proj,v_proj` [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) lora_targets: Vec<hotloop_policy::model::Module>,
    /// The highest learning rate [default: 1e-4]
    #[arg(long, value_name = "RATE")]
    pub(crate) rate: Option<f64>,
    /// Steps over which the rate rises, or their share, such as 10% [default: 5%, at most 100
    /// steps]
    #[arg(long, value_name = "N|PERCENT")]
    pub(crate) warm_up: Option<WarmUp>,
    /// Weight decay [default: 0]
    #[arg(long, value_name = "SHARE", value_parser = parse_dropout_f64)]
    pub(crate) weight_decay: Option<f64>,
    /// Passes over the examples [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) epochs: Option<u32>,
    /// Approximate number of tokens in a step [default: 16384]
    #[arg(long, value_name = "N")]
    pub(crate) batch_tokens: Option<usize>,
    /// Examples in a step, instead of tokens
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) batch: Option<u32>,
    /// Leave out examples with more tokens [default: none]
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<usize>,
    /// Percentage of the examples to hold out, to distinguish learning from memorising
    #[arg(
        long,
        value_name = "PERCENT",
        default_value_t = 2,
        value_parser = clap::value_parser!(u32).range(0..=50)
    )]
    pub(crate) held_out: u32,
    /// Examples to hold out, instead of a percentage of the data
    #[arg(long, value_name = "FILE.jsonl", num_args = 1..)]
    pub(crate) held_out_data: Vec<PathBuf>,
    /// End after this many evaluations without a lower held-out loss (there are about twenty), and
    /// keep the best adapter
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) early_stop: Option<u32>,
    /// Seed of the order of examples and of the adapter's initial values
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Device to compute on: auto, cpu or cuda
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    pub(crate) device: hotloop_policy::Device,
    /// Print one JSON object at the end
    #[arg(long)]
    pub(crate) json: bool,
}

fn parse_alpha(text: &str) -> Result<f32, String> {
    let alpha = text
        .parse::<f32>()
        .ok()
        .filter(|alpha| alpha.is_finite() && *alpha > 0.0);
    alpha.ok_or_else(|| "not a number above 0".to_owned())
}

fn parse_dropout_f64(text: &str) -> Result<f64, String> {
    parse_dropout(text).map(f64::from)
}

fn parse_dropout(text: &str) -> Result<f32, String> {
    let share = text
        .parse::<f32>()
        .ok()
        .filter(|share| (0.0..1.0).contains(share));
    share.ok_or_else(|| "not a share from 0 to below 1".to_owned())
}
