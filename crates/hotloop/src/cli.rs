//! The command line: definitions and help texts, no logic.

pub(crate) mod corpus;
pub(crate) mod evaluate;
pub(crate) mod fleet;
pub(crate) mod learn;
pub(crate) mod serve;

use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use hotloop_flow::Reward;
use hotloop_flow::how::{Check, Compiler, OptLevel, UnknownName};

/// Trains language models to write fast code by running what they write.
#[derive(Debug, Parser)]
#[command(
    name = "hotloop",
    version,
    after_help = "Examples:\n  \
        hotloop quickstart                watch a small policy learn on this machine\n  \
        hotloop judge all                 judge the naive seed of every shipped task\n  \
        hotloop judge matmul mine.c       judge a file of your own\n  \
        hotloop doctor                    what this machine offers, and what is missing\n  \
        hotloop sample --help             let a model write candidates, and judge them\n  \
        hotloop train run.toml            train a model on this machine\n  \
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
    /// Judge C candidates: screen, compile, verify and time them
    Judge(JudgeArgs),
    /// Report what this machine offers, what is missing and how to install it
    Doctor(DoctorArgs),
    /// List, show and check tasks
    Task(TaskArgs),
    /// Measure the bench itself
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
    /// Report on runs: a page, figures and tables
    Report(learn::ReportArgs),
    /// Judge for other trainers over HTTP
    Serve(Box<serve::ServeArgs>),
    /// Run a paper's grid and write its figures and tables
    Experiment(learn::ExperimentArgs),
    /// Make the synthetic corpus, or the nano policy from it
    Corpus(corpus::CorpusArgs),
    /// Tune a model on examples, for a warm start
    Tune(corpus::TuneArgs),
}

/// `hotloop judge`
#[derive(Debug, Args)]
#[command(after_help = "\
FILE holds C source. A file that ends in .md or .txt holds what a model printed, and hotloop extracts the code \
from it, as with --completions. Without FILE hotloop judges the task's own seed.

Verdicts: malformed, refused, not-compiled, timed-out, crashed, wrong, suspect, correct.

Examples:
  hotloop judge all
  hotloop judge matmul fast.c faster.c
  hotloop judge matmul --threads all --opt O2 --compiler clang fast.c
  hotloop judge matmul --completions answers.jsonl
  hotloop judge ./my-task --json candidate.c
  hotloop judge matmul --fleet fleet.toml *.c")]
pub(crate) struct JudgeArgs {
    /// A shipped task, a task's folder as in ./my-task, or `all` for the seeds of all shipped tasks
    pub(crate) task: String,
    /// C sources to judge; `-` is standard input
    #[arg(conflicts_with = "completions")]
    pub(crate) file: Vec<PathBuf>,
    /// Judge what a model printed: one JSON object a line with the key `completion`; `-` is standard input
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) completions: Option<PathBuf>,
    /// Print one JSON object a line for each file, as soon as it is judged
    #[arg(long)]
    pub(crate) json: bool,
    /// Judge on the machines of a fleet: a fleet.toml, an access file, or tls://HOST:PORT with `HOTLOOP_FLEET_TOKEN`
    /// and `HOTLOOP_FLEET_CA`
    #[arg(long, value_name = "FLEET", conflicts_with_all = ["slots", "jobs", "cc"])]
    pub(crate) fleet: Option<String>,
    /// How to judge.
    #[command(flatten)]
    pub(crate) how: HowArgs,
    /// What a verdict is worth: ladder, ladder-group (over all candidates of this call), ladder-log, weighted,
    /// composite or sol
    #[arg(long, value_name = "SHAPE", default_value = "ladder", value_parser = parse_reward)]
    pub(crate) reward: Reward,
    /// Refuse the techniques that this stage of the staged search forbids
    #[arg(long, value_name = "1..6", value_parser = clap::value_parser!(u8).range(1..=6))]
    pub(crate) stage: Option<u8>,
    /// Judge every file this many times
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repeat: u32,
    /// Show every detail of a failure, and every row with --completions
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

