//! `hotloop fleet`: starts, shows and stops workers.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hotloop_fleet::status::{self, Status as FleetStatus};
use hotloop_fleet::{Beat, Config, State, keeper};

use crate::cli::fleet::{FleetArgs, FleetCommand};
use crate::failure::{Failure, Status};
use crate::fleets::{self, Named};
use crate::output::table::Table;
use crate::output::{count, number, percent, say, say_json};
use crate::progress::Progress;
use crate::stop::Stop;

/// How long the server may take to answer `status`.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long stopping may take, in addition to the workers' own time.
const ENDING: Duration = Duration::from_mins(1);

pub(crate) fn run(arguments: &FleetArgs) -> Result<Status, Failure> {
    match &arguments.command {
        FleetCommand::Up {
            file,
            foreground,
            wait,
            json,
        } => {
            let config = Config::read(file)?;
            if config.nodes.is_empty() {
                return Err(Failure::user(format!("{}: no [[nodes]]", file.display()))
                    .hint("`hotloop fleet example` shows what can work"));
            }
            if *foreground {
                keep(&config)
            } else {
                up(&config, file, *wait, *json)
            }
        }
        FleetCommand::Status { fleet, json } => show(fleet, *json),
        FleetCommand::Down { file } => {
            let config = Config::read(file)?;
            let patience = ENDING + Duration::from_secs_f64(config.worker.grace.clamp(0.0, 3600.0));
            let ended = keeper::down(&config, patience, &fleets::log("fleet"))?;
            say(&format!(
                "{} {}",
                config.name,
                if ended { "is down" } else { "was not up" }
            ));
            Ok(Status::Fine)
        }
        FleetCommand::Example => {
            say(hotloop_fleet::config::EXAMPLE.trim_end());
            Ok(Status::Fine)
        }
    }
}

/// Keeps the fleet up in this process.
fn keep(config: &Config) -> Result<Status, Failure> {
    let stop = Stop::listen()?;
    keeper::keep(
        config,
        &crate::settings::own()?.roles,
        stop.flag(),
        &fleets::log("fleet"),
    )?;
    Ok(Status::Fine)
}

/// Starts a process that keeps the fleet up, and waits for the first worker.
fn up(config: &Config, file: &Path, wait: f64, json: bool) -> Result<Status, Failure> {
    if keeper::is_up(config) {
        return Err(
            Failure::user(format!("the fleet {} is up already", config.name))
                .hint("`hotloop fleet status` shows it; `hotloop fleet down` ends it"),
        );
    }
    let machine = |error: std::io::Error| Failure::machine(error.to_string());
    fs_err::create_dir_all(&config.state).map_err(machine)?;
    let log = config.state.join("keeper.log");
    let out = fs_err::File::create(&log).map_err(machine)?.into_parts().0;
    let mut child = Command::new(crate::settings::own()?.roles)
        .args(["fleet", "up", "--foreground"])
        .arg(file)
        .stdin(Stdio::null())
        .stdout(out.try_clone().map_err(machine)?)
        .stderr(out)
        // A Ctrl-C here must not reach it.
        .process_group(0)
        .spawn()
        .map_err(machine)?;
    let stop = Stop::listen()?;
    let progress = Progress::spinner("starting the fleet", !json);
    let begin = Instant::now();
    loop {
        if let Ok(Some(_)) = child.try_wait() {
            let said = std::fs::read_to_string(&log).unwrap_or_default();
            return Err(Failure::machine(format!(
                "the fleet does not start:\n{}",
                said.trim_end()
            ))
            .hint(format!("its log is {}", log.display())));
        }
        let status = status::of_fleet(config, Duration::ZERO, &fleets::silent());
        let is_late = begin.elapsed().as_secs_f64() >= wait;
        let wanted = status.keeper.wanted;
        let all_are_heard = wanted > 0 && status.workers.len() >= wanted;
        if stop.asked() || is_late || all_are_heard || is_ready(&status) {
            drop(progress);
            tell(&status, json);
            return Ok(outcome(&status));
        }
        if let Some(note) = status.keeper.notes.last() {
            progress.message(note.clone());
        }
        std::thread::sleep(Duration::from_millis(300));
    }
}

/// A look at a fleet whenever somebody asks for it.
pub(crate) fn looked_at(fleet: &str) -> Result<hotloop_serve::Fleet, Failure> {
    let (named, name) = (fleets::named(fleet)?, fleet.to_owned());
    Ok(Box::new(move || match look(&named) {
        Ok(status) => serde_json::to_value(status).unwrap_or_default(),
        Err(failure) => serde_json::json!({"name": name, "problem": failure.what()}),
    }))
}

fn look(named: &Named) -> Result<FleetStatus, Failure> {
    Ok(match named {
        Named::Config(config) => status::of_fleet(config, PATIENCE, &fleets::silent()),
        Named::Access(access) => status::of_server(access, PATIENCE, &fleets::silent())?,
    })
}

fn show(fleet: &str, json: bool) -> Result<Status, Failure> {
    let status = look(&fleets::named(fleet)?)?;
    tell(&status, json);
    Ok(outcome(&status))
}

