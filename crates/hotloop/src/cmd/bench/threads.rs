//! What the bench reports against a plain in-process timing, at several numbers of threads.

use std::path::Path;

use hotloop_bench::{Care, survey};
use hotloop_flow::statistics::median;
use hotloop_flow::verdict::Measured;
use serde::Serialize;

use super::{job, matmul, plain, variants};
use crate::cli::Omitted;
use crate::failure::{Failure, Status};
use crate::judging::Judging;
use crate::output::table::Table;
use crate::output::{self, number, say, say_json};
use crate::progress::Progress;
use crate::stop::Stop;

/// Timed in-process runs.
const RUNS: u32 = 400;
/// Rotations in process that come apart: as many as the samples of a judgement, about.
const APART: u32 = 15;
/// Input sets that the in-process runs rotate over at least. They rotate over as many as the bench
/// gives to one run, so that the caches are in the same state.
const SETS_MIN: u32 = 2;

/// One way to judge.
#[derive(Debug, Clone)]
pub(super) struct Way {
    name: String,
    omit: Vec<Care>,
    run_s: Option<f64>,
}

/// The bench as it is, then what was asked for besides.
pub(super) fn ways(omit: &[Omitted], run_ms: &[u32]) -> Vec<Way> {
    let plain = Way {
        name: String::new(),
        omit: Vec::new(),
        run_s: None,
    };
    let less = omit.iter().map(|omitted| Way {
        name: format!("without {}", omitted.names),
        omit: omitted.cares.clone(),
        ..plain.clone()
    });
    let longer = run_ms.iter().map(|ms| Way {
        name: format!("runs of {ms} ms"),
        run_s: Some(f64::from(*ms) * 1e-3),
        ..plain.clone()
    });
    std::iter::once(plain.clone())
        .chain(less)
        .chain(longer)
        .collect()
}

/// One number of threads, judged in one way.
#[derive(Debug, Serialize)]
struct Comparison {
    threads: u32,
    /// What is different from the bench as it is.
    #[serde(skip_serializing_if = "String::is_empty")]
    way: String,
    /// A call in the fastest rotation over all sets, as the bench reports one in its fastest run.
    in_process_s: f64,
    in_process_median_s: f64,
    /// The same where every rotation comes after a while of something else, as the bench's runs do.
    in_process_apart_s: f64,
    bench_s: f64,
    bench_median_s: f64,
    /// How much more the bench reports, and how much more than rotations that come apart take.
    difference: f64,
    difference_apart: f64,
    gflops: f64,
    /// Input sets that the in-process runs rotate over.
    sets: u32,
    quiet: usize,
    judged: usize,
    /// The share of the cores' time that a host gave to others meanwhile.
    stolen: f64,
}

