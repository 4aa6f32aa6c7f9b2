//! `hotloop evaluate --suite`: many policies on many tasks, in one table.

pub(super) mod cell;
mod file;
pub(super) mod page;
mod rows;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use hotloop_flow::Task;

use super::contestant::{self, Contestant};
use super::session::{Session, scope};
use super::timing::{self, Asked};
use crate::cli::evaluate::{EvaluateArgs, Stages};
use crate::cmd::judge::load;
use crate::failure::{Failure, Status};
use crate::judging::Judging;
use crate::output::{say, say_json};
use crate::progress::Progress;
use crate::runs;
use crate::stop::Stop;
use cell::{Cell, Cells};
use file::{PolicyEntry, SuiteFile};
use rows::Sheet;

/// One policy of the suite, ready to be asked.
struct Entrant<'a> {
    entry: &'a PolicyEntry,
    arguments: EvaluateArgs,
    contestant: Contestant,
}

/// Evaluates the suite in `file` into the folder `out`.
pub(super) fn run(given: &EvaluateArgs, file: &Path, out: &Path) -> Result<Status, Failure> {
    let suite = SuiteFile::read(file)?;
    let tasks: Vec<Arc<Task>> = suite
        .tasks
        .iter()
        .map(|name| Ok(Arc::new(load(name)?)))
        .collect::<Result<_, Failure>>()?;
    let entrants = entrants(&suite, given)?;
    for entrant in &entrants {
        tasks
            .iter()
            .try_for_each(|task| entrant.contestant.check(task))?;
    }
    let cells = Cells::open(out)?;
    let mut sheet = Sheet::new(suite.title(file));
    let stop = Stop::listen()?;
    let ended = all(&suite, &entrants, &tasks, &cells, &mut sheet, &stop);
    for (name, text) in [
        ("table.md", sheet.markdown()),
        ("table.csv", sheet.csv()),
        ("table.json", sheet.json()),
        ("index.html", page::page(&sheet)),
    ] {
        cell::write(&out.join(name), &text)?;
    }
    if !given.json {
        say(&sheet.table().render());
        say(&format!(
            "\n{}\nThe page: {}",
            rows::FOOT,
            out.join("index.html").display()
        ));
    }
    match ended {
        _ if stop.asked() => Ok(Status::Interrupted),
        ended => ended.map(|()| Status::Fine),
    }
}

fn entrants<'a>(suite: &'a SuiteFile, given: &EvaluateArgs) -> Result<Vec<Entrant<'a>>, Failure> {
    let entrant = |entry| {
        let arguments = suite.arguments(entry, given)?;
        Ok(Entrant {
            entry,
            contestant: contestant::called(&arguments, &entry.name)?,
            arguments,
        })
    };
    suite.policy.iter().map(entrant).collect()
}

/// Fills the sheet: kept cells first, then those that are missing, policy by policy.
fn all(
    suite: &SuiteFile,
    entrants: &[Entrant<'_>],
    tasks: &[Arc<Task>],
    cells: &Cells,
    sheet: &mut Sheet,
    stop: &Stop,
) -> Result<(), Failure> {
    let Some(first) = entrants.first() else {
        return Ok(());
    };
    let quiet = first.arguments.json;
    let progress = Progress::bar(entrants.len() * tasks.len(), !quiet);
    progress.message("preparing the machine".to_owned());
    let bench = runs::bench_for(
        &first.contestant.config,
        crate::settings::languages(tasks.iter().map(Arc::as_ref)),
        &scope(&first.arguments),
    )?;
    let mut judging = Judging::over(bench, stop.clone());
    let devices: BTreeSet<String> = tasks
        .iter()
        .map(|task| {
            judging
                .facts_of(task.spec.language)
                .device
                .name()
                .to_owned()
        })
        .collect();
    sheet.machine = devices.into_iter().collect::<Vec<_>>().join(", ");
    let missing = kept(suite, entrants, tasks, cells, &judging, sheet);
    progress.answered(entrants.len() * tasks.len() - missing.len());
    let mut seeds: Vec<Asked> = Vec::new();
    let mut loaded: Option<(&str, Box<dyn hotloop_flow::Policy>)> = None;
    for (entrant, task, key) in missing {
        let name = entrant.contestant.name.as_str();
        if loaded.as_ref().is_none_or(|(has, _)| *has != name) {
            // The last one goes first: two models may not fit side by side.
            drop(loaded.take());
            progress.message(format!("loading {name}"));
            loaded = Some((name, runs::policy(&entrant.contestant.config, stop)?));
        }
        let Some((_, policy)) = &mut loaded else {
            continue;
        };
        let known = seeds.iter().position(|asked| asked.task.hash == task.hash);
        let at = known.unwrap_or(seeds.len());
        if at == seeds.len() {
            seeds.push(timing::seed(&mut judging, task)?);
        }
        progress.message(format!("{name} answers {}", task.spec.name));
        let arguments = asked_for(suite, entrant, task);
        let mut session = Session {
            arguments: &arguments,
            keep: None,
            stop: stop.clone(),
            lines: Vec::new(),
        };
        let hidden = Progress::hidden();
        let asked = &seeds[at];
        let line = session.one(
            &entrant.contestant,
            policy.as_mut(),
            asked,
            &mut judging,
            &hidden,
        )?;
        if stop.asked() {
            return Ok(());
        }
        progress.judged(None);
        let cell = Cell::of(&line, asked.seed.seconds);
        cells.put(&key, &cell)?;
        if quiet && !progress.aside(|| say_json(&cell)) {
            return Ok(());
        }
        sheet.add(cell);
    }
    Ok(())
}

/// Puts the cells that are kept on the sheet. Returns the others, with their keys.
fn kept<'a>(
    suite: &SuiteFile,
    entrants: &'a [Entrant<'a>],
    tasks: &'a [Arc<Task>],
    cells: &Cells,
    judging: &Judging,
    sheet: &mut Sheet,
) -> Vec<(&'a Entrant<'a>, &'a Arc<Task>, String)> {
    let mut missing = Vec::new();
    for entrant in entrants {
        for task in tasks {
            let arguments = &asked_for(suite, entrant, task);
            let facts = judging.facts_of(task.spec.language);
            let key = cell::key(entrant.entry, &entrant.contestant, arguments, task, &facts);
            match cells.get(&key) {
                Some(cell) => sheet.add(cell),
                None => missing.push((entrant, task, key)),
            }
        }
    }
    missing
}

/// The flags for one task. A paper's preset asks the last stage alone, whose number depends on the
/// task.
fn asked_for(suite: &SuiteFile, entrant: &Entrant<'_>, task: &Task) -> EvaluateArgs {
    let mut arguments = entrant.arguments.clone();
    if suite.asks_last_stage() {
        let last = task.spec.stages.last().number().to_string();
        arguments.stage = Stages::These(vec![last]);
    }
    arguments
}
