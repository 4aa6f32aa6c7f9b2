//! `hotloop report`: turns run directories into a page, figures and tables.

use std::path::{Path, PathBuf};

use hotloop_run::report::page::Paged;
use hotloop_run::report::{Report, csv, text};
use hotloop_run::store::StoreError;

use crate::cli::learn::ReportArgs;
use crate::failure::{Failure, Status};
use crate::output::{say, say_json};

/// Reports on runs.
pub(crate) fn run(arguments: &ReportArgs) -> Result<Status, Failure> {
    let report = read(&arguments.run)?;
    if arguments.json {
        say_json(&report);
        return Ok(Status::Fine);
    }
    if arguments.csv {
        say(csv::steps(&report).trim_end());
        return Ok(Status::Fine);
    }
    let out = match (&arguments.out, arguments.run.as_slice()) {
        (Some(out), _) => Some(out.as_path()),
        (None, [only]) => Some(only.as_path()),
        (None, _) => None,
    };
    say(text::table(&report).trim_end());
    if let Some(out) = out {
        say(&format!(
            "report: {}",
            write(&arguments.run, out)?.display()
        ));
    }
    Ok(Status::Fine)
}

/// Reads runs, writes their report and returns the path of its page.
pub(crate) fn write(runs: &[PathBuf], out: &Path) -> Result<PathBuf, Failure> {
    let paged = Paged::read(runs).map_err(|error| unreadable(&error))?;
    page(&paged, out)
}

/// Reads run directories, finished or not.
pub(crate) fn read(runs: &[PathBuf]) -> Result<Report, Failure> {
    Report::read(runs).map_err(|error| unreadable(&error))
}

/// The failure for a run directory that cannot be read.
pub(crate) fn unreadable(error: &StoreError) -> Failure {
    let hint = match error {
        StoreError::NoRun(_) => "`hotloop train RUN.toml` starts one",
        _ => error.hint(),
    };
    Failure::user(error.to_string()).hint(hint)
}

fn page(report: &Paged, out: &Path) -> Result<PathBuf, Failure> {
    report.write(out).map_err(|error| {
        Failure::user(format!(
            "{}: the report cannot be written: {error}",
            out.display()
        ))
        .hint("name another folder with --out")
        .of_file(error.kind())
    })?;
    Ok(out.join("report.html"))
}
