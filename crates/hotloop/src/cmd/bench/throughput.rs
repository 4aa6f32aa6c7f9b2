//! Judged candidates per second on one core, compared with the plain pipeline in the same run.

use std::time::Instant;

use hotloop_flow::Label;
use hotloop_flow::statistics::{mean, median};
use serde::Serialize;

use super::jobs::{job, matmul};
use super::{plain, variants};
use crate::failure::{Failure, Status};
use crate::judging::Judging;
use crate::output::table::Table;
use crate::output::{say, say_json};
use crate::progress::Progress;
use crate::stop::Stop;

/// Where the seconds of one candidate go, on average.
#[derive(Debug, Default, Serialize)]
struct Throughput {
    candidates: usize,
    bench_per_s: f64,
    plain_per_s: f64,
    ratio: f64,
    bench_s: f64,
    bench_compile_s: f64,
    bench_verify_s: f64,
    bench_time_s: f64,
    plain_s: f64,
    plain_gcc_s: f64,
    plain_run_s: f64,
    /// The median time of the compiler alone, in the plain pipeline.
    gcc_median_s: f64,
}

pub(super) fn run(count: usize, json: bool) -> Result<Status, Failure> {
    let task = matmul()?;
    let stop = Stop::listen()?;
    let cores = hotloop_bench::survey::slot_cores(1);
    hotloop_bench::survey::pin_to_cores(&cores)
        .map_err(|error| Failure::machine(format!("one core alone: {error}")))?;
    let mut settings = crate::settings::own()?.like_the_paper();
    settings.jobs = 1;
    settings.reuse = false;
    let folder = tempfile::tempdir().map_err(|error| Failure::machine(error.to_string()))?;
    let mut judging = Judging::start(settings, stop)?;
    let progress = Progress::bar(count, !json);
    let (mut bench, mut plain) = (Vec::new(), Vec::new());
    // The first candidate pays for one-time work, so it does not count.
    for (index, source) in variants::candidates(count + 1).into_iter().enumerate() {
        let job = job(&task, &source)?;
        let begin = Instant::now();
        let Some(judgement) = judging.judge_one(job)? else {
            return Err(Failure::interrupted());
        };
        let total = begin.elapsed().as_secs_f64();
        if !matches!(judgement.verdict.label(), Label::Correct | Label::Suspect) {
            return Err(Failure::machine(format!(
                "a built-in candidate is {}",
                judgement.verdict.label()
            )));
        }
        let other = plain::judge(folder.path(), &source)?;
        if index > 0 {
            bench.push((total, judgement.seconds));
            plain.push(other);
            progress.judged(Some(judgement.verdict.label()));
        }
    }
    drop((progress, judging));
    let over = |value: &dyn Fn(&(f64, hotloop_flow::bench::Seconds)) -> f64| {
        mean(&bench.iter().map(value).collect::<Vec<_>>())
    };
    let gcc: Vec<f64> = plain.iter().map(|plain| plain.compile_s).collect();
    let runs: Vec<f64> = plain.iter().map(|plain| plain.run_s).collect();
    let bench_s = over(&|(total, _)| *total);
    let plain_s = mean(&gcc) + mean(&runs);
    let (compile, time) = (
        over(&|(_, seconds)| seconds.compile),
        over(&|(_, seconds)| seconds.run),
    );
    let result = Throughput {
        candidates: count,
        bench_per_s: 1.0 / bench_s,
        plain_per_s: 1.0 / plain_s,
        ratio: plain_s / bench_s,
        bench_s,
        bench_compile_s: compile,
        bench_verify_s: (bench_s - compile - time).max(0.0),
        bench_time_s: time,
        plain_s,
        plain_gcc_s: mean(&gcc),
        plain_run_s: mean(&runs),
        gcc_median_s: median(&gcc),
    };
    if json {
        say_json(&result);
    } else {
        say(&text(&result, cores[0]));
    }
    Ok(Status::Fine)
}

fn text(result: &Throughput, core: usize) -> String {
    let ms = |seconds: f64| format!("{:.1}", seconds * 1e3);
    let mut table = Table::new()
        .left("ms per candidate")
        .right("bench")
        .right("plain");
    table.row([
        "screen and compile".to_owned(),
        ms(result.bench_compile_s),
        ms(result.plain_gcc_s),
    ]);
    table.row([
        "verify".to_owned(),
        ms(result.bench_verify_s),
        String::new(),
    ]);
    table.row([
        "run and time".to_owned(),
        ms(result.bench_time_s),
        ms(result.plain_run_s),
    ]);
    table.row(["all".to_owned(), ms(result.bench_s), ms(result.plain_s)]);
    table.row([
        "per second".to_owned(),
        format!("{:.2}", result.bench_per_s),
        format!("{:.2}", result.plain_per_s),
    ]);
    format!(
        "{} distinct candidates, gcc -O3, 1 + 3 runs, nothing cached, core {core} alone\n\n{}\n\n\
         The bench judges {:.2} times as many. gcc alone takes {} ms (median).",
        result.candidates,
        table.render(),
        result.ratio,
        ms(result.gcc_median_s),
    )
}
