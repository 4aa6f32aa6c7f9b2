//! The program `hotloop`: it wires the other crates and is the only one that prints.

mod cli;
mod cmd;
mod failure;
mod fleets;
mod judging;
mod models;
mod nano;
mod nvrtc;
mod output;
mod progress;
mod runs;
mod settings;
mod stop;
mod tuning;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};
use failure::{Failure, Status};

/// Parses the command line, runs the command and returns the exit status.
pub fn run() -> ExitCode {
    hotloop_bench::role::outlive_file_limit();
    cmd::experiment::end_with_plan();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are not errors. A usage error is the user's.
            let status = if error.use_stderr() {
                Status::UserError
            } else {
                Status::Fine
            };
            drop(error.print());
            return status.into();
        }
    };
    let ended = match cli.command {
        Command::Judge(arguments) => cmd::judge::run(&arguments),
        Command::Doctor(arguments) => cmd::doctor::run(&arguments),
        Command::Task(arguments) => cmd::task::run(&arguments),
        Command::Bench(arguments) => cmd::bench::run(&arguments),
        Command::Worker(arguments) => cmd::worker::run(&arguments),
        Command::Fleet(arguments) => cmd::fleet::run(&arguments),
        Command::Model(arguments) => cmd::model::run(&arguments),
        Command::Sample(arguments) => cmd::sample::run(&arguments),
        Command::Evaluate(arguments) => cmd::evaluate::run(&arguments),
        Command::Chat(arguments) => cmd::chat::run(&arguments),
        Command::Quickstart(arguments) => cmd::quickstart::run(&arguments),
        Command::Train(arguments) => cmd::train::run(&arguments),
        Command::Serve(arguments) => cmd::serve::run(&arguments),
        Command::Discover(arguments) => cmd::discover::run(&arguments),
        Command::Replay(arguments) => cmd::replay::run(&arguments),
        Command::Watch(arguments) => cmd::watch::run(&arguments),
        Command::Report(arguments) => cmd::report::run(&arguments),
        Command::Experiment(arguments) => cmd::experiment::run(&arguments),
        Command::Corpus(arguments) => cmd::corpus::run(&arguments),
        Command::Review(arguments) => cmd::review::run(&arguments),
        Command::Tune(arguments) => cmd::tune::run(&arguments),
        Command::Completions { shell } => Ok(cmd::manual::completions(shell)),
        Command::Man { out } => cmd::manual::pages(&out),
    };
    let status = ended.unwrap_or_else(|failure| failure.tell());
    output::lost()
        .map_or(status, |error| unsaid(error).tell())
        .into()
}

/// The failure for incomplete output. Without it, a part could pass for the whole.
fn unsaid(error: &std::io::Error) -> Failure {
    Failure::machine(format!("standard output cannot be written: {error}"))
        .hint("the output is incomplete; free some space, or redirect it elsewhere")
        .of_file(error.kind())
}
