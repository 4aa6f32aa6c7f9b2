//! Arguments of `hotloop bench module`.

use std::path::PathBuf;

use clap::Args;
use hotloop_flow::Reward;

/// `hotloop bench module`
#[derive(Debug, Args)]
#[command(after_help = "\
An answer is Python with a class ModelNew that builds its CUDA by load_inline, or one file .cu with a function solve. The bench plans it in a jail without torch and without a GPU, as `hotloop bench plan` does. The GPU bench runs the plan on fresh inputs, with its code loaded anew for each run, and compares every number with your torch's result in doubles. Torch runs the problem, and never an answer.

The table shows the median time, and how many times as fast that is as plain torch (eager) and as torch.compile, with TF32 off. It ends with fast_p: the share of all answers that are correct and more than p times as fast.

Without a GPU, answers that are malformed, refused or not-compiled get their verdicts. For the others the command says how far they came, and ends with status 3.

Examples:
  hotloop bench module kernelbench/1/19 answer.py --kernelbench ~/KernelBench
  hotloop bench module kernelbench/1/19 answers/*.py --kernelbench ~/KernelBench --out judged.jsonl
  hotloop bench module kernelbench/1 level_1_problem_*.py --kernelbench ~/KernelBench
  hotloop bench module ./problem.py answer.py --python ~/venv/bin/python --no-compile --json")]
pub(crate) struct ModuleArgs {
    /// A problem such as kernelbench/1/19, a problem's file, or a level such as kernelbench/1 for
    /// answers whose names hold their problem's number
    pub(crate) problem: String,
    /// Answers to judge
    #[arg(value_name = "ANSWER", required = true)]
    pub(crate) answers: Vec<PathBuf>,
    /// A checkout of `KernelBench`
    #[arg(long, value_name = "DIR")]
    pub(crate) kernelbench: Option<PathBuf>,
    /// A Python that has torch [default: the first python3 in PATH that has it]
    #[arg(long, value_name = "FILE")]
    pub(crate) python: Option<PathBuf>,
    /// Leave out `torch.compile`, which compiles for up to a minute a problem
    #[arg(long)]
    pub(crate) no_compile: bool,
    /// Seconds that one call of an answer may take
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = super::values::parse_limit)]
    pub(crate) limit: f64,
    /// The least number of timed runs, all verified [default: as many as the bench needs]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, value_parser = clap::value_parser!(u32).range(..=1000))]
    pub(crate) runs: u32,
    /// Show the reward of each answer: weighted, composite or ladder-log; torch is the baseline
    #[arg(long, value_name = "SHAPE", value_parser = super::values::parse_reward)]
    pub(crate) reward: Option<Reward>,
    /// Add each verdict to this file, and skip answers that it has: a stopped command continues
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON object a line for each answer, and one with the scores
    #[arg(long)]
    pub(crate) json: bool,
}
