//! Runs the jobs of a plan file one after the other within a budget. Finished jobs are never
//! repeated and interrupted runs continue, so the same command can be used after a kill.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Instant;

use clap::Parser as _;
use hotloop_run::experiment::plan::{Asked, Job, Plan, PlanText};
use hotloop_run::experiment::record::{Record, State};
use hotloop_run::experiment::schedule::{self, Decision, GRACE_S};
use hotloop_run::{Layered, RunState};
use serde_json::json;

use super::child::{self, Ended, Logs};
use super::progress::JobProgress;
use super::tables;
use crate::cli::learn::ExperimentArgs;
use crate::cli::{Cli, Command};
use crate::cmd::train;
use crate::failure::{Failure, Status};
use crate::output::table::Table;
use crate::output::{count, say, say_json};
use crate::stop::Stop;

/// Runs a plan, or the rest of it.
pub(super) fn run(arguments: &ExperimentArgs) -> Result<Status, Failure> {
    let file = Path::new(&arguments.experiment);
    let stem = file.file_stem().unwrap_or_default();
    let out = arguments
        .out
        .clone()
        .unwrap_or_else(|| Path::new("runs").join(stem));
    let plan = read(file, &out, arguments)?;
    let budget_s = arguments.budget.or(plan.budget_s).unwrap_or(f64::INFINITY);
    for job in &plan.jobs {
        if !stands(job)? {
            check(job)?;
        }
    }
    if arguments.dry_run {
        return foretell(&plan, budget_s, arguments.json);
    }
    let driven = drive(&plan, &out, budget_s, arguments.json)?;
    tables::write(&plan.jobs, &out, arguments.json)?;
    driven.drive.tell(&driven.done);
    Ok(driven.status)
}

/// Shows what would run.
pub(crate) fn foretell(plan: &Plan, budget_s: f64, json: bool) -> Result<Status, Failure> {
    forecast(&plan.jobs, &done(plan)?, budget_s, json);
    Ok(Status::Fine)
}

/// A plan as far as it came.
pub(crate) struct Driven<'a> {
    drive: Drive<'a>,
    done: BTreeSet<String>,
    pub(crate) status: Status,
}

/// Runs the jobs of a plan that are not done.
pub(crate) fn drive<'a>(
    plan: &'a Plan,
    out: &Path,
    budget_s: f64,
    json: bool,
) -> Result<Driven<'a>, Failure> {
    let mut done = done(plan)?;
    let drive = Drive {
        plan,
        budget_s,
        begin: Instant::now(),
        stop: Stop::listen()?,
        json,
    };
    fs_err::create_dir_all(out).map_err(|error| unwritable(&error))?;
    let _alone = alone(out)?;
    let worst = drive.all(&mut done)?;
    let status = if drive.stop.asked() {
        Status::Interrupted
    } else {
        worst
    };
    Ok(Driven {
        drive,
        done,
        status,
    })
}

/// The jobs that are done.
fn done(plan: &Plan) -> Result<BTreeSet<String>, Failure> {
    let mut done = BTreeSet::new();
    for job in &plan.jobs {
        if stands(job)? {
            done.insert(job.name.clone());
        }
    }
    Ok(done)
}

fn read(file: &Path, out: &Path, arguments: &ExperimentArgs) -> Result<Plan, Failure> {
    let text = fs_err::read_to_string(file).map_err(|error| {
        Failure::user(error.to_string()).hint("experiments/README.md explains how to write plans")
    })?;
    // Paths must be valid wherever a later call is made from.
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let asked = Asked {
        out: absolute(out),
        values: arguments.values.clone(),
        have: arguments
            .have
            .iter()
            .map(|(job, folder)| (job.clone(), absolute(Path::new(folder))))
            .collect(),
        only: arguments.only.clone(),
    };
    let text = PlanText { file, text: &text };
    Plan::read(text, &asked).map_err(|mistake| {
        Failure::user(mistake.to_string())
            .hint(
            "--let NAME=VALUE, --only JOB and --have JOB=FOLDER fill a plan; --dry-run shows its jobs; \
             experiments/README.md explains how to write plans",
        )
    })
}

/// Whether a job is done. A job that started with other commands is refused.
fn stands(job: &Job) -> Result<bool, Failure> {
    if job.have {
        return Ok(true);
    }
    let record = Record::read(&job.folder).map_err(|error| unwritable(&error))?;
    let Some(record) = record else {
        return own(job).map(|()| false);
    };
    if (record.state == State::Done || has_begun(job)) && !record.fits(job) {
        return Err(Failure::user(format!(
            "job `{}` started with other values than the plan has now",
            job.name
        ))
        .hint(format!(
            "choose another --out, or remove {}",
            job.folder.display()
        )));
    }
    Ok(record.state == State::Done)
}

