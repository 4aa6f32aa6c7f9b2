//! The command line of discoveries.

use std::path::PathBuf;

use clap::Args;
use hotloop_run::discovery::Arm;

use super::values::above_zero;

/// `hotloop discover`
#[derive(Debug, Args)]
#[command(
    group(clap::ArgGroup::new("what").required(true).args(["task", "verdict"])),
    after_help = "Arms: search (staged search, no learning), entropic (PUCT and the entropic \
objective of TTT-Discover), grpo (staged search, mean reward), max-at-k (staged search, expected \
best of k), best-of-n (the seed's prompts only). Every arm starts from the same model and gets the \
same number of judged answers. All runs with one seed come before those with the next, so a budget \
that ends early still leaves complete comparisons.

The verdict compares the best code of each arm that learns with that of the stronger control, by \
Student's t over seeds, at 95 % for all arms together. A run that has not finished does not count.

The same command continues after Ctrl-C, a kill or the end of --budget.

Examples:
  hotloop discover matmul --model qwen.gguf
  hotloop discover matmul --model qwen.gguf --answers 1000 --seeds 2 --arms search,entropic --dry-run
  hotloop discover stencil2d --model nano --answers 200 --budget 600 --out runs/stencil
  hotloop discover matmul --file run.toml --set sampling.group=64 --json
  hotloop discover --verdict runs/discover-matmul       of runs that any plan made in ARM-SEED folders

Exit status: 0 done, whatever the verdict; 1 your error; 3 a run failed; 130 stopped."
)]
pub(crate) struct DiscoverArgs {
    /// A shipped task, or a task's folder
    pub(crate) task: Option<String>,
    /// Run nothing: give the verdict of the runs in this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["task", "dry_run", "budget"])]
    pub(crate) verdict: Option<PathBuf>,
    /// The model: a folder, a GGUF file, a hub name or `nano` [default: that of --file]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// A run file with settings for all arms
    #[arg(long, value_name = "RUN.toml")]
    pub(crate) file: Option<PathBuf>,
    /// Judged answers of each run; 0 if only --seconds ends it
    #[arg(long, value_name = "N", default_value_t = 4000)]
    pub(crate) answers: u64,
    /// Seconds of steps of each run, if they end it earlier
    #[arg(long, value_name = "SECONDS", value_parser = above_zero)]
    pub(crate) seconds: Option<f64>,
    /// The number of seeds, from 1
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=100))]
    pub(crate) seeds: u64,
    /// The arms, in the order in which they run
    #[arg(long, value_name = "ARM,...", value_delimiter = ',', default_values = Arm::ALL.map(Arm::name))]
    pub(crate) arms: Vec<Arm>,
    /// Set a key in every run; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// The folder of the runs [default: runs/discover-TASK]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Seconds for everything
    #[arg(long, value_name = "SECONDS", value_parser = above_zero)]
    pub(crate) budget: Option<f64>,
    /// Show the runs, their commands and times, and exit
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print one JSON object per line: each run as it ends, then outcomes and verdict
    #[arg(long)]
    pub(crate) json: bool,
}