fn is_ready(status: &FleetStatus) -> bool {
    status.workers.iter().any(|beat| beat.state == State::Ready)
}

fn outcome(status: &FleetStatus) -> Status {
    if is_ready(status) {
        Status::Fine
    } else {
        Status::MachineFailed
    }
}

fn tell(status: &FleetStatus, json: bool) {
    if json {
        say_json(status);
    } else {
        say(&text(status));
    }
}

fn text(status: &FleetStatus) -> String {
    let mut lines = vec![head(status)];
    if !status.workers.is_empty() {
        lines.push(String::new());
        lines.push(workers(&status.workers));
    }
    let ids: Vec<String> = status
        .keeper
        .nodes
        .iter()
        .map(|node| format!("{} {}", node.kind, node.id))
        .collect();
    if !ids.is_empty() {
        lines.push(String::new());
        lines.push(format!("Nodes: {}", ids.join(", ")));
    }
    lines.extend(absent(status));
    if !status.keeper.notes.is_empty() {
        lines.push(String::new());
        lines.push("Last:".to_owned());
        lines.extend(
            status
                .keeper
                .notes
                .iter()
                .map(|note| format!("  {}", note.replace('\n', "\n  "))),
        );
    }
    lines.join("\n")
}

/// What is to work and does not yet, and why.
fn absent(status: &FleetStatus) -> Vec<String> {
    let keeper = &status.keeper;
    let silent = keeper.nodes.len().saturating_sub(status.workers.len());
    let unstarted = keeper.wanted.saturating_sub(keeper.nodes.len());
    let mut lines = Vec::new();
    if silent > 0 {
        lines.push(format!(
            "Not heard yet: {}. A worker first measures how quiet its machine is, and a job may wait in its queue.",
            count(silent, "node")
        ));
    }
    if unstarted > 0 && keeper.pid != 0 {
        lines.push(format!(
            "Not started: {}. The last notes say why, and the fleet tries again.",
            count(unstarted, "node")
        ));
    }
    let is_noisy =
        |beat: &Beat| matches!(beat.state, State::Quarantined(_)) && beat.last_error.is_none();
    if status.workers.iter().any(is_noisy) {
        lines.push(
            "A machine that is not quiet takes no jobs, and is checked again every minute. Stop what else runs there, or \
             lower `calm` under [worker] in the fleet's file."
                .to_owned(),
        );
    }
    lines
}

fn head(status: &FleetStatus) -> String {
    let slots: u64 = status
        .workers
        .iter()
        .filter(|beat| beat.state == State::Ready)
        .map(|beat| u64::from(beat.slots))
        .sum();
    let rate: f64 = status.workers.iter().map(|beat| beat.per_minute).sum();
    let errors: u64 = status.workers.iter().map(|beat| beat.failed).sum();
    let keeper = &status.keeper;
    let mut parts = vec![match &status.problem {
        Some(problem) => format!("{}: {problem}", status.name),
        None => format!("{}: {}", status.name, count(status.workers.len(), "worker")),
    }];
    if keeper.pid != 0 {
        let kept = if status.kept {
            "kept up"
        } else {
            "nobody keeps it up"
        };
        let wanted = count(keeper.wanted, "node");
        parts.push(format!(
            "{} of {wanted}, {kept}, {} replaced",
            keeper.nodes.len(),
            keeper.replaced
        ));
    }
    match keeper.tunnel {
        Some(true) => parts.push("the tunnel stands".to_owned()),
        Some(false) => parts.push("the tunnel is cut".to_owned()),
        None => {}
    }
    if status.problem.is_none() {
        parts.push(format!("{} ready", count(slots as usize, "slot")));
        parts.push(format!("{} a minute", count(rate as usize, "verdict")));
        parts.push(format!("{} of machines", count(errors as usize, "failure")));
        parts.push(format!(
            "{} queued, {} to be fetched",
            count(status.queued as usize, "group"),
            status.waiting
        ));
    }
    parts.join("; ")
}

fn workers(beats: &[Beat]) -> String {
    let mut table = Table::new()
        .left("worker")
        .left("class")
        .left("state")
        .right("slots")
        .right("busy");
    table = table
        .right("judged")
        .right("a minute")
        .right("failed")
        .right("calm")
        .right("peak GFLOPS")
        .right("varies");
    for beat in beats {
        let (state, why) = match &beat.state {
            State::Ready => ("ready", None),
            State::Draining => ("draining", None),
            State::Quarantined(why) => ("quarantined", Some(why.clone())),
        };
        let noise = |of: &dyn Fn(&hotloop_fleet::WorkerNoise) -> String| {
            beat.noise.as_ref().map_or(String::new(), of)
        };
        table.row([
            beat.worker.clone(),
            beat.class.clone(),
            state.to_owned(),
            beat.slots.to_string(),
            beat.busy.to_string(),
            beat.judged.to_string(),
            number(beat.per_minute),
            beat.failed.to_string(),
            noise(&|noise| percent(noise.calm)),
            noise(&|noise| number(noise.peak_gflops)),
            noise(&|noise| percent(noise.peak_cv)),
        ]);
        for line in why.into_iter().chain(beat.last_error.clone()) {
            table.below(format!("    {line}"));
        }
    }
    table.render()
}
