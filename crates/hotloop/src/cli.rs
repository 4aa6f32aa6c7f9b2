//! The command line: definitions and help texts, no logic.

pub(crate) mod corpus;
pub(crate) mod discover;
pub(crate) mod evaluate;
pub(crate) mod fleet;
mod how;
pub(crate) mod learn;
pub(crate) mod module;
pub(crate) mod pairs;
pub(crate) mod plan;
pub(crate) mod recipe;
pub(crate) mod review;
pub(crate) mod serve;
pub(crate) mod torch;
mod values;
pub(crate) mod watch;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use hotloop_corpus::generated::Family;
use hotloop_flow::Reward;

pub(crate) use how::HowArgs;
use values::parse_reward;
pub(crate) use values::{LayerName, Threads};

/// Trains language models to write fast code by running what they write.
#[derive(Debug, Parser)]
#[command(
    name = "hotloop",
    version,
    after_help = "Examples:\n  \
        hotloop quickstart                watch a small policy learn on this machine\n  \
        hotloop judge all                 judge the naive seeds of all tasks that can run here\n  \
        hotloop judge matmul mine.c       judge a file of your own\n  \
        hotloop doctor                    what this machine offers, and what is missing\n  \
        hotloop sample --help             let a model write candidates, and judge them\n  \
        hotloop train run.toml            train a model on this machine\n  \
        hotloop watch                     a page that shows runs while they go on\n  \
        hotloop serve                     judge for TRL, verl, OpenRLHF and others, over HTTP\n\n\
        Exit status: 0 done, whatever the verdicts; 1 your error; 3 the machine failed; 130 stopped."
)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Judge candidates in C or CUDA: screen, compile, verify and time them
    Judge(JudgeArgs),
    /// Report what this machine offers, what is missing and how to install it
    Doctor(DoctorArgs),
    /// List, show and check tasks
    Task(TaskArgs),
    /// Measure the bench itself, and judge answers to problems of `KernelBench`
    Bench(BenchArgs),
    /// Judge for a fleet: take candidates from its server and answer with verdicts
    Worker(fleet::WorkerArgs),
    /// Start, show and stop a fleet of workers
    Fleet(fleet::FleetArgs),
    /// Describe, convert and download models
    Model(learn::ModelArgs),
    /// Sample answers from a model: to a question, a task or a file of chats
    Sample(learn::SampleArgs),
    /// Compare policies on tasks, without training
    Evaluate(Box<evaluate::EvaluateArgs>),
    /// Talk with a model
    Chat(learn::ChatArgs),
    /// Watch a small policy learn on this machine, in about seven minutes
    Quickstart(learn::QuickstartArgs),
    /// Train a model on the measured speed of its candidates
    Train(learn::TrainArgs),
    /// Search for fast code for one task by several arms with equal budgets, and report whether
    /// learning helped
    Discover(discover::DiscoverArgs),
    /// Serve a page that shows runs while they go on
    Watch(watch::WatchArgs),
    /// Report on runs: a page, figures and tables
    Report(learn::ReportArgs),
    /// Judge the fastest candidates of a run anew, to check its claims
    Replay(watch::ReplayArgs),
    /// Judge for other trainers over HTTP
    Serve(Box<serve::ServeArgs>),
    /// Run a paper's grid or a plan of your own, and write figures and tables
    Experiment(learn::ExperimentArgs),
    /// Make data for tuning: synthetic programs, winners of runs, pairs, teachers' answers
    Corpus(corpus::CorpusArgs),
    /// Ask a reviewer about candidates with known verdicts, and report how far it agrees
    Review(Box<review::ReviewArgs>),
    /// Tune a model on examples, for a warm start
    Tune(corpus::TuneArgs),
    /// Print what a shell needs to complete hotloop's commands
    #[command(after_help = "\
Examples:
  hotloop completions bash > ~/.local/share/bash-completion/completions/hotloop
  hotloop completions zsh > ~/.zfunc/_hotloop
  hotloop completions fish > ~/.config/fish/completions/hotloop.fish")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write manual pages, one for each command
    #[command(after_help = "Example:\n  hotloop man --out ~/.local/share/man/man1")]
    Man {
        /// The folder, made where it is missing
        #[arg(long, value_name = "FOLDER")]
        out: PathBuf,
    },
}

/// `hotloop judge`
#[derive(Debug, Args)]
#[command(after_help = "\
FILE holds source in the task's language. A file that ends in .md or .txt holds a model's answer, and hotloop \
extracts the code from it, as with --completions. Without FILE hotloop judges the task's own seed.

