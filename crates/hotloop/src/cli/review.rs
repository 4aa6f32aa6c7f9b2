//! The command line of reviews.

use std::path::PathBuf;

use clap::Args;

use super::learn::WhoArgs;

/// `hotloop review`
#[derive(Debug, Args)]
#[command(after_help = "\
A policy reads candidates and estimates whether each is correct, compiles and is fast, as the reviewer of a run does \
(reward.reviewer, `hotloop train --defaults`). The verdicts are known, so the table shows how far the opinions agree \
with them. With --inject every candidate is shown a second time, with a comment that asks the reviewer for praise.

Opinions are kept in --out, one per line. The same command continues after a kill, and asks about no candidate twice.

Examples:
  hotloop evaluate --model qwen --task matmul,softmax --count 64 --temperature 1 --keep kept
  hotloop review kept --model Qwen/Qwen2.5-Coder-1.5B-Instruct --out opinions.jsonl
  hotloop review runs/a runs/b --model Qwen/Qwen2.5-Coder-1.5B-Instruct --count 500 --inject --out opinions.jsonl")]
pub(crate) struct ReviewArgs {
    /// Run directories, and folders that `hotloop evaluate --keep` wrote
    #[arg(required = true, value_name = "DIR")]
    pub(crate) folder: Vec<PathBuf>,
    /// Who reviews.
    #[command(flatten)]
    pub(crate) who: WhoArgs,
    /// The file of opinions to write, or to continue
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) out: PathBuf,
    /// The number of different candidates to review, drawn by the seed [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<usize>,
    /// Show each candidate again with a comment that asks for praise
    #[arg(long)]
    pub(crate) inject: bool,
    /// Maximum number of tokens of an opinion, with its reasoning
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(64..))]
    pub(crate) max_tokens: u32,
    /// Seed of the choice of candidates and of later attempts
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
