//! The tables of a plan: all runs compared, each run against its control, and the output of jobs
//! with `show`.

use std::path::{Path, PathBuf};

use hotloop_run::RunState;
use hotloop_run::experiment::plan::Job;
use hotloop_run::experiment::record::{Record, State};
use hotloop_run::report::{Report, against, text};

use crate::cmd::report;
use crate::failure::Failure;
use crate::output::say;

/// Lines of a failed job's error that are shown.
const LINES: usize = 5;

/// Prints the tables and writes the report of all runs that have started.
pub(super) fn write(jobs: &[Job], out: &Path, json: bool) -> Result<(), Failure> {
    let begun = |job: &&Job| {
        job.resume.is_some() && RunState::read(&job.folder).is_ok_and(|run| run.started.is_some())
    };
    let runs: Vec<&Job> = jobs.iter().filter(begun).collect();
    let folders: Vec<PathBuf> = runs.iter().map(|job| job.folder.clone()).collect();
    let page = if folders.is_empty() {
        None
    } else {
        Some(report::write(&folders, out)?)
    };
    if json {
        return Ok(());
    }
    if let Some(page) = page {
        let report = report::read(&folders)?;
        say(&format!("\n{}", text::table(&report).trim_end()));
        let pairs = pairs(&runs, &report);
        if !pairs.is_empty() {
            say(&format!("\n{}", pairs.trim_end()));
        }
        say(&format!("\nreport: {}", page.display()));
    }
    for job in jobs {
        if job.show {
            let said = read(&job.folder.join("stdout.txt"));
            if !said.is_empty() {
                say(&format!("\n{}:\n{}", job.name, said.trim_end()));
            }
        }
        let record = Record::read(&job.folder).ok().flatten();
        if record.is_some_and(|record| record.state == State::Failed) {
            let said = read(&job.folder.join("stderr.txt"));
            let lines: Vec<&str> = said.lines().collect();
            let last = lines[lines.len().saturating_sub(LINES)..].join("\n");
            say(&format!("\n{} failed:\n{last}", job.name));
        }
    }
    Ok(())
}

fn pairs(runs: &[&Job], report: &Report) -> String {
    let place = |name: &str| runs.iter().position(|job| job.name == name);
    let pairs = runs.iter().enumerate().filter_map(|(at, job)| {
        let control = place(job.against.as_deref()?)?;
        Some((&report.runs[at], &report.runs[control]))
    });
    against::table(pairs)
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
}
