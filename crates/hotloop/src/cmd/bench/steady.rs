//! Judges the seed of a task many times and reports how much its time varies.

use hotloop_flow::statistics::{mean, variation};
use hotloop_flow::verdict::Measured;
use serde::Serialize;

use super::jobs::job;
use crate::failure::{Failure, Status};
use crate::judging::Judging;
use crate::output::table::Table;
use crate::output::{count, say, say_json, seconds};
use crate::progress::Progress;
use crate::stop::Stop;

/// How much the time of a seed varies.
#[derive(Debug, Serialize)]
struct Steadiness {
    task: String,
    judged: usize,
    correct: usize,
    quiet: usize,
    seconds: f64,
    cv: f64,
    /// The same by the fastest sample, and by the paper's estimator.
    min_s: f64,
    min_cv: f64,
    paper_s: f64,
    paper_cv: f64,
    /// The mean variation of the samples of one judgement.
    within_cv: f64,
    rate: Option<String>,
    each: Vec<f64>,
}

pub(super) fn run(name: &str, times: u32, json: bool) -> Result<Status, Failure> {
    let task = std::sync::Arc::new(crate::cmd::judge::load(name)?);
    let stop = Stop::listen()?;
    let mut settings = crate::settings::own()?;
    settings.languages = crate::settings::languages([task.as_ref()]);
    let mut judging = Judging::start(settings, stop)?;
    let progress = Progress::bar(times as usize, !json);
    let mut measured: Vec<Measured> = Vec::new();
    let mut judged = 0;
    for _ in 0..times {
        let Some(judgement) = judging.judge_one(job(&task, &task.seed)?)? else {
            break;
        };
        judged += 1;
        progress.judged(Some(judgement.verdict.label()));
        measured.extend(judgement.verdict.measured().cloned());
    }
    let stopped = judging.stopped();
    drop((progress, judging));
    let each = |of: fn(&Measured) -> f64| measured.iter().map(of).collect::<Vec<f64>>();
    let (times, fastest) = (each(|it| it.seconds), each(|it| it.timing.min_s));
    let paper = each(|it| it.timing.paper_s);
    let result = Steadiness {
        task: name.to_owned(),
        judged,
        correct: measured.len(),
        quiet: measured.iter().filter(|it| it.timing.quiet).count(),
        seconds: mean(&times),
        cv: variation(&times),
        min_s: mean(&fastest),
        min_cv: variation(&fastest),
        paper_s: mean(&paper),
        paper_cv: variation(&paper),
        within_cv: mean(&each(|it| it.timing.cv)),
        rate: measured
            .first()
            .and_then(Measured::rate)
            .map(|rate| rate.to_string()),
        each: times,
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

fn text(result: &Steadiness) -> String {
    let mut table = Table::new()
        .left("estimator")
        .right("a call")
        .right("varies");
    for (name, mean, cv) in [
        ("deciding", result.seconds, result.cv),
        ("fastest sample", result.min_s, result.min_cv),
        ("paper (1 + mean of 3)", result.paper_s, result.paper_cv),
    ] {
        let varies = format!("{:.2} %", cv * 100.0);
        table.row([name.to_owned(), seconds(mean), varies]);
    }
    format!(
        "the seed of {}: judged {}, {} correct, {} quiet{}\n\n{}\n\nWithin one judgement samples vary by {:.2} %.",
        result.task,
        count(result.judged, "time"),
        result.correct,
        result.quiet,
        result
            .rate
            .as_ref()
            .map_or_else(String::new, |rate| format!(", {rate}")),
        table.render(),
        result.within_cv * 100.0,
    )
}
