//! `hotloop completions` and `hotloop man`: what shells and `man` know of the program.

use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::failure::{Failure, Status};
use crate::output::say;

/// Prints the completions of a shell.
pub(crate) fn completions(shell: Shell) -> Status {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "hotloop", &mut script);
    say(String::from_utf8_lossy(&script).trim_end());
    Status::Fine
}

/// Writes `hotloop.1`, `hotloop-judge.1` and so on.
pub(crate) fn pages(out: &Path) -> Result<Status, Failure> {
    let unwritable = |error: std::io::Error| Failure::machine(error.to_string());
    fs_err::create_dir_all(out).map_err(unwritable)?;
    clap_mangen::generate_to(Cli::command(), out).map_err(unwritable)?;
    say(&format!("{}", out.display()));
    Ok(Status::Fine)
}
