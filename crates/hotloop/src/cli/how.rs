//! How candidates are compiled, run and checked.

use std::path::PathBuf;

use clap::Args;
use hotloop_flow::how::{Check, Compiler, OptLevel};

use super::values::{LayerName, Threads, one_of, parse_limit, parse_threads};

/// How candidates are compiled, run and checked.
#[derive(Debug, Args)]
pub(crate) struct HowArgs {
    /// The optimisation level
    #[arg(
        long,
        value_name = "LEVEL",
        default_value = "O3",
        ignore_case = true,
        value_parser = one_of::<OptLevel>(OptLevel::NAMES)
    )]
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
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
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
    /// The check that decides: every element, or the paper's 105 points [default: strict; paper
    /// with --paper]
    #[arg(long, value_parser = one_of::<Check>(Check::NAMES))]
    pub(crate) check: Option<Check>,
    /// Compile again instead of using the cache; with --fleet also judge again instead of joining a
    /// job under way
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Judge as if this layer of the sandbox were missing; may be repeated
    #[arg(long, value_name = "LAYER")]
    pub(crate) without: Vec<LayerName>,
}