/// Refuses a folder that holds something and no record, since only a record shows that a job made
/// it: what a job does not continue, it deletes.
fn own(job: &Job) -> Result<(), Failure> {
    if Record::may_have(&job.folder).map_err(|error| unwritable(&error))? {
        return Ok(());
    }
    let folder = job.folder.display();
    Err(Failure::user(format!(
        "job `{}`: {folder} exists, and no job made it (it holds no job.json)",
        job.name
    ))
    .hint(format!("choose another --out, or move {folder} away")))
}

/// Whether there is a run to continue.
fn has_begun(job: &Job) -> bool {
    job.resume.is_some() && job.folder.join("run.toml").exists()
}

/// Finds mistakes in a job's commands before anything runs.
fn check(job: &Job) -> Result<(), Failure> {
    for words in &job.commands {
        let program = std::iter::once("hotloop".to_owned());
        let parsed =
            Cli::try_parse_from(program.chain(words.iter().cloned())).map_err(|error| {
                Failure::user(format!(
                    "job `{}`: `{}`: {}",
                    job.name,
                    words.join(" "),
                    error.to_string().trim_end()
                ))
            })?;
        if let Command::Train(arguments) = parsed.command
            && let Some(file) = &arguments.file
        {
            let text = fs_err::read_to_string(file)
                .map_err(|error| Failure::user(format!("job `{}`: train: {error}", job.name)))?;
            Layered::read(Some((&file.display().to_string(), &text)), &arguments.set).map_err(
                |all| {
                    let failure = train::mistakes(&all);
                    let what = format!("job `{}`: {}", job.name, failure.what());
                    failure.about(what)
                },
            )?;
        }
    }
    Ok(())
}

fn forecast(jobs: &[Job], done: &BTreeSet<String>, budget_s: f64, json: bool) {
    let mut table = Table::new()
        .left("job")
        .right("begins after")
        .right("at most")
        .left("");
    let mut total_s = 0.0;
    for (job, told) in jobs.iter().zip(schedule::forecast(jobs, done, budget_s)) {
        let (state, why) = match &told.decision {
            Decision::Done => ("done", "done before".to_owned()),
            Decision::Run { limit_s } => {
                total_s += limit_s;
                ("runs", String::new())
            }
            Decision::LeftOut { why } => ("left-out", format!("left out: {why}")),
        };
        if json {
            say_json(&json!({
                "job": job.name, "state": state, "begins_s": told.begins_s, "seconds": job.seconds, "why": why,
                "commands": job.commands,
            }));
            continue;
        }
        table.row([
            job.name.clone(),
            format!("{:.0} s", told.begins_s),
            format!("{:.0} s", job.seconds),
            why,
        ]);
        if state == "runs" {
            for words in &job.commands {
                table.below(format!("hotloop {}", words.join(" ")));
            }
        }
    }
    if json {
        say_json(&json!({"jobs": jobs.len(), "seconds": total_s}));
        return;
    }
    let limit = if budget_s.is_finite() {
        format!(" of a budget of {budget_s:.0} s")
    } else {
        String::new()
    };
    say(&format!(
        "{}\n\n{}, at most {total_s:.0} s{limit}",
        table.render(),
        count(jobs.len(), "job")
    ));
}

/// Keeps other processes from driving the same folder while the file lives.
fn alone(out: &Path) -> Result<File, Failure> {
    let file = File::options()
        .create(true)
        .append(true)
        .open(out.join(".lock"))
        .map_err(|error| unwritable(&error))?;
    file.try_lock().map_err(|_| {
        Failure::user(format!(
            "{}: another process runs a plan there",
            out.display()
        ))
        .hint("wait for it, or choose another --out")
    })?;
    Ok(file)
}

fn unwritable(error: &std::io::Error) -> Failure {
    Failure::machine(error.to_string()).hint("choose another folder with --out")
}

/// One execution of a plan.
struct Drive<'a> {
    plan: &'a Plan,
    budget_s: f64,
    begin: Instant,
    stop: Stop,
    json: bool,
}

