//! `hotloop bench torch`: how long torch itself takes for problems of `KernelBench`.

mod record;

use std::time::Duration;

use hotloop_bench::torch::{Asked, Times, TorchPython, Worker, WorkerFacts};
use hotloop_flow::statistics::{mean, median};

use super::lines;
use super::problems::{self, Named};
use crate::cli::torch::TorchArgs;
use crate::failure::{Failure, Status};
use crate::output::table::Table;
use crate::output::{count, number, say, say_json, seconds};
use crate::progress::Progress;
use record::Record;

pub(super) fn run(arguments: &TorchArgs) -> Result<Status, Failure> {
    let mut named = Vec::new();
    for task in &arguments.tasks {
        named.extend(problems::named(task, arguments.kernelbench.as_deref())?);
    }
    let python = TorchPython::find(arguments.python.as_deref())?;
    let mut worker = {
        let what = format!("starting torch {}", python.torch);
        let _progress = Progress::spinner(what, !arguments.json);
        Worker::start(python, &arguments.device)?
    };
    let facts = worker.facts().clone();
    let (known, mut out) = match &arguments.out {
        Some(path) => {
            let (known, file) = lines::open::<Record>(path)?;
            (known, Some((file, path.as_path())))
        }
        None => (Vec::new(), None),
    };
    let mut records = Vec::new();
    let progress = Progress::bar(named.len(), !arguments.json);
    for problem in &named {
        progress.message(problem.name.clone());
        let wanted = Record::wanted(problem, &facts, arguments);
        let record = if let Some(known) = known.iter().find(|known| known.answers(&wanted)) {
            known.clone()
        } else {
            let measured = measure(&mut worker, problem, wanted, arguments)?;
            if let Some((file, path)) = &mut out {
                lines::write(file, path, &measured)?;
            }
            measured
        };
        progress.answered(1);
        if arguments.json {
            progress.aside(|| say_json(&record));
        }
        records.push(record);
    }
    drop(progress);
    if !arguments.json {
        say(&text(&records, &facts));
    }
    Ok(Status::Fine)
}

fn measure(
    worker: &mut Worker,
    problem: &Named,
    mut record: Record,
    arguments: &TorchArgs,
) -> Result<Record, Failure> {
    let asked = Asked {
        compiled: !arguments.eager_only,
        seed: arguments.seed,
        limit: Duration::from_secs(arguments.limit),
    };
    match worker.measure(&problem.source, asked)? {
        Ok(baselines) => record.baselines = Some(baselines),
        Err(why) => record.why = Some(why),
    }
    Ok(record)
}

fn text(records: &[Record], facts: &WorkerFacts) -> String {
    let mut table = Table::new()
        .left("problem")
        .right("eager")
        .right("compiled")
        .right("times")
        .right("error in floats");
    for record in records {
        let Some(baselines) = &record.baselines else {
            let why = record.why.as_deref().unwrap_or_default();
            table.row([record.task.as_str(), "-", "-", "-", "-"]);
            table.below(format!("  {why}"));
            continue;
        };
        let (eager, compiled) = record.sides();
        let side = |times: Option<Times>| times.map_or("-".to_owned(), |it| seconds(it.median_s));
        let ratio = eager
            .zip(compiled)
            .map(|(eager, fast)| eager.median_s / fast.median_s);
        let error = baselines.reference.got().and_then(|got| got.error);
        table.row([
            record.task.clone(),
            side(eager),
            side(compiled),
            ratio.map_or("-".to_owned(), number),
            error.map_or("-".to_owned(), |error| format!("{error:.1e}")),
        ]);
        for why in record.reasons() {
            table.below(format!("  {why}"));
        }
    }
    let threads = facts
        .threads
        .map(|threads| format!(" with {}", count(threads as usize, "thread")));
    format!(
        "{}\n\n{}torch {} on {}{}, TF32 {}. Times: eager over compiled. \
         Error: floats against doubles, in parts of the largest number.",
        table.render(),
        summary(records),
        facts.torch,
        facts.hardware,
        threads.unwrap_or_default(),
        if facts.tf32 { "on" } else { "off" },
    )
}

/// What each level takes.
fn summary(records: &[Record]) -> String {
    let mut levels: Vec<&str> = records.iter().filter_map(Record::level).collect();
    levels.sort_unstable();
    levels.dedup();
    if levels.is_empty() {
        return String::new();
    }
    let mut table = Table::new()
        .left("level")
        .right("measured")
        .right("median eager")
        .right("mean eager")
        .right("median compiled")
        .right("mean compiled")
        .right("times, geometric mean");
    for level in levels {
        let of_level = || {
            records
                .iter()
                .filter(|record| record.level() == Some(level))
        };
        let sides: Vec<_> = of_level().map(Record::sides).collect();
        let eager: Vec<f64> = sides.iter().filter_map(|it| Some(it.0?.median_s)).collect();
        let compiled: Vec<f64> = sides.iter().filter_map(|it| Some(it.1?.median_s)).collect();
        let ratios: Vec<f64> = sides
            .iter()
            .filter_map(|(eager, fast)| {
                Some((eager.as_ref()?.median_s / fast.as_ref()?.median_s).ln())
            })
            .collect();
        let shown = |values: &[f64], of: fn(&[f64]) -> f64| {
            if values.is_empty() {
                "-".to_owned()
            } else {
                seconds(of(values))
            }
        };
        let times = if ratios.is_empty() {
            "-".to_owned()
        } else {
            number(mean(&ratios).exp())
        };
        table.row([
            level.to_owned(),
            format!("{} of {}", eager.len(), of_level().count()),
            shown(&eager, median),
            shown(&eager, mean),
            shown(&compiled, median),
            shown(&compiled, mean),
            times,
        ]);
    }
    format!("{}\n\n", table.render())
}
