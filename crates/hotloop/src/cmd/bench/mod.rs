//! `hotloop bench`: measurements of the bench itself.

mod aa;
mod jobs;
mod plain;
mod throughput;
mod variants;

use crate::cli::{BenchArgs, BenchCommand};
use crate::failure::{Failure, Status};

pub(crate) fn run(arguments: &BenchArgs) -> Result<Status, Failure> {
    match &arguments.command {
        BenchCommand::Throughput { count, json } => throughput::run(*count as usize, *json),
        BenchCommand::Aa { count, json } => aa::run(*count, *json),
    }
}
