//! `hotloop bench`: measurements of the bench itself and of torch, and plans and verdicts of answers.

mod aa;
mod crowd;
mod jobs;
pub(super) mod lines;
pub(super) mod module;
mod plain;
mod plan;
pub(super) mod problems;
mod steady;
mod throughput;
mod torch;
mod variants;

use crate::cli::{BenchArgs, BenchCommand};
use crate::failure::{Failure, Status};

pub(crate) fn run(arguments: &BenchArgs) -> Result<Status, Failure> {
    match &arguments.command {
        BenchCommand::Throughput { count, task, json } => match task {
            Some(task) => crowd::run(task, *count as usize, *json),
            None => throughput::run(*count as usize, *json),
        },
        BenchCommand::Aa { count, task, json } => match task {
            Some(task) => steady::run(task, *count, *json),
            None => aa::run(*count, *json),
        },
        BenchCommand::Plan(arguments) => plan::run(arguments),
        BenchCommand::Module(arguments) => module::run(arguments),
        BenchCommand::Torch(arguments) => torch::run(arguments),
    }
}
