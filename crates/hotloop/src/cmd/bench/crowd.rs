//! Judged candidates per second on the whole machine, all submitted at once.

use std::sync::Arc;
use std::time::Instant;

use hotloop_flow::statistics::mean;
use hotloop_flow::{JobId, Label};
use serde::Serialize;

use super::jobs::job;
use crate::failure::{Failure, Status};
use crate::judging::Judging;
use crate::output::{count, say, say_json};
use crate::progress::Progress;
use crate::stop::Stop;

/// How many candidates the machine judges.
#[derive(Debug, Serialize)]
struct Crowd {
    task: String,
    candidates: usize,
    correct: usize,
    seconds: f64,
    per_s: f64,
    /// Mean seconds of one candidate until it could run, and of running.
    compile_s: f64,
    run_s: f64,
}

/// Judges `number` candidates that differ from the task's seed by a comment. Nothing is cached.
pub(super) fn run(name: &str, number: usize, json: bool) -> Result<Status, Failure> {
    let task = Arc::new(crate::cmd::judge::load(name)?);
    let stop = Stop::listen()?;
    let mut settings = crate::settings::own()?;
    settings.languages = crate::settings::languages([task.as_ref()]);
    settings.reuse = false;
    let mut judging = Judging::start(settings, stop)?;
    // The first candidate pays for one-time work, so it does not count.
    if judging.judge_one(job(&task, &task.seed)?)?.is_none() {
        return Err(Failure::interrupted());
    }
    let mut jobs = Vec::new();
    for index in 0..number {
        let mut job = job(&task, &format!("// candidate {index}\n{}", task.seed))?;
        job.id = JobId(index as u64);
        jobs.push(job);
    }
    let progress = Progress::bar(number, !json);
    let mut came = Vec::new();
    let begin = Instant::now();
    judging.judge(jobs, &progress, |_, judged| came.push(judged))?;
    let seconds = begin.elapsed().as_secs_f64();
    drop(progress);
    if judging.stopped() {
        return Err(Failure::interrupted());
    }
    let judged = came.into_iter().collect::<Result<Vec<_>, _>>()?;
    let is_correct = |label: Label| matches!(label, Label::Correct | Label::Suspect);
    let of = |part: fn(&hotloop_flow::Judgement) -> f64| {
        mean(&judged.iter().map(part).collect::<Vec<_>>())
    };
    let result = Crowd {
        task: name.to_owned(),
        candidates: number,
        correct: judged
            .iter()
            .filter(|it| is_correct(it.verdict.label()))
            .count(),
        seconds,
        per_s: number as f64 / seconds,
        compile_s: of(|it| it.seconds.compile),
        run_s: of(|it| it.seconds.run),
    };
    if json {
        say_json(&result);
    } else {
        say(&format!(
            "{} from the seed of {}, nothing cached: {:.1} a second, {} correct\nEach takes {:.0} ms until it \
             can run, and {:.1} ms to run.",
            count(number, "candidate"),
            result.task,
            result.per_s,
            result.correct,
            result.compile_s * 1e3,
            result.run_s * 1e3,
        ));
    }
    Ok(Status::Fine)
}
