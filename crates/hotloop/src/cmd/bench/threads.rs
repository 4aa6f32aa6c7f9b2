//! What the bench reports against a plain in-process timing, at several numbers of threads.

use std::path::Path;

use bench::survey;
use flow::statistics::median;
use flow::verdict::Measured;
use serde::Serialize;

use super::{job, matmul, plain, variants};
use crate::failure::{Failure, Status};
use crate::judging::Judging;
use crate::output::table::Table;
use crate::output::{number, say, say_json};
use crate::progress::Progress;
use crate::stop::Stop;

/// Timed in-process runs.
const RUNS: u32 = 400;
/// Input sets that the in-process runs rotate over at least. They rotate over as many as the bench
/// gives to one run, so that the caches are in the same state.
const SETS_MIN: u32 = 2;

/// One number of threads.
#[derive(Debug, Serialize)]
struct Comparison {
    threads: u32,
    /// A call in the fastest rotation over all sets, as the bench reports one in its fastest run.
    in_process_s: f64,
    in_process_median_s: f64,
    bench_s: f64,
    bench_median_s: f64,
    /// How much more the bench reports.
    difference: f64,
    gflops: f64,
    /// Input sets that the in-process runs rotate over.
    sets: u32,
    quiet: usize,
    judged: usize,
    /// The share of the cores' time that a host gave to others meanwhile.
    stolen: f64,
}

/// Measures and prints.
pub(super) fn run(threads: &[u32], count: u32, json: bool) -> Result<Status, Failure> {
    let cores = survey::physical_cores() as u32;
    let wanted: Vec<u32> = if threads.is_empty() {
        [1, 2, 4, 8, 16].into_iter().filter(|threads| *threads <= cores).collect()
    } else {
        threads.to_vec()
    };
    if let Some(too_many) = wanted.iter().find(|threads| **threads > cores) {
        return Err(Failure::user(format!("{too_many} threads need more than the {cores} cores of this machine")));
    }
    let stop = Stop::listen()?;
    let (candidate, source) = variants::expert();
    let folder = tempfile::tempdir().map_err(|error| Failure::machine(error.to_string()))?;
    let progress = Progress::bar(wanted.len() * count as usize, !json);
    let mut comparisons = Vec::new();
    for threads in wanted {
        match compare(source, threads, count, folder.path(), &stop, &progress)? {
            Some(comparison) => comparisons.push(comparison),
            None => return Err(Failure::interrupted()),
        }
    }
    drop(progress);
    if json {
        say_json(&comparisons);
    } else {
        say(&text(candidate, &comparisons));
    }
    Ok(Status::Fine)
}

/// In turns, so that a spell of noise meets both.
fn compare(
    source: &str,
    threads: u32,
    count: u32,
    folder: &Path,
    stop: &Stop,
    progress: &Progress,
) -> Result<Option<Comparison>, Failure> {
    let task = matmul()?;
    let settings = bench::Settings { threads, ..crate::settings()? };
    let mut judging = Judging::start(settings, stop.clone())?;
    let cores = survey::slot_cores(threads as usize);
    let (ticks, stolen) = survey::stolen();
    let (mut inside, mut inside_medians, mut timings) = (Vec::new(), Vec::new(), Vec::new());
    // The first one measures the machine's roof too, and tells the number of sets.
    let Some(first) = judging.judge_one(job(&task, source)?)? else { return Ok(None) };
    let sets = first.verdict.measured().map_or(1, |measured| measured.timing.calls).max(SETS_MIN);
    for _ in 0..count {
        let numbers = pinned(&cores, || plain::judge(folder, source, sets, RUNS, threads))?.numbers;
        let [_, middle, fastest] = numbers[..] else {
            return Err(Failure::machine("the in-process program printed no numbers"));
        };
        inside.push(fastest);
        inside_medians.push(middle);
        let Some(judgement) = judging.judge_one(job(&task, source)?)? else { return Ok(None) };
        progress.judged(Some(judgement.verdict.label()));
        timings.extend(judgement.verdict.measured().cloned());
    }
    if timings.is_empty() {
        return Err(Failure::machine("the expert candidate was never judged correct"));
    }
    let middle = |of: fn(&Measured) -> f64| median(&timings.iter().map(of).collect::<Vec<f64>>());
    let (bench_s, in_process_s) = (middle(|measured| measured.seconds), median(&inside));
    Ok(Some(Comparison {
        threads,
        in_process_s,
        in_process_median_s: median(&inside_medians),
        bench_s,
        bench_median_s: middle(|measured| measured.timing.median_s),
        difference: bench_s / in_process_s - 1.0,
        gflops: middle(|measured| measured.gflops),
        sets,
        quiet: timings.iter().filter(|measured| measured.timing.quiet).count(),
        judged: timings.len(),
        stolen: stolen_since(ticks, stolen),
    }))
}

fn stolen_since(ticks: u64, stolen: u64) -> f64 {
    let (ticks_now, stolen_now) = survey::stolen();
    stolen_now.saturating_sub(stolen) as f64 / ticks_now.saturating_sub(ticks).max(1) as f64
}

/// Does `work` in a thread that is pinned to `cores`, and so are the processes it starts.
fn pinned<T: Send>(cores: &[usize], work: impl FnOnce() -> Result<T, Failure> + Send) -> Result<T, Failure> {
    let pinned = || {
        survey::pin_to_cores(cores).map_err(|error| Failure::machine(format!("cores of one slot: {error}")))?;
        work()
    };
    std::thread::scope(|scope| scope.spawn(pinned).join())
        .unwrap_or_else(|_| Err(Failure::machine("the in-process timing panicked")))
}

fn text(candidate: &str, comparisons: &[Comparison]) -> String {
    let mut table = Table::new()
        .right("threads")
        .right("in process us")
        .right("median")
        .right("bench us")
        .right("median")
        .right("difference")
        .right("GFLOPS")
        .right("sets")
        .right("quiet")
        .right("stolen");
    let us = |seconds: f64| format!("{:.1}", seconds * 1e6);
    for one in comparisons {
        table.row([
            one.threads.to_string(),
            us(one.in_process_s),
            us(one.in_process_median_s),
            us(one.bench_s),
            us(one.bench_median_s),
            format!("{:+.1} %", one.difference * 100.0),
            number(one.gflops),
            one.sets.to_string(),
            format!("{}/{}", one.quiet, one.judged),
            format!("{:.1} %", one.stolen * 100.0),
        ]);
    }
    format!(
        "matmul, {candidate}: a call of the fastest rotation over all input sets in process, and by the bench\n\n{}",
        table.render()
    )
}
