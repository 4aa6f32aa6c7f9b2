//! The plain way: compile a whole program, run it, let it time and check itself.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::failure::Failure;

/// The rest of the program around a candidate.
const HARNESS: &str = include_str!("plain.c");

/// What the plain pipeline took, and what its program said.
pub(super) struct Plain {
    /// Seconds of the compiler.
    pub(super) compile_s: f64,
    /// Seconds of the program, start to end.
    pub(super) run_s: f64,
    /// The numbers that it printed.
    pub(super) numbers: Vec<f64>,
}

/// How a program times itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timed {
    /// Input sets that runs rotate over.
    pub(super) sets: u32,
    pub(super) runs: u32,
    /// Rotations that do not come right behind another.
    pub(super) apart: u32,
    pub(super) threads: u32,
}

/// Compiles `source` with the harness and runs it.
pub(super) fn judge(folder: &Path, source: &str, timed: Timed) -> Result<Plain, Failure> {
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
        .args([timed.sets, timed.runs, timed.apart].map(|number| number.to_string()))
        .env("OMP_NUM_THREADS", timed.threads.to_string())
        .env("OMP_DYNAMIC", "false")
        // As on a timing slot, every thread keeps its core.
        .env("OMP_PROC_BIND", "true")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(&error.to_string()))?;
    let run_s = begin.elapsed().as_secs_f64();
    if !ran.status.success() {
        return Err(failed("a built-in candidate is wrong"));
    }
    let said = String::from_utf8_lossy(&ran.stdout);
    let numbers = said
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    Ok(Plain {
        compile_s,
        run_s,
        numbers,
    })
}