Verdicts: malformed, refused, not-compiled, timed-out, crashed, wrong, suspect, correct.

Examples:
  hotloop judge all
  hotloop judge matmul fast.c faster.c
  hotloop judge matmul --threads all --opt O2 --compiler clang fast.c
  hotloop judge matmul --completions answers.jsonl
  hotloop judge ./my-task --json candidate.c
  hotloop judge matmul --fleet fleet.toml *.c")]
pub(crate) struct JudgeArgs {
    /// A shipped task, a task's folder such as ./my-task, or `all` for the seeds of all shipped
    /// tasks
    pub(crate) task: String,
    /// Sources to judge; `-` is standard input
    #[arg(conflicts_with = "completions")]
    pub(crate) file: Vec<PathBuf>,
    /// Judge a model's output: one JSON object per line with the key `completion`; `-` is standard
    /// input
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) completions: Option<PathBuf>,
    /// Print one JSON object per line for each file, as soon as it is judged
    #[arg(long)]
    pub(crate) json: bool,
    /// Judge on the machines of a fleet: a fleet.toml, an access file, or tls://HOST:PORT with
    /// `HOTLOOP_FLEET_TOKEN` and `HOTLOOP_FLEET_CA`
    #[arg(long, value_name = "FLEET", conflicts_with_all = ["slots", "jobs", "cc"])]
    pub(crate) fleet: Option<String>,
    /// How to judge.
    #[command(flatten)]
    pub(crate) how: HowArgs,
    /// The reward's shape: ladder, ladder-group (over all candidates of this call), ladder-log,
    /// gain (over the seed), weighted, composite or sol
    #[arg(long, value_name = "SHAPE", default_value = "ladder", value_parser = parse_reward)]
    pub(crate) reward: Reward,
    /// Refuse the techniques that this stage of the task forbids; a number, or a name such as simd
    #[arg(long, value_name = "N|NAME")]
    pub(crate) stage: Option<String>,
    /// Judge every file this many times
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repeat: u32,
    /// Show every detail of a failure, and every row with --completions
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

/// `hotloop doctor`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hotloop doctor
  hotloop doctor --json

