//! The real binary on the real machine, and the invariants of the repository.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod api; // models behind an endpoint are asked
mod bench; // the bench measures itself
mod circles; // no modules of a crate import each other in a circle
mod cuda; // CUDA tasks on whatever machine this is
mod discover; // arms with equal budgets, and a verdict
mod evaluate; // policies side by side, programs beside the corpus
mod fleet; // many machines: processes, hosts behind ssh, jobs of Slurm
mod gym; // KernelGYM asks the service, and an emulated GPU judges
mod input; // whatever is given, there is a verdict or a clear error
mod judge; // what `hotloop judge` prints
mod model; // models are told, asked, trained and reported on
mod nano; // the nano policy writes, learns and can be made anew
mod notices; // what of others is in the program
mod pairs; // pairs, teachers and reviewers
mod pairs_run; // both sides of pairs on an emulated GPU
mod plan; // experiments from plan files
mod prose; // pages have short lines, short sentences and links that lead somewhere
mod pull; // models come from the hub
mod replay; // claims of a run, judged anew
mod serve; // the service of the real bench
mod stop; // Ctrl-C leaves nothing behind
mod sweep; // policies write answers to problems of KernelBench
mod task; // sound tasks pass the linter, others do not
mod tidy; // crate edges, file lengths, who prints, paths in documents
mod tune; // a tuning that falls apart
mod watch; // the live page in a real browser

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

/// The program, ready to be started.
fn hotloop(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hotloop"));
    command.args(arguments);
    command
}

/// Runs a program and returns its exit status, standard output and standard error.
fn ended(command: &mut Command) -> (i32, String, String) {
    let _turn = turn();
    let output: Output = command.stdin(std::process::Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap_or(-1),
        text(output.stdout),
        text(output.stderr),
    )
}

/// The output lines of a command with `--json`, which must succeed.
fn lines(arguments: &[&str]) -> Vec<Value> {
    let (status, out, error) = ended(&mut hotloop(arguments));
    assert_eq!(status, 0, "{arguments:?}: {out}{error}");
    assert_eq!(error, "", "nothing but data with --json");
    out.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Tests that judge take turns, because two benches on one machine would disturb each other's
/// timings.
fn turn() -> std::sync::MutexGuard<'static, ()> {
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    TURN.lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The repository's root.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}
