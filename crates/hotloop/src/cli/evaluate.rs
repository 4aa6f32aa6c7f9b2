//! The command line of evaluations.

use std::path::{Path, PathBuf};

use clap::Args;
use hotloop_flow::how::OptLevel;

/// `hotloop evaluate`
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Each policy gets the prompts of a run's probe: the stages' prompts with \
the seed and the start of the answer. With a run's seed, temperature, count and task this repeats \
that run's probe. One bench judges all policies, one after the other.

The directory of a run means its last checkpoint, which is an adapter or a whole model. URL#NAME \
is an OpenAI-compatible endpoint, as in a run file (`hotloop train --help`).

Examples:
  hotloop evaluate --model nano --task matmul,matvec --count 16
  hotloop evaluate --model qwen.gguf --adapter none,warm,runs/learns --task matmul-any,matvec,stencil2d
  hotloop evaluate --model qwen.gguf --task matmul --stage 3 --temperature 1 --opt O0 --json
  hotloop evaluate --suite suite.toml --out sweep

A suite is a file of policies and tasks:

  tasks = [\"matmul\", \"matvec\"]
  count = 16
  temperature = 0.2
  [[policy]]
  name = \"base\"
  model = \"qwen.gguf\"
  [[policy]]
  name = \"trained\"
  model = \"qwen.gguf\"
  adapter = \"runs/learns\"

It writes one table as table.md, table.csv, table.json and index.html. The same command continues where \
it was stopped, and keeps unchanged results in the folder. Other keys of a suite: title, preset, \
stage, max-tokens, seed, opt, threads, slots, set. preset = \"p3\" asks the last stage once at \
temperature 0.

A suite may ask for problems of KernelBench instead. Then the policies write Python with CUDA, all of \
them before the first answer is judged, and one judge compares the answers with torch:

  problems = [\"kernelbench/1/19\", \"kernelbench/1/21\"]
  [[policy]]
  name = \"base\"
  model = \"qwen.gguf\"
  [[policy]]
  name = \"hosted\"
  api = \"https://example.org/v1\"
  model = \"NAME\"
  api-key = \"ENV_NAME\"

  hotloop evaluate --suite problems.toml --kernelbench ~/KernelBench --out sweep

`problems` also takes a level, kernelbench/1, or kernelbench/1/held-out and kernelbench/1/training. \
Other keys, with their defaults: title, kernelbench (the checkout), count = 1 (answers for each \
problem and policy), temperature = 0, max-tokens = 2048, seed = 1, compile = false (time torch.compile \
as well), limit = 10 (seconds a call), runs = 0 (the least number of timed runs), reward (such as \
{ shape = \"weighted\" }), preset (\"p3\": once at temperature 0, 100 runs), device = \"auto\"; adapter and api-key of a policy. The folder \
gets table.md, table.csv, table.json and table.html, and --json prints table.json. Write these keys \
into the suite: flags for sampling have no effect on it. docs/kernelbench.md says more.

Exit status: 0 done, whatever the verdicts; 1 your error; 3 the machine failed, \
which may leave answers without a verdict; 130 stopped."
)]
pub(crate) struct EvaluateArgs {
    /// A folder, a GGUF file, a hub name that was downloaded before, `nano`, a run's directory, or
    /// URL#NAME; may be repeated
    #[arg(long, value_name = "MODEL", required_unless_present = "suite")]
    pub(crate) model: Vec<String>,
    /// Adapters on top of the model, evaluated one after the other; `none` is the plain model
    #[arg(long, value_name = "DIR,...")]
    pub(crate) adapter: Vec<String>,
    /// Shipped tasks, or tasks' folders such as ./my-task
    #[arg(long, value_name = "TASK,...", required_unless_present = "suite")]
    pub(crate) task: Vec<String>,
    /// Answers to each stage's prompt
    #[arg(
        long,
        value_name = "N",
        default_value_t = 64,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) count: u32,
    /// The stages of each task to ask for, by number or name, or all of them
    #[arg(long, value_name = "STAGE,...|all", default_value = "all", value_parser = parse_stages)]
    pub(crate) stage: Stages,
    /// Sampling temperature; 0 always takes the most likely token
    #[arg(
        long,
        value_name = "T",
        default_value_t = 0.2,
        value_parser = super::learn::parse_temperature
    )]
    pub(crate) temperature: f64,
    /// Maximum number of tokens of an answer [default: as in runs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_tokens: Option<u32>,
    /// Seed of every draw
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The optimisation level
    #[arg(
        long,
        value_name = "LEVEL",
        default_value = "O3",
        ignore_case = true,
        value_parser = super::values::one_of::<OptLevel>(OptLevel::NAMES)
    )]
    pub(crate) opt: OptLevel,
    /// OpenMP threads of a candidate
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) threads: u32,
    /// Candidates timed at the same time, each on its own cores
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) slots: u32,
    /// Override another key of the run file, such as device=cpu; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Write every answer with its verdict, and the figures, to this folder, which must not exist
    /// yet
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// Evaluate the policies of this file on its tasks, into one table
    #[arg(
        long,
        value_name = "FILE",
        requires = "out",
        conflicts_with_all = ["model", "adapter", "task", "keep"]
    )]
    pub(crate) suite: Option<PathBuf>,
    /// The folder for a suite's table, which may hold an earlier part of it
    #[arg(long, value_name = "DIR", requires = "suite")]
    pub(crate) out: Option<PathBuf>,
    /// A checkout of `KernelBench`, for a suite of its problems
    #[arg(long, value_name = "DIR", requires = "suite")]
    pub(crate) kernelbench: Option<PathBuf>,
    /// A Python that has torch, for a suite of problems of `KernelBench` [default: the first python3
    /// in PATH that has it]
    #[arg(long, value_name = "FILE", requires = "suite")]
    pub(crate) python: Option<PathBuf>,
    /// Print one JSON object per line for each policy and task, as soon as it is judged
    #[arg(long)]
    pub(crate) json: bool,
}

/// The names in comma-separated lists. A folder whose name contains a comma must be an entry of its
/// own.
pub(crate) fn names(given: &[String]) -> Vec<&str> {
    let mut names = Vec::new();
    for text in given {
        if Path::new(text).is_dir() {
            names.push(text.as_str());
        } else {
            names.extend(text.split(',').map(str::trim));
        }
    }
    names
}

/// The stages to ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stages {
    All,
    /// By number or name.
    These(Vec<String>),
}

fn parse_stages(text: &str) -> Result<Stages, String> {
    let names: Vec<String> = text.split(',').map(|part| part.trim().to_owned()).collect();
    match names.as_slice() {
        [all] if all == "all" => Ok(Stages::All),
        names if names.iter().any(String::is_empty) => Err("a stage is missing".to_owned()),
        _ => Ok(Stages::These(names)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_a_comma_in_its_name_is_one_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("my,task");
        let path = path.to_str().expect("a plain path").to_owned();
        let given = ["matmul,fft".to_owned(), path.clone()];
        assert_eq!(names(&given).len(), 4);
        std::fs::create_dir(&path).expect("a folder");
        assert_eq!(names(&given), ["matmul", "fft", &path]);
    }

    #[test]
    fn stages_are_a_list_or_all() {
        assert_eq!(parse_stages("all"), Ok(Stages::All));
        let these = ["3", "simd"].map(str::to_owned).to_vec();
        assert_eq!(parse_stages("3, simd"), Ok(Stages::These(these)));
        assert!(parse_stages("").is_err() && parse_stages("1,").is_err());
    }
}
