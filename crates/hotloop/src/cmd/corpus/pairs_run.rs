//! `hotloop corpus pairs-run`: whether the sides of pairs are equal, and how fast each is.

use std::sync::Arc;

use hotloop_bench::Settings;
use hotloop_corpus::pairs::{self, Built, Harness, HarnessError, Ran, Record, RunError, Runs};
use hotloop_flow::{BenchError, Device, Job, JobId, Label, Language, MachineFacts, Verdict};
use serde_json::json;

use crate::cli::pairs::PairsRunArgs;
use crate::failure::{Failure, Status};
use crate::judging::Judging;
use crate::output::table::Table;
use crate::output::{complain, count, say, say_json, seconds};
use crate::progress::Progress;
use crate::settings;
use crate::stop::Stop;

pub(super) fn run(arguments: &PairsRunArgs) -> Result<Status, Failure> {
    let built = pairs::read(&arguments.folder).map_err(|error| {
        Failure::user(error.to_string()).hint("name a folder that `hotloop corpus pairs` wrote")
    })?;
    let harnesses = harnesses(arguments)?;
    let stop = Stop::listen()?;
    let settings = Settings {
        languages: vec![Language::Cuda],
        ..settings::own()?
    };
    let mut judging = Judging::start(settings, stop.clone())?;
    let facts = judging.facts_of(Language::Cuda);
    let device = name(&facts);
    let runs = Runs {
        harnesses: &harnesses,
        rounds: usize::from(arguments.rounds),
        keep_slower: arguments.keep_slower,
        machine: &facts.class,
        device: &device,
    };
    let fitting = built.records.iter();
    let fitting = fitting.filter(|record| runs.harness(record).is_some());
    let pairs = fitting.count();
    if pairs == 0 {
        return Err(Failure::user("no harness fits any of the folder's pairs")
            .hint("name harnesses of your own with --harness; docs/pairs.md says what one holds"));
    }
    if !matches!(facts.device, Device::Gpu { .. }) {
        return without_gpu(&built, &runs, &mut judging);
    }
    let progress = Progress::bar(pairs, !arguments.json);
    let mut judge = |job: Job| -> Result<Verdict, Failure> {
        let judgement = judging.judge_one(job)?;
        judgement
            .map(|judgement| judgement.verdict)
            .ok_or_else(Failure::interrupted)
    };
    let told = |record: &Record| {
        progress.answered(1);
        progress.message(named(record));
    };
    let ended = runs.of_folder(&arguments.folder, &mut judge, &told);
    drop(progress);
    let built = ended.map_err(|error| match error {
        RunError::File(error) => Failure::user(error.to_string()).of_file(error.kind()),
        RunError::Judging(failure) => failure,
    })?;
    if arguments.json {
        say_json(&json!({ "pairs": lines(&built), "runs": built.summary.runs }));
    } else {
        say(&shown(&built));
    }
    Ok(Status::Fine)
}

/// The user's harnesses come first, so that they replace those that come with hotloop.
fn harnesses(arguments: &PairsRunArgs) -> Result<Vec<Harness>, Failure> {
    let failed = |error: HarnessError| {
        Failure::user(error.to_string()).hint("docs/pairs.md says what a harness holds")
    };
    let mut found = Vec::new();
    for folder in &arguments.harness {
        let own = Harness::below(folder).map_err(failed)?;
        if own.is_empty() {
            let what = format!("{}: no folder in it holds a pair.toml", folder.display());
            return Err(Failure::user(what).hint("docs/pairs.md says what a harness holds"));
        }
        found.extend(own);
    }
    found.extend(Harness::shipped().map_err(failed)?);
    Ok(found)
}

fn name(facts: &MachineFacts) -> String {
    match &facts.device {
        Device::Gpu { name, .. } => format!("{name}, {}", facts.compiler),
        Device::Cpu { name, .. } => name.clone(),
    }
}

/// What can be known without a GPU: which sides are refused or do not compile. Nothing is written.
fn without_gpu(built: &Built, runs: &Runs<'_>, judging: &mut Judging) -> Result<Status, Failure> {
    let mut jobs = Vec::new();
    let mut names = Vec::new();
    let mut broken = Vec::new();
    for record in &built.records {
        let Some(harness) = runs.harness(record) else {
            continue;
        };
        for (side, candidate) in ["slow", "fast"].into_iter().zip(harness.candidates(record)) {
            match candidate {
                Ok(candidate) => jobs.push(Job {
                    id: JobId(names.len() as u64),
                    task: Arc::clone(&harness.task),
                    candidate,
                    stage: None,
                }),
                Err(why) => broken.push(format!("{} ({side}): {why}", named(record))),
            }
            names.push(format!("{} ({side})", named(record)));
        }
    }
    let sides = names.len();
    let mut why: Option<BenchError> = None;
    for reply in judging.replies(jobs)? {
        match reply.judged {
            Ok(judgement) => {
                let (label, detail) = (judgement.verdict.label(), judgement.verdict.detail());
                broken.push(format!("{}: {label}: {detail}", names[reply.id.0 as usize]));
            }
            Err(error) => {
                why.get_or_insert(error);
            }
        }
    }
    broken.sort();
    for line in &broken {
        complain(line);
    }
    let failure = why.map_or_else(|| Failure::machine("there is no GPU"), Failure::from);
    let what = format!(
        "no pair was run, and nothing was written: {} of {sides} sides need a GPU; the first says: {}",
        sides - broken.len(),
        failure.what()
    );
    Err(failure.about(what))
}

fn named(record: &Record) -> String {
    let file = record.file.rsplit('/').next().unwrap_or_default();
    format!("{}/{file}", record.benchmark)
}

fn lines(built: &Built) -> Vec<serde_json::Value> {
    let line = |record: &Record| json!({ "benchmark": record.benchmark, "file": record.file, "run": record.run });
    built.records.iter().map(line).collect()
}

fn shown(built: &Built) -> String {
    let mut table = Table::new()
        .left("pair")
        .left("harness")
        .right("slow")
        .right("fast")
        .right("times as fast")
        .left("mark");
    for record in &built.records {
        let pair = named(record);
        let Some(ran) = &record.run else {
            table.row([pair.as_str(), "none", "", "", "", "not run"]);
            continue;
        };
        table.row(row(pair, ran));
        for (side, told) in [("slow", &ran.slow), ("fast", &ran.fast)] {
            if told.verdict != Label::Correct {
                table.below(format!("{side}: {}: {}", told.verdict, told.detail));
            }
        }
    }
    let runs = built.summary.runs.clone().unwrap_or_default();
    format!(
        "{}\n{} run, {} with equal results, {} without a harness, {} in no chat: {}",
        table.render(),
        count(runs.run, "pair"),
        runs.equal,
        runs.without_harness,
        runs.dropped,
        runs.machines.into_values().collect::<Vec<_>>().join("; ")
    )
}

fn row(pair: String, ran: &Ran) -> [String; 6] {
    let time = |side: &pairs::RunSide| side.seconds.map_or_else(String::new, seconds);
    let speedup = ran.speedup.map_or_else(String::new, |it| {
        let quiet = if it.quiet < it.rounds {
            ", not quiet"
        } else {
            ""
        };
        format!("{:.2} [{:.2}, {:.2}]{quiet}", it.value, it.low, it.high)
    });
    [
        pair,
        ran.harness.clone(),
        time(&ran.slow),
        time(&ran.fast),
        speedup,
        ran.mark.name().to_owned(),
    ]
}
