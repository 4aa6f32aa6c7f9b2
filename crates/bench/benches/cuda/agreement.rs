//! Whether this bench reads the times that plain events and NVIDIA's profiler read.

use std::path::Path;
use std::process::Command;

use hotloop_bench::LocalBench;
use hotloop_flow::statistics::median;

use crate::crowd::{self, detail};
use crate::steadiness::{Case, cases};
use crate::{Asked, Ended, settings};

const PLAIN: &str = include_str!("plain.cu");
/// Judgements of one candidate.
const JUDGEMENTS: usize = 5;
/// Runs of the program with plain events, and runs that the profiler sees.
const RUNS: &str = "30";
const PROFILED: &str = "5";

pub(crate) fn run(asked: &Asked) -> Ended {
    let mut bench = LocalBench::start(settings()?)?;
    let folder = std::env::temp_dir().join(format!("hotloop-plain-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let table = cases(asked)?
        .iter()
        .try_for_each(|case| compare(&mut bench, case, &folder));
    std::fs::remove_dir_all(&folder)?;
    table
}

fn compare(bench: &mut LocalBench, case: &Case, folder: &Path) -> Ended {
    let mut judged = Vec::new();
    for _ in 0..JUDGEMENTS {
        let reply = crowd::judge(bench, std::slice::from_ref(&case.entry), |_| {})?.remove(0);
        let measured = reply.as_ref().ok().and_then(|it| it.verdict.measured());
        let Some(measured) = measured else {
            println!("{}: {}", case.name, detail(&reply));
            return Ok(());
        };
        judged.push(measured.seconds);
    }
    let judged = median(&judged);
    let program = build(case, folder)?;
    let length = case.length.to_string();
    let plain: f64 = said(Command::new(&program).args([&length, RUNS]))?
        .trim()
        .parse()?;
    let against = |seconds: f64| {
        let off = (judged / seconds - 1.0) * 100.0;
        format!("{:9.2} us ({off:+.2} %)", seconds * 1e6)
    };
    let profiled = match profile(&program, &length) {
        Ok(seconds) => against(seconds),
        Err(why) => why.to_string(),
    };
    println!(
        "{:24} judged {:9.2} us; plain events {}; profiler {profiled}",
        case.name,
        judged * 1e6,
        against(plain)
    );
    Ok(())
}

fn build(case: &Case, folder: &Path) -> Result<std::path::PathBuf, Box<dyn std::error::Error>> {
    let source = case.entry.candidate.as_ref().map_err(String::as_str)?;
    let (candidate, plain) = (folder.join("candidate.cu"), folder.join("plain.cu"));
    std::fs::write(&candidate, source.source())?;
    std::fs::write(&plain, PLAIN)?;
    let program = folder.join("plain");
    said(
        Command::new("nvcc")
            .args(["-O3", "-arch=native", "-DCANDIDATE=\"candidate.cu\""])
            .arg(format!("-D{}", case.of))
            .arg(&plain)
            .arg("-o")
            .arg(&program),
    )?;
    Ok(program)
}

/// The median of the kernels' durations by `ncu`, in seconds. The clocks stay as they are.
fn profile(program: &Path, length: &str) -> Result<f64, Box<dyn std::error::Error>> {
    let told = said(
        Command::new("ncu")
            .args([
                "--clock-control",
                "none",
                "--metrics",
                "gpu__time_duration.sum",
            ])
            .args([
                "--kernel-name",
                "regex:relu_fast|matmul",
                "--csv",
                "--print-units",
                "base",
            ])
            .arg(program)
            .args([length, PROFILED]),
    )?;
    let nanoseconds: Vec<f64> = told
        .lines()
        .filter(|line| line.contains("gpu__time_duration"))
        .filter_map(|line| line.rsplit('"').nth(1)?.replace(',', "").parse().ok())
        .collect();
    if nanoseconds.is_empty() {
        let first = told.lines().find(|line| line.contains("ERR"));
        return Err(first.unwrap_or("it names no kernel").to_owned().into());
    }
    Ok(median(&nanoseconds) * 1e-9)
}

/// What a command prints, if it succeeds.
fn said(command: &mut Command) -> Result<String, Box<dyn std::error::Error>> {
    let name = command.get_program().to_string_lossy().into_owned();
    let done = command
        .output()
        .map_err(|error| format!("{name}: {error}"))?;
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    if done.status.success() {
        return Ok(text);
    }
    let complaint = String::from_utf8_lossy(&done.stderr).into_owned();
    let all = format!("{text}{complaint}");
    let line = all.lines().find(|line| line.to_lowercase().contains("err"));
    let line = line.or(all.lines().last()).unwrap_or_default();
    Err(format!("{name}: {}: {line}", done.status).into())
}