Exit status: 0 when candidates can be judged here, 3 when not.")]
pub(crate) struct DoctorArgs {
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `hotloop task`
#[derive(Debug, Args)]
pub(crate) struct TaskArgs {
    /// What to do with tasks.
    #[command(subcommand)]
    pub(crate) command: TaskCommand,
}

/// The subcommands of `hotloop task`.
#[derive(Debug, Subcommand)]
pub(crate) enum TaskCommand {
    /// List the shipped tasks, or the problems of a `KernelBench` checkout
    #[command(after_help = "\
Problems of KernelBench are split as in the papers: a fifth of each level is held out, by seed 42. \
The papers name no shuffle. Here the problems of a level are ordered by the BLAKE3 of their seed and \
name, as in `42 kernelbench/1/23`, and the first fifth is held out.

This command lists the problems. `hotloop bench module` judges answers to them.

Examples:
  hotloop task list
  hotloop task list --json
  hotloop task list --kernelbench ~/KernelBench --level 1
  hotloop task list --kernelbench ~/KernelBench --level 1 --part held-out --json")]
    List(TaskListArgs),
    /// Show a task: prompt, signature, sizes, cost and bound
    #[command(after_help = "\
Examples:
  hotloop task show matmul
  hotloop task show ./my-task")]
    Show {
        /// A shipped task, or a task's folder such as ./my-task
        task: String,
    },
    /// Write random tasks: loop nests over expressions of one to five operations
    #[command(after_help = "\
Families: map, broadcast, reduce, scan, stencil, contract. Tasks go from one operation to five in the order of \
their names, so a run that practises DIR/* in turn follows a curriculum. Train on some families and hold others out. \
The same seed gives the same tasks.

Examples:
  hotloop task generate --out tasks/train --count 200 --seed 1 --families map,broadcast,reduce,contract
  hotloop task generate --out tasks/held --count 20 --seed 2 --families scan,stencil
  hotloop train run.toml --set 'task=matmul,tasks/train/*' --set prompts.practised=4
  hotloop task check tasks/held/*")]
    Generate {
        /// The folder that gets a folder for each task; it must not exist yet
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// The number of tasks
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=9999))]
        count: u32,
        /// Seed of every random choice
        #[arg(long, value_name = "N", default_value_t = 1)]
        seed: u64,
        /// The families, in turn
        #[arg(long, value_name = "FAMILY,...", value_delimiter = ',', default_values = Family::ALL.map(Family::name))]
        families: Vec<Family>,
        /// Print one JSON object a line for each task
        #[arg(long)]
        json: bool,
    },
    /// Check that a task accepts its seed and refuses zeros, constants, copies, single precision
    /// and one size for all
    #[command(after_help = "\
Examples:
  hotloop task check ./my-task
  hotloop task check all

Exit status: 0 when all tasks are sound, 1 when one is not.")]
    Check {
        /// Shipped tasks or folders; `all` for all shipped tasks that can run here
        #[arg(required = true)]
        task: Vec<String>,
    },
}

/// `hotloop task list`
#[derive(Debug, Args)]
pub(crate) struct TaskListArgs {
    /// List the problems of this checkout of `KernelBench` instead
    #[arg(long, value_name = "DIR")]
    pub(crate) kernelbench: Option<PathBuf>,
    /// Only this level of `KernelBench`
    #[arg(
        long,
        value_name = "1-4",
        requires = "kernelbench",
        value_parser = clap::value_parser!(u8).range(1..=4)
    )]
    pub(crate) level: Option<u8>,
    /// Only this part of the split
    #[arg(long, requires = "kernelbench")]
    pub(crate) part: Option<SplitPart>,
    /// Seed of the split
    #[arg(
        long,
        value_name = "N",
        requires = "kernelbench",
        default_value_t = hotloop_corpus::kernelbench::SEED
    )]
    pub(crate) split_seed: u64,
    /// Print one JSON object a line for each task
    #[arg(long)]
    pub(crate) json: bool,
}

/// A part of the split of `KernelBench`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SplitPart {
    /// Four fifths of the problems
    Training,
    /// One fifth of the problems
    HeldOut,
}

/// `hotloop bench`
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// What to measure.
    #[command(subcommand)]
    pub(crate) command: BenchCommand,
}

/// The subcommands of `hotloop bench`.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Count judged candidates per second on one core, and compare with a plain pipeline
    #[command(after_help = "\
Examples:
  hotloop bench throughput --count 50
  hotloop bench throughput --task cuda/relu --count 200")]
    Throughput {
        /// Number of candidates, each judged both ways
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
        count: u32,
        /// Judge the seed of this task on the whole machine instead, without the plain pipeline
        #[arg(long, value_name = "TASK")]
        task: Option<String>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Measure how much the timing of one expert candidate varies over many judgements
    #[command(after_help = "\
Examples:
  hotloop bench aa --count 100 --json
  hotloop bench aa --task cuda/softmax")]
    Aa {
        /// Judgements
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(2..))]
        count: u32,
        /// Judge the seed of this task instead
        #[arg(long, value_name = "TASK")]
        task: Option<String>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Plan answers to a problem of `KernelBench` without torch and without a GPU
    Plan(plan::PlanArgs),
    /// Judge answers to problems of `KernelBench` on a GPU, and compare their speed with torch
    Module(module::ModuleArgs),
    /// Measure how fast and how exact torch itself is on problems of `KernelBench`
    Torch(torch::TorchArgs),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// A narrow terminal would wrap lines that we wrapped by hand a second time.
    fn check(command: &clap::Command) {
        let help = command
            .get_after_help()
            .map(ToString::to_string)
            .unwrap_or_default();
        let is_prose =
            |line: &str| !line.is_empty() && !line.starts_with(' ') && !line.ends_with(':');
        let lines: Vec<&str> = help.lines().collect();
        let broken = lines
            .windows(2)
            .find(|pair| is_prose(pair[0]) && is_prose(pair[1]));
        assert_eq!(broken, None, "{}", command.get_name());
        command.get_subcommands().for_each(check);
    }

    #[test]
    fn every_paragraph_of_a_help_text_is_one_line() {
        check(&Cli::command());
    }

    /// Every command with arguments shows an example.
    fn shows(command: &clap::Command, path: &str) {
        let help = command
            .get_after_help()
            .map(ToString::to_string)
            .unwrap_or_default();
        let takes = command.get_arguments().next().is_some();
        assert!(
            !takes || help.contains(&format!("  {path}")),
            "`{path} --help` has no example"
        );
        command
            .get_subcommands()
            .for_each(|below| shows(below, &format!("{path} {}", below.get_name())));
    }

    #[test]
    fn every_command_with_arguments_has_an_example() {
        shows(&Cli::command(), "hotloop");
    }
}
