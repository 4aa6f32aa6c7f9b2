//! Judges one expert candidate many times and reports how much the result varies.

use hotloop_flow::statistics::{mean, variation};
use hotloop_flow::verdict::Measured;
use serde::Serialize;

use super::jobs::{job, matmul};
use super::variants;
use crate::failure::{Failure, Status};
use crate::judging::Judging;
use crate::output::table::Table;
use crate::output::{count, number, percent, say, say_json};
use crate::progress::Progress;
use crate::stop::Stop;

/// How much estimators vary.
#[derive(Debug, Serialize)]
struct Variation {
    candidate: &'static str,
    judged: usize,
    correct: usize,
    /// Judgements with enough quiet samples, which are accepted.
    accepted: usize,
    gated_gflops: f64,
    gated_cv: f64,
    /// Over all judgements, accepted or not.
    gated_cv_all: f64,
    /// The median of the quiet samples instead of the fastest, accepted judgements only.
    median_gflops: f64,
    median_cv: f64,
    paper_gflops: f64,
    paper_cv: f64,
    gflops: Vec<f64>,
    gflops_paper: Vec<f64>,
    quiet: Vec<bool>,
}

pub(super) fn run(count: u32, json: bool) -> Result<Status, Failure> {
    let task = matmul()?;
    let stop = Stop::listen()?;
    let (candidate, source) = variants::expert();
    let mut judging = Judging::start(crate::settings::own()?, stop)?;
    let progress = Progress::bar(count as usize, !json);
    let mut measured = Vec::new();
    let mut judged = 0;
    for _ in 0..count {
        let Some(judgement) = judging.judge_one(job(&task, source)?)? else {
            break;
        };
        judged += 1;
        progress.judged(Some(judgement.verdict.label()));
        measured.extend(judgement.verdict.measured().cloned());
    }
    let stopped = judging.stopped();
    drop((progress, judging));
    let gflops: Vec<f64> = measured.iter().filter_map(Measured::gflops).collect();
    let gflops_paper: Vec<f64> = measured.iter().filter_map(Measured::gflops_paper).collect();
    let quiet: Vec<bool> = measured
        .iter()
        .map(|measured| measured.timing.quiet)
        .collect();
    let accepted: Vec<f64> = gflops
        .iter()
        .zip(&quiet)
        .filter(|(_, quiet)| **quiet)
        .map(|(value, _)| *value)
        .collect();
    let of_median = |measured: &Measured| {
        Some(measured.gflops()? * measured.seconds / measured.timing.median_s)
    };
    let medians: Vec<f64> = measured
        .iter()
        .filter(|measured| measured.timing.quiet)
        .filter_map(of_median)
        .collect();
    let result = Variation {
        candidate,
        judged,
        correct: measured.len(),
        accepted: accepted.len(),
        gated_gflops: mean(&accepted),
        gated_cv: variation(&accepted),
        gated_cv_all: variation(&gflops),
        median_gflops: mean(&medians),
        median_cv: variation(&medians),
        paper_gflops: mean(&gflops_paper),
        paper_cv: variation(&gflops_paper),
        gflops,
        gflops_paper,
        quiet,
    };
    if json {
        say_json(&result);
    } else {
        say(&text(&result));
    }
    Ok(if stopped {
        Status::Interrupted
    } else {
        Status::Fine
    })
}

fn text(result: &Variation) -> String {
    let mut table = Table::new()
        .left("estimator")
        .right("judgements")
        .right("GFLOPS")
        .right("varies");
    let row = |name: &str, judgements: usize, gflops: f64, cv: f64| {
        [
            name.to_owned(),
            judgements.to_string(),
            number(gflops),
            format!("{:.2} %", cv * 100.0),
        ]
    };
    table.row(row(
        "gated, accepted",
        result.accepted,
        result.gated_gflops,
        result.gated_cv,
    ));
    table.row(row(
        "median of quiet samples",
        result.accepted,
        result.median_gflops,
        result.median_cv,
    ));
    table.row(row(
        "gated, all",
        result.correct,
        mean(&result.gflops),
        result.gated_cv_all,
    ));
    table.row(row(
        "paper (1 + mean of 3)",
        result.correct,
        result.paper_gflops,
        result.paper_cv,
    ));
    format!(
        "matmul, {}: judged {}, {} correct\n\n{}\n\n{} of the judgements were accepted.",
        result.candidate,
        count(result.judged, "time"),
        result.correct,
        table.render(),
        percent(result.accepted as f64 / result.judged.max(1) as f64),
    )
}
