//! Compares the bench with a plain in-process timing of the same candidate, at several numbers of
//! threads.
//!
//! ```text
//! cargo bench -p hotloop-bench --bench threads                   1, 2, 4, 8, 16 threads as far as there are cores
//! cargo bench -p hotloop-bench --bench threads -- 16 --count 3   these numbers of threads, each measured three times
//! ```

#![expect(clippy::print_stdout, reason = "a program that reports")]

use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use hotloop_bench::{LocalBench, Settings, survey, tasks};
use hotloop_flow::statistics::median;
use hotloop_flow::verdict::Measured;
use hotloop_flow::{Bench, Candidate, How, Job, JobId, Task};

/// Timed in-process runs.
const RUNS: u32 = 400;
/// Separate in-process rotations: about as many as a judgement has samples.
const APART: u32 = 15;
/// The in-process runs rotate over as many input sets as one run of the bench, so that the caches
/// are in the same state. This is the minimum.
const SETS_MIN: u32 = 2;

const AVX512: &str = include_str!("../tests/honest/matmul-avx512-8x24.c");
const AVX2: &str = include_str!("../tests/honest/matmul-avx2-4x8.c");

fn main() -> Result<(), Box<dyn Error>> {
    let (mut wanted, mut count, mut words) = (Vec::new(), 5, std::env::args().skip(1));
    while let Some(word) = words.next() {
        match word.as_str() {
            "--count" => count = words.next().ok_or("--count needs a number")?.parse()?,
            // Cargo passes it to every bench.
            "--bench" => {}
            number => wanted.push(number.parse()?),
        }
    }
    let cores = survey::physical_cores() as u32;
    if wanted.is_empty() {
        wanted.extend(
            [1, 2, 4, 8, 16]
                .into_iter()
                .filter(|threads| *threads <= cores),
        );
    }
    println!(
        "{:>7} {:>10} {:>10} {:>10} {:>10} {:>10} {:>11} {:>5} {:>6} {:>7}",
        "threads",
        "in process",
        "apart",
        "bench",
        "median",
        "difference",
        "from apart",
        "sets",
        "quiet",
        "stolen"
    );
    for threads in wanted {
        if threads > cores {
            return Err(format!("{threads} threads need more than the {cores} cores here").into());
        }
        compare(threads, count)?;
    }
    Ok(())
}

/// Times both sides in turns, so that noise hits both, and prints one row.
fn compare(threads: u32, count: u32) -> Result<(), Box<dyn Error>> {
    let source = if std::arch::is_x86_feature_detected!("avx512f") {
        AVX512
    } else {
        AVX2
    };
    let task = Arc::new(tasks::load("matmul")?);
    let folder = tempfile::tempdir()?;
    let cores = survey::slot_cores(threads as usize);
    let stolen = survey::stolen();
    let settings = Settings::new(env!("CARGO_BIN_EXE_bench-roles").into());
    let how = How {
        threads,
        ..How::default()
    };
    let mut bench = LocalBench::start(settings.with(how))?;
    // The first judgement also measures the machine's roof and shows the number of sets in a run.
    let sets = judge(&mut bench, &task, source)?.timing.calls.max(SETS_MIN);
    let program = compile(folder.path(), source)?;
    let (mut inside, mut inside_apart, mut judged) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..count {
        let [fastest, apart] = in_process(&program, sets, threads, &cores)?;
        inside.push(fastest);
        inside_apart.push(apart);
        judged.push(judge(&mut bench, &task, source)?);
    }
    let of = |what: fn(&Measured) -> f64| median(&judged.iter().map(what).collect::<Vec<f64>>());
    let (in_process_s, apart_s, bench_s) = (
        median(&inside),
        median(&inside_apart),
        of(|one| one.seconds),
    );
    let us = |seconds: f64| format!("{:.1} us", seconds * 1e6);
    let more = |than: f64| format!("{:+.1} %", (bench_s / than - 1.0) * 100.0);
    println!(
        "{threads:>7} {:>10} {:>10} {:>10} {:>10} {:>10} {:>11} {sets:>5} {:>6} {:>6.1}%",
        us(in_process_s),
        us(apart_s),
        us(bench_s),
        us(of(|one| one.timing.median_s)),
        more(in_process_s),
        more(apart_s),
        format!(
            "{}/{}",
            judged.iter().filter(|one| one.timing.quiet).count(),
            judged.len()
        ),
        stolen_since(stolen) * 100.0,
    );
    Ok(())
}

fn judge(
    bench: &mut LocalBench,
    task: &Arc<Task>,
    source: &str,
) -> Result<Measured, Box<dyn Error>> {
    let candidate = Candidate::from_source(source.as_bytes(), task)?;
    bench.submit(vec![Job {
        id: JobId(0),
        task: Arc::clone(task),
        candidate,
        stage: None,
    }])?;
    loop {
        if let Some(reply) = bench.next(Duration::from_millis(100))? {
            let verdict = reply.judged?.verdict;
            let measured = verdict.measured().cloned();
            return measured.ok_or_else(|| format!("the candidate is {}", verdict.label()).into());
        }
    }
}

fn compile(folder: &Path, source: &str) -> Result<std::path::PathBuf, Box<dyn Error>> {
    let (file, program) = (folder.join("threads.c"), folder.join("threads"));
    std::fs::write(&file, format!("{source}\n{}", include_str!("threads.c")))?;
    let gcc = Command::new("gcc")
        .args(["-O3", "-march=native", "-fopenmp", "-std=gnu17", "-w"])
        .arg(&file)
        .args(["-lm", "-o"])
        .arg(&program)
        .status()?;
    if gcc.success() {
        Ok(program)
    } else {
        Err("gcc failed".into())
    }
}

/// The seconds of a call in the fastest rotation over all sets, and in the fastest separate
/// rotation.
fn in_process(
    program: &Path,
    sets: u32,
    threads: u32,
    cores: &[usize],
) -> Result<[f64; 2], Box<dyn Error>> {
    let mut command = Command::new(program);
    command
        .args([sets, RUNS, APART].map(|number| number.to_string()))
        .env("OMP_NUM_THREADS", threads.to_string())
        .env("OMP_DYNAMIC", "false")
        // As on a timing slot, every thread keeps its core.
        .env("OMP_PROC_BIND", "true");
    // A process inherits the cores of the thread that starts it.
    let pinned = || survey::pin_to_cores(cores).and_then(|()| command.output());
    let ran = std::thread::scope(|scope| scope.spawn(pinned).join())
        .map_err(|_| "the timing panicked")??;
    let said = String::from_utf8_lossy(&ran.stdout);
    let numbers: Vec<f64> = said
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    match numbers[..] {
        [fastest, apart] if ran.status.success() => Ok([fastest, apart]),
        _ => Err("the in-process program found its results wrong".into()),
    }
}

/// The share of the cores' time that the host gave to others since `(ticks, stolen)`.
fn stolen_since((ticks, stolen): (u64, u64)) -> f64 {
    let (ticks_now, stolen_now) = survey::stolen();
    stolen_now.saturating_sub(stolen) as f64 / ticks_now.saturating_sub(ticks).max(1) as f64
}