/// How candidates are compiled, run and checked.
#[derive(Debug, Args)]
pub(crate) struct HowArgs {
    /// The optimisation level
    #[arg(long, value_name = "LEVEL", default_value = "O3", ignore_case = true, value_parser = one_of::<OptLevel>(OptLevel::NAMES))]
    pub(crate) opt: OptLevel,
    /// The compiler
    #[arg(long, default_value = "gcc", value_parser = one_of::<Compiler>(Compiler::NAMES))]
    pub(crate) compiler: Compiler,
    /// The compiler's command, if it is not in PATH under its own name
    #[arg(long, value_name = "PATH")]
    pub(crate) cc: Option<PathBuf>,
    /// OpenMP threads of a candidate; `all` for one per physical core
    #[arg(long, value_name = "N", default_value = "1", value_parser = parse_threads)]
    pub(crate) threads: Threads,
    /// Candidates timed at the same time, each on its own cores
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) slots: u32,
    /// Candidates compiled and verified at the same time [default: one per remaining core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) jobs: Option<u32>,
    /// Judge as the paper does: 8 s, one warm-up, the mean of three runs, 105 points
    #[arg(long)]
    pub(crate) paper: bool,
    /// Maximum number of timed runs in one round [default: 60; 3 with --paper]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: Option<u32>,
    /// Seconds that one call may take [default: 1; 8 with --paper]
    #[arg(long, value_name = "SECONDS", value_parser = parse_limit)]
    pub(crate) limit: Option<f64>,
    /// The check that decides: every element, or the paper's 105 points [default: strict; paper with --paper]
    #[arg(long, value_parser = one_of::<Check>(Check::NAMES))]
    pub(crate) check: Option<Check>,
    /// Compile again instead of using the cache; with --fleet also judge again instead of joining a job under way
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Judge as if this layer of the sandbox were missing; may be repeated
    #[arg(long, value_name = "LAYER")]
    pub(crate) without: Vec<LayerName>,
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
    /// List the shipped tasks
    List,
    /// Show a task: prompt, signature, sizes, cost and bound
    #[command(after_help = "\
Examples:
  hotloop task show matmul
  hotloop task show ./my-task")]
    Show {
        /// A shipped task, or a task's folder as in ./my-task
        task: String,
    },
    /// Check that a task accepts its seed and refuses zeros, constants, copies, single precision and one size for all
    #[command(after_help = "\
Examples:
  hotloop task check ./my-task
  hotloop task check all

Exit status: 0 when all tasks are sound, 1 when one is not.")]
    Check {
        /// Shipped tasks or folders; `all` for all shipped tasks
        #[arg(required = true)]
        task: Vec<String>,
    },
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
    /// Judged candidates per second on one core, against the plain pipeline in the same run
    #[command(after_help = "Example:\n  hotloop bench throughput --count 50")]
    Throughput {
        /// Candidates, each judged both ways
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
        count: u32,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// How much the timing of one expert candidate varies over many judgements
    #[command(after_help = "Example:\n  hotloop bench aa --count 100 --json")]
    Aa {
        /// Judgements
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(2..))]
        count: u32,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

/// Reads one of the names; the help lists them.
fn one_of<T>(names: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = UnknownName> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| name.parse())
}

/// Layers of the sandbox that may be left out.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum LayerName {
    /// Files by rule.
    #[value(help = None)]
    Landlock,
    /// User and IPC namespaces.
    #[value(help = None)]
    Namespaces,
}

/// A number of threads.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Threads {
    /// One per physical core.
    All,
    /// That many.
    Number(u32),
}

fn parse_threads(text: &str) -> Result<Threads, String> {
    if text == "all" {
        return Ok(Threads::All);
    }
    match text.parse() {
        Ok(0) | Err(_) => Err("is neither a number from 1 on nor `all`".to_owned()),
        Ok(number) => Ok(Threads::Number(number)),
    }
}

fn parse_limit(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|limit| (0.001..=600.0).contains(limit))
        .ok_or("is not between 0.001 and 600".to_owned())
}

fn parse_reward(text: &str) -> Result<Reward, String> {
    text.parse()
        .map_err(|error: hotloop_flow::reward::RewardError| error.to_string())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// Lines that are broken by hand are broken again by a narrow terminal, in the middle.
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

    /// Whoever takes something shows how.
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
