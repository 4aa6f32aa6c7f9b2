//! The papers' grids of runs, and the figures and tables made from them.

use std::path::{Path, PathBuf};

use hotloop_run::experiment;
use hotloop_run::experiment::grid::{self, Experiment, Progress, Setting};

use crate::cli::learn::ExperimentArgs;
use crate::cmd::{report, train};
use crate::failure::{Failure, Status};
use crate::output::say;
use crate::output::table::Table;
use crate::stop::Stop;

/// Runs a grid, or the rest of it.
pub(super) fn run(arguments: &ExperimentArgs) -> Result<Status, Failure> {
    let experiment = named(&arguments.experiment)?;
    let folder = arguments
        .out
        .clone()
        .unwrap_or_else(|| Path::new("runs").join(experiment.name));
    let settings = chosen(experiment, &arguments.only, &folder)?;
    if arguments.dry_run {
        list(experiment, &settings);
        return Ok(Status::Fine);
    }
    let stop = Stop::listen()?;
    for (setting, progress) in settings {
        if progress == Progress::Done {
            say(&format!("{}: done before", setting.name));
            continue;
        }
        let read = |sets: &[String]| setting.configure(arguments.scale, &folder, sets);
        let plan = train::plan(setting.name, &arguments.set, read)?;
        let ended = train::drive(&plan, &stop)?;
        if ended != Status::Fine {
            return Ok(ended);
        }
    }
    write(experiment, &folder)
}

fn named(name: &str) -> Result<Experiment, Failure> {
    grid::named(name).ok_or_else(|| {
        let names = grid::EXPERIMENTS.map(|known| format!("{} ({})", known.name, known.summary));
        Failure::user(format!("there is no experiment `{name}`")).hint(format!(
            "there are {}; a plan's name ends in .toml",
            names.join(" and ")
        ))
    })
}

/// The requested settings with their progress.
fn chosen(
    experiment: Experiment,
    only: &[String],
    folder: &Path,
) -> Result<Vec<(Setting, Progress)>, Failure> {
    let mut settings = experiment.progress(folder);
    if let Some(unknown) = only.iter().find(|name| {
        settings
            .iter()
            .all(|(setting, _)| setting.name != name.as_str())
    }) {
        return Err(
            Failure::user(format!("{} has no setting `{unknown}`", experiment.name)).hint(format!(
                "`hotloop experiment {} --dry-run` lists them",
                experiment.name
            )),
        );
    }
    settings.retain(|(setting, _)| only.is_empty() || only.iter().any(|name| name == setting.name));
    Ok(settings)
}

fn list(experiment: Experiment, settings: &[(Setting, Progress)]) {
    let mut table = Table::new().left("setting").left("state");
    for (setting, progress) in settings {
        let state = match progress {
            Progress::New => "not begun",
            Progress::Open => "begun",
            Progress::Done => "done",
        };
        table.row([setting.name, state]);
    }
    say(&format!(
        "{}: {}\n\n{}",
        experiment.name,
        experiment.summary,
        table.render()
    ));
}

/// Writes the paper's figures and tables for all finished runs.
fn write(experiment: Experiment, folder: &Path) -> Result<Status, Failure> {
    let done = experiment
        .progress(folder)
        .into_iter()
        .filter(|(_, progress)| *progress == Progress::Done);
    let runs: Vec<PathBuf> = done.map(|(setting, _)| folder.join(setting.name)).collect();
    let whole = report::read(&runs)?;
    let page = report::write(&runs, folder)?;
    for output in experiment::outputs(experiment.name, &whole) {
        let files = output.write(folder).map_err(|error| {
            Failure::user(format!(
                "{}: it cannot be written: {error}",
                folder.display()
            ))
            .of_file(error.kind())
        })?;
        if let Some(text) = output.text() {
            say(&format!("\n{}", text.trim_end()));
        }
        for file in files {
            say(&file.display().to_string());
        }
    }
    say(&format!("report: {}", page.display()));
    Ok(Status::Fine)
}
