//! Judges a C file as an answer to the task `matmul`; without a file, the task's own seed.
//!
//! `cargo run --release -p hotloop-bench --example judge [FILE]`
#![expect(clippy::print_stdout, reason = "an example is a program")]

use std::sync::Arc;
use std::time::Duration;

use hotloop_bench::{Settings, open, role, tasks};
use hotloop_flow::{Candidate, Job, JobId};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    role::play_if_asked();
    let task = Arc::new(tasks::load("matmul")?);
    let source = match std::env::args().nth(1) {
        Some(file) => std::fs::read(file)?,
        None => task.seed.clone().into_bytes(),
    };
    let candidate = Candidate::from_source(&source, &task)?;
    let mut bench = open(Settings::new(std::env::current_exe()?))?;
    bench.submit(vec![Job {
        id: JobId(0),
        task,
        candidate,
        stage: None,
    }])?;
    let reply = bench
        .next(Duration::from_mins(5))?
        .ok_or("no reply within five minutes")?;
    let verdict = reply.judged?.verdict;
    println!("{} {}", verdict.label(), verdict.detail());
    if let Some(measured) = verdict.measured() {
        println!("{:.3} ms a call", measured.seconds * 1e3);
    }
    Ok(())
}
