//! Arguments of `hotloop bench torch`.

use std::path::PathBuf;

use clap::Args;

/// `hotloop bench torch`
#[derive(Debug, Args)]
#[command(after_help = "\
These are the baselines of KernelBench, measured on your machine: plain torch (eager) and `torch.compile`. Each problem also runs in doubles, which shows how exact torch is in floats. TF32 is off. On a GPU, events time every run after a sweep of the cache, and the median counts.

The command runs the problems' own code, with your Python and your rights. It runs no answer of a model.

Examples:
  hotloop bench torch kernelbench/1 --kernelbench ~/KernelBench --out baselines.jsonl
  hotloop bench torch kernelbench/1/19 kernelbench/1/40 --kernelbench ~/KernelBench --json
  hotloop bench torch ./problem.py --device cpu --eager-only
  hotloop bench torch kernelbench/1 --kernelbench ~/KernelBench --python ~/venv/bin/python")]
pub(crate) struct TorchArgs {
    /// Problems such as kernelbench/1/19, levels such as kernelbench/1, or problems' files
    #[arg(value_name = "TASK", required = true)]
    pub(crate) tasks: Vec<String>,
    /// A checkout of `KernelBench`
    #[arg(long, value_name = "DIR")]
    pub(crate) kernelbench: Option<PathBuf>,
    /// A Python that has torch [default: the first python3 in PATH that has it]
    #[arg(long, value_name = "FILE")]
    pub(crate) python: Option<PathBuf>,
    /// Where torch computes: auto is a GPU if torch sees one
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = ["auto", "cpu", "cuda"])]
    pub(crate) device: String,
    /// Leave out `torch.compile`, which compiles for up to a minute a problem
    #[arg(long)]
    pub(crate) eager_only: bool,
    /// Seconds that one problem may take in all
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: u64,
    /// Seed of inputs and parameters
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Add each result to this file, and skip problems that it has: a stopped command continues
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON object a line for each problem
    #[arg(long)]
    pub(crate) json: bool,
}
