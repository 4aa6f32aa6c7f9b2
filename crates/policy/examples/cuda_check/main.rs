//! Checks the CUDA half against the CPU half, and measures it, on a machine with a GPU.
//!
//! ```text
//! cuda_check                       every section, each in a process of its own with a time limit
//! cuda_check SECTION...            some of them: device f32 bf16 train sample ways limits decode lora full 14b
//! cuda_check paces                 every way of decoding at batch 1, 16 and 64
//! cuda_check profile               where the time of a decode step and of a training step goes
//! cuda_check gguf MODEL [PROMPT]   greedy tokens of a real model, GPU beside CPU
//! cuda_check ... --json FILE       every measured row also as a JSON line, for `tests/cuda_speed.py --join`
//! cuda_check ... --models 7B,14B   what is measured, of 0.5B, 1.5B, 7B and 14B; a section has its own otherwise
//! ```
//!
//! Every section ends with a line `PASS` or `FAIL`. The exit code is 1 if any section failed. Tiny
//! models also run on `tests/cuda_emulator`, without a GPU. With `HOTLOOP_CUDA_SYNC=1` device
//! errors always name the right kernel.

#![expect(clippy::print_stdout, reason = "a command that reports")]

mod numerics;
mod sampling;
mod speed;
mod tiny;
mod ways;

use std::error::Error;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use hotloop_policy::Precision;
use hotloop_policy::cuda;

use crate::speed::Asked;

type Outcome = Result<(), Box<dyn Error>>;

/// Sections and their timeouts in seconds.
const SECTIONS: [(&str, u64); 11] = [
    ("device", 60),
    ("f32", 120),
    ("bf16", 120),
    ("train", 120),
    ("sample", 120),
    ("ways", 480),
    ("limits", 60),
    ("decode", 240),
    ("lora", 240),
    ("full", 240),
    ("14b", 180),
];

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "--run") {
        return inside(&arguments[1..]);
    }
    // The options are checked here and read again in the processes of sections.
    let options = arguments
        .iter()
        .position(|argument| argument.starts_with("--"))
        .unwrap_or(arguments.len());
    let options = arguments.split_off(options);
    if let Err(error) = Asked::from_options(&options) {
        println!("{error}");
        return ExitCode::FAILURE;
    }
    if arguments.first().is_some_and(|first| first == "gguf") {
        return outside(&[("gguf", 300)], &arguments[1..]);
    }
    if arguments.first().is_some_and(|first| first == "profile") {
        return outside(&[("profile", 120)], &[]);
    }
    if arguments.first().is_some_and(|first| first == "paces") {
        return outside(&[("paces", 300)], &options);
    }
    let chosen = |section: &&(&'static str, u64)| {
        arguments.is_empty() || arguments.iter().any(|a| a == section.0)
    };
    let sections: Vec<(&str, u64)> = SECTIONS.iter().filter(chosen).copied().collect();
    if sections.is_empty() {
        println!(
            "no such section; there are {:?} and gguf",
            SECTIONS.map(|section| section.0)
        );
        return ExitCode::FAILURE;
    }
    outside(&sections, &options)
}

/// Runs each section in a separate process, so that a hang or a crash does not affect the others.
fn outside(sections: &[(&str, u64)], rest: &[String]) -> ExitCode {
    let mut failed = Vec::new();
    for (section, seconds) in sections {
        println!("== {section}");
        let start = Instant::now();
        let passed = run_child(section, rest, Duration::from_secs(*seconds));
        let verdict = if passed { "PASS" } else { "FAIL" };
        println!(
            "{verdict} {section} ({:.1} s)\n",
            start.elapsed().as_secs_f64()
        );
        if !passed {
            failed.push(*section);
        }
    }
    if failed.is_empty() {
        println!("PASS all {} sections", sections.len());
        return ExitCode::SUCCESS;
    }
    println!("FAIL {failed:?}");
    ExitCode::FAILURE
}

fn run_child(section: &str, rest: &[String], limit: Duration) -> bool {
    let child = std::env::current_exe().and_then(|program| {
        Command::new(program)
            .arg("--run")
            .arg(section)
            .args(rest)
            .spawn()
    });
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            println!("cannot start: {error}");
            return false;
        }
    };
    let start = Instant::now();
    while start.elapsed() < limit {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => std::thread::sleep(Duration::from_millis(20)),
            Err(error) => println!("cannot wait: {error}"),
        }
    }
    println!("took more than {} s: ended", limit.as_secs());
    let _ = child.kill();
    let _ = child.wait();
    false
}

/// Runs one section here.
fn inside(arguments: &[String]) -> ExitCode {
    let measured = |measure: fn(&Asked) -> Outcome| measure(&Asked::from_options(&arguments[1..])?);
    let outcome = match arguments[0].as_str() {
        "device" => device(),
        "f32" => numerics::gradients(Precision::F32),
        "bf16" => numerics::gradients(Precision::Bf16),
        "train" => numerics::training(),
        "sample" => sampling::all(),
        "ways" => ways::all(),
        "paces" => measured(ways::paces),
        "limits" => sampling::limits(),
        "decode" => measured(speed::decode),
        "lora" => measured(|asked| speed::train(true, asked)),
        "full" => measured(|asked| speed::train(false, asked)),
        "14b" => measured(speed::fourteen),
        "profile" => speed::profile(),
        "gguf" => sampling::gguf(&arguments[1..]),
        other => Err(format!("no section {other}").into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn device() -> Outcome {
    for (library, present) in cuda::libraries() {
        println!("{library}: {}", if present { "found" } else { "not found" });
    }
    for precision in [Precision::Bf16, Precision::F32] {
        for dim in [64, 128] {
            let config = tiny::Kind::ALL[0].config_with_heads(dim);
            let engine = cuda::Engine::random(&config, None, precision)?;
            let facts = engine.facts()?;
            let (major, minor) = facts.capability;
            println!(
                "{}, compute capability {major}.{minor}, {precision:?} heads of {dim}: kernels \
                 compiled in {:.2?}",
                facts.name, facts.compile_time
            );
        }
    }
    Ok(())
}

/// Prints measured errors with their bounds, and records whether all passed.
#[derive(Default)]
struct Verdicts {
    failed: usize,
}

impl Verdicts {
    fn check(&mut self, what: &str, error: f64, bound: f64) {
        // NaN does not pass.
        let holds = error <= bound;
        let mark = if holds { "  " } else { "!!" };
        println!("{mark} {what:<58} {error:9.2e}  (bound {bound:.0e})");
        self.failed += usize::from(!holds);
    }

    fn done(&self) -> Outcome {
        if self.failed == 0 {
            Ok(())
        } else {
            Err(format!("{} values out of bounds", self.failed).into())
        }
    }
}

/// The norm of the difference over the norm.
fn relative(found: &[f32], wanted: &[f32]) -> f64 {
    assert_eq!(found.len(), wanted.len(), "two sizes");
    let square = |values: &mut dyn Iterator<Item = f64>| {
        values.map(|value| value * value).sum::<f64>().sqrt()
    };
    let difference = square(&mut found.iter().zip(wanted).map(|(a, b)| f64::from(a - b)));
    let norm = square(&mut wanted.iter().map(|b| f64::from(*b)));
    if norm == 0.0 {
        difference
    } else {
        difference / norm
    }
}