impl Drive<'_> {
    fn elapsed_s(&self) -> f64 {
        self.begin.elapsed().as_secs_f64()
    }

    /// Runs all jobs in order and returns the status of the first that failed.
    fn all(&self, done: &mut BTreeSet<String>) -> Result<Status, Failure> {
        let mut worst = Status::Fine;
        for (at, job) in self.plan.jobs.iter().enumerate() {
            if self.stop.asked() {
                break;
            }
            match schedule::decide(job, done, self.budget_s - self.elapsed_s()) {
                Decision::Done => self.say_of(job, "done", 0.0, "done before"),
                Decision::LeftOut { why } => {
                    self.say_of(job, "left-out", 0.0, &format!("left out: {why}"));
                }
                Decision::Run { limit_s } => {
                    let place = format!("{}/{} {}", at + 1, self.plan.jobs.len(), job.name);
                    let (state, status) = self.one(job, limit_s, place)?;
                    if state == State::Done {
                        done.insert(job.name.clone());
                    } else if state == State::Failed && worst == Status::Fine {
                        worst = status;
                    }
                }
            }
        }
        Ok(worst)
    }

    fn one(&self, job: &Job, limit_s: f64, place: String) -> Result<(State, Status), Failure> {
        // An earlier job may have put something there since the plan began.
        own(job)?;
        let begun = has_begun(job);
        let mut before_s = 0.0;
        if begun {
            let record = Record::read(&job.folder).map_err(|error| unwritable(&error))?;
            before_s = record.map_or(0.0, |record| record.seconds);
        } else if job.folder.exists() {
            fs_err::remove_dir_all(&job.folder).map_err(|error| unwritable(&error))?;
        }
        fs_err::create_dir_all(&job.folder).map_err(|error| unwritable(&error))?;
        let started = Instant::now();
        let record = |state| Record {
            state,
            seconds: before_s + started.elapsed().as_secs_f64(),
            commands: job.commands.clone(),
        };
        let keep = |record: &Record| {
            record
                .write(&job.folder)
                .map_err(|error| unwritable(&error))
        };
        // The record comes first: without it, the next call would not know the folder.
        keep(&record(State::Cut))?;
        let logs = Logs::open(&job.folder, GRACE_S).map_err(|error| {
            Failure::machine(format!(
                "job `{}`: a command of an earlier call still runs: {error}",
                job.name
            ))
            .hint("end it, then try again")
        })?;
        let progress = JobProgress::new(place, limit_s, job.folder.join("stdout.txt"), !self.json);
        let commands = match &job.resume {
            Some(resume) if begun => std::slice::from_ref(resume),
            _ => &job.commands,
        };
        let (mut state, mut status) = (State::Done, Status::Fine);
        for words in commands {
            let words = self.with_best(words);
            let left_s = limit_s - started.elapsed().as_secs_f64();
            let ended = child::run(&words, &logs, left_s, &self.stop, &progress)
                .map_err(|error| Failure::machine(format!("job `{}`: {error}", job.name)))?;
            (state, status) = match ended {
                Ended::Cut => (State::Cut, Status::Fine),
                Ended::Itself(how) if how.success() => continue,
                Ended::Itself(how) => (State::Failed, failed(how)),
            };
            break;
        }
        drop(progress);
        let record = record(state);
        keep(&record)?;
        self.say_ended(job, &record);
        Ok((state, status))
    }

    /// `{best:JOB}` becomes the file of that run's fastest candidate.
    fn with_best(&self, words: &[String]) -> Vec<String> {
        let best = |word: &String| -> Option<String> {
            let name = word.strip_prefix("{best:")?.strip_suffix('}')?;
            let run = self.plan.jobs.iter().find(|job| job.name == name)?;
            let best = RunState::read(&run.folder).ok()?.best?;
            let path: PathBuf = hotloop_run::store::candidate_path(&run.folder, &best.hash);
            Some(path.display().to_string())
        };
        words
            .iter()
            .map(|word| best(word).unwrap_or_else(|| word.clone()))
            .collect()
    }

    fn say_ended(&self, job: &Job, record: &Record) {
        let (state, words) = match record.state {
            State::Done => ("done", "done"),
            State::Cut => ("cut", "cut off"),
            State::Failed => ("failed", "failed"),
        };
        let text = format!("{words} after {:.0} s", record.seconds);
        self.say_of(job, state, record.seconds, &text);
    }

    fn say_of(&self, job: &Job, state: &str, seconds: f64, text: &str) {
        if self.json {
            say_json(&json!({"job": job.name, "state": state, "seconds": seconds, "said": text}));
        } else {
            say(&format!("{}: {text}", job.name));
        }
    }

    fn tell(&self, done: &BTreeSet<String>) {
        let missing: Vec<&str> = self
            .plan
            .jobs
            .iter()
            .map(|job| job.name.as_str())
            .filter(|name| !done.contains(*name))
            .collect();
        let (all, seconds) = (self.plan.jobs.len(), self.elapsed_s());
        if self.json {
            let done = all - missing.len();
            say_json(&json!({"jobs": all, "done": done, "not_done": missing, "seconds": seconds}));
            return;
        }
        let rest = if missing.is_empty() {
            String::new()
        } else {
            format!("; not done: {}", missing.join(", "))
        };
        say(&format!(
            "\n{} of {} are done after {seconds:.0} s{rest}",
            all - missing.len(),
            count(all, "job")
        ));
    }
}

/// The status of a command that failed: its own, if it has one.
fn failed(how: ExitStatus) -> Status {
    match how.code() {
        Some(1) => Status::UserError,
        _ => Status::MachineFailed,
    }
}