/// Measures and prints.
pub(super) fn run(
    threads: &[u32],
    count: u32,
    ways: &[Way],
    json: bool,
) -> Result<Status, Failure> {
    let cores = survey::physical_cores() as u32;
    let wanted: Vec<u32> = if threads.is_empty() {
        [1, 2, 4, 8, 16]
            .into_iter()
            .filter(|threads| *threads <= cores)
            .collect()
    } else {
        threads.to_vec()
    };
    if let Some(too_many) = wanted.iter().find(|threads| **threads > cores) {
        let there = output::count(cores as usize, "core");
        return Err(Failure::user(format!(
            "{too_many} threads need more than this machine has: {there}"
        )));
    }
    let stop = Stop::listen()?;
    let (candidate, source) = variants::expert();
    let folder = tempfile::tempdir().map_err(|error| Failure::machine(error.to_string()))?;
    let progress = Progress::bar(wanted.len() * count as usize * ways.len(), !json);
    let mut comparisons = Vec::new();
    for threads in wanted {
        let side = Side {
            source,
            threads,
            folder: folder.path(),
        };
        match compare(&side, ways, count, &stop, &progress)? {
            Some(some) => comparisons.extend(some),
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

/// What runs in process, and where.
struct Side<'a> {
    source: &'a str,
    threads: u32,
    folder: &'a Path,
}

/// A bench that judges in one way, and what came of it.
struct Trial<'a> {
    way: &'a Way,
    judging: Judging,
    /// Input sets that the in-process runs rotate over.
    sets: u32,
    inside: Vec<f64>,
    inside_medians: Vec<f64>,
    inside_apart: Vec<f64>,
    timings: Vec<Measured>,
}

/// In turns, so that a spell of noise meets all.
fn compare(
    side: &Side<'_>,
    ways: &[Way],
    count: u32,
    stop: &Stop,
    progress: &Progress,
) -> Result<Option<Vec<Comparison>>, Failure> {
    let task = matmul()?;
    let cores = survey::slot_cores(side.threads as usize);
    let (ticks, stolen) = survey::stolen();
    let mut trials = Vec::new();
    for way in ways {
        let mut settings = crate::settings()?;
        settings.how.threads = side.threads;
        settings.omit.clone_from(&way.omit);
        settings.team_run_s = way.run_s.unwrap_or(settings.team_run_s);
        let mut judging = Judging::start(settings, stop.clone())?;
        // The first one measures the machine's roof too, and tells the number of sets.
        let Some(first) = judging.judge_one(job(&task, side.source)?)? else {
            return Ok(None);
        };
        let sets = first
            .verdict
            .measured()
            .map_or(1, |measured| measured.timing.calls)
            .max(SETS_MIN);
        trials.push(Trial::new(way, judging, sets));
    }
    for _ in 0..count {
        for trial in &mut trials {
            let timed = plain::Timed {
                sets: trial.sets,
                runs: RUNS,
                apart: APART,
                threads: side.threads,
            };
            let in_process = || plain::judge(side.folder, side.source, timed);
            let numbers = pinned(&cores, in_process)?.numbers;
            let [_, middle, fastest, apart] = numbers[..] else {
                return Err(Failure::machine(
                    "the in-process program printed no numbers",
                ));
            };
            trial.inside.push(fastest);
            trial.inside_medians.push(middle);
            trial.inside_apart.push(apart);
            let Some(judgement) = trial.judging.judge_one(job(&task, side.source)?)? else {
                return Ok(None);
            };
            progress.judged(Some(judgement.verdict.label()));
            trial.timings.extend(judgement.verdict.measured().cloned());
        }
    }
    let stolen = stolen_since(ticks, stolen);
    trials
        .iter()
        .map(|trial| trial.told(side.threads, stolen))
        .collect::<Result<_, _>>()
        .map(Some)
}

impl<'a> Trial<'a> {
    fn new(way: &'a Way, judging: Judging, sets: u32) -> Self {
        let (inside, inside_medians, inside_apart) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            way,
            judging,
            sets,
            inside,
            inside_medians,
            inside_apart,
            timings: Vec::new(),
        }
    }

    fn told(&self, threads: u32, stolen: f64) -> Result<Comparison, Failure> {
        let timings = &self.timings;
        if timings.is_empty() {
            return Err(Failure::machine(
                "the expert candidate was never judged correct",
            ));
        }
        let middle =
            |of: fn(&Measured) -> f64| median(&timings.iter().map(of).collect::<Vec<f64>>());
        let (bench_s, in_process_s) = (middle(|measured| measured.seconds), median(&self.inside));
        let in_process_apart_s = median(&self.inside_apart);
        Ok(Comparison {
            threads,
            way: self.way.name.clone(),
            in_process_s,
            in_process_median_s: median(&self.inside_medians),
            in_process_apart_s,
            bench_s,
            bench_median_s: middle(|measured| measured.timing.median_s),
            difference: bench_s / in_process_s - 1.0,
            difference_apart: bench_s / in_process_apart_s - 1.0,
            gflops: middle(|measured| measured.gflops().unwrap_or(0.0)),
            sets: self.sets,
            quiet: timings
                .iter()
                .filter(|measured| measured.timing.quiet)
                .count(),
            judged: timings.len(),
            stolen,
        })
    }
}

fn stolen_since(ticks: u64, stolen: u64) -> f64 {
    let (ticks_now, stolen_now) = survey::stolen();
    stolen_now.saturating_sub(stolen) as f64 / ticks_now.saturating_sub(ticks).max(1) as f64
}

/// Does `work` in a thread that is pinned to `cores`, and so are the processes it starts.
fn pinned<T: Send>(
    cores: &[usize],
    work: impl FnOnce() -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    let pinned = || {
        survey::pin_to_cores(cores)
            .map_err(|error| Failure::machine(format!("cores of one slot: {error}")))?;
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
        .right("apart")
        .right("bench us")
        .right("median")
        .right("difference")
        .right("from apart")
        .right("GFLOPS")
        .right("sets")
        .right("quiet")
        .right("stolen")
        .left("");
    let us = |seconds: f64| format!("{:.1}", seconds * 1e6);
    for one in comparisons {
        table.row([
            one.threads.to_string(),
            us(one.in_process_s),
            us(one.in_process_median_s),
            us(one.in_process_apart_s),
            us(one.bench_s),
            us(one.bench_median_s),
            format!("{:+.1} %", one.difference * 100.0),
            format!("{:+.1} %", one.difference_apart * 100.0),
            number(one.gflops),
            one.sets.to_string(),
            format!("{}/{}", one.quiet, one.judged),
            format!("{:.1} %", one.stolen * 100.0),
            one.way.clone(),
        ]);
    }
    format!(
        "matmul, {candidate}: a call of the fastest rotation over all input sets in process, of the fastest where each comes after \
         a while of something else (apart), and by the bench\n\n{}",
        table.render()
    )
}
