//! The plain pipeline: compile a whole program, run it, and let it time and check itself.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::failure::Failure;

/// The rest of the program around a candidate.
const HARNESS: &str = include_str!("plain.c");

/// The plain pipeline's time in seconds.
pub(super) struct Plain {
    /// The compiler.
    pub(super) compile_s: f64,
    /// The program, from start to end.
    pub(super) run_s: f64,
}

/// Compiles `source` with the harness and runs it on one thread.
pub(super) fn judge(folder: &Path, source: &str) -> Result<Plain, Failure> {
    let (file, program) = (folder.join("plain.c"), folder.join("plain"));
    let failed = |what: &str| Failure::machine(format!("the plain pipeline: {what}"));
    fs_err::write(&file, format!("{source}\n{HARNESS}"))
        .map_err(|error| failed(&error.to_string()))?;
    let begin = Instant::now();
    let compiled = Command::new("gcc")
        .args(["-O3", "-march=native", "-fopenmp", "-std=gnu17", "-w"])
        .arg(&file)
        .args(["-lm", "-o"])
        .arg(&program)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| {
            failed(&format!("gcc could not be started: {error}"))
                .hint("apt-get install -y gcc libc6-dev")
        })?;
    let compile_s = begin.elapsed().as_secs_f64();
    if !compiled.status.success() {
        let said = String::from_utf8_lossy(&compiled.stderr);
        return Err(failed(&format!(
            "gcc: {}",
            said.lines().next().unwrap_or("failed")
        )));
    }
    let begin = Instant::now();
    let ran = Command::new(&program)
        .env("OMP_NUM_THREADS", "1")
        .env("OMP_DYNAMIC", "false")
        .env("OMP_PROC_BIND", "true")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(&error.to_string()))?;
    let run_s = begin.elapsed().as_secs_f64();
    if !ran.status.success() {
        return Err(failed("a built-in candidate is wrong"));
    }
    Ok(Plain { compile_s, run_s })
}
