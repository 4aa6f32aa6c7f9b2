//! Arguments of `hotloop bench plan`.

use std::path::PathBuf;

use clap::Args;

/// `hotloop bench plan`
#[derive(Debug, Args)]
#[command(after_help = "\
An answer is Python with a class ModelNew that builds its CUDA by load_inline. Here it runs on shapes alone, in a jail without torch and without a GPU. The result is a plan: the memory, the launches and the memsets of one call. If there is an NVRTC, it also compiles the code for the GPU.

A plan is no judgement: no result was compared and no time was taken. `hotloop bench module` judges answers on a GPU.

An answer whose name ends in .cu is one file of CUDA that defines a function solve. docs/kernelbench.md lists the arguments of solve.

Without an answer, the command reads problems and shows their shapes; TASK may then be a whole level. For one problem it also shows the declaration of solve.

Examples:
  hotloop bench plan kernelbench/1/19 answer.py --kernelbench ~/KernelBench
  hotloop bench plan kernelbench/1/19 answers/*.py --kernelbench ~/KernelBench --json
  hotloop bench plan ./problem.py answer.py
  hotloop bench plan kernelbench/1/19 answer.cu --kernelbench ~/KernelBench
  hotloop bench plan kernelbench/1 --kernelbench ~/KernelBench")]
pub(crate) struct PlanArgs {
    /// A problem such as kernelbench/1/19, a level such as kernelbench/1, or a problem's file
    pub(crate) task: String,
    /// Answers to plan
    #[arg(value_name = "ANSWER")]
    pub(crate) answers: Vec<PathBuf>,
    /// A checkout of `KernelBench`
    #[arg(long, value_name = "DIR")]
    pub(crate) kernelbench: Option<PathBuf>,
    /// Print one JSON object a line for each answer
    #[arg(long)]
    pub(crate) json: bool,
}
