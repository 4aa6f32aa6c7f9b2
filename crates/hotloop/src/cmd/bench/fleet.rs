//! What a job costs over a fleet's server, against a bench in this process: both wait instead of judging.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hotloop_fleet::server::{self, Spec};
use hotloop_fleet::{Access, FleetBench, Opening, RehearsalBench};
use hotloop_flow::{Bench, Job, JobId};
use serde::Serialize;

use super::{job, matmul};
use crate::failure::{Failure, Status};
use crate::fleets;
use crate::output::table::Table;
use crate::output::{say, say_json, seconds};
use crate::progress::Progress;
use crate::stop::Stop;

/// Candidates that wait side by side.
const SLOTS: u32 = 2;
/// Bytes of a large candidate.
const LARGE: usize = 64 << 10;

/// One way to have jobs done.
#[derive(Debug, Serialize)]
struct Way {
    name: &'static str,
    jobs: u32,
    each_s: f64,
    total_s: f64,
    ideal_s: f64,
    /// Wall-clock time a job, beyond what it takes by itself.
    overhead_ms: f64,
}

/// A server and a worker that end with this value.
struct Parts {
    folder: tempfile::TempDir,
    children: Vec<Child>,
}

impl Drop for Parts {
    fn drop(&mut self) {
        for child in &mut self.children {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// Measures and prints.
pub(super) fn run(
    count: u32,
    job_s: f64,
    large: u32,
    program: Option<&str>,
    json: bool,
) -> Result<Status, Failure> {
    if !(0.0..=60.0).contains(&job_s) {
        return Err(Failure::user(format!(
            "--seconds {job_s}: is not between 0 and 60"
        )));
    }
    let stop = Stop::listen()?;
    let progress = Progress::spinner("starting a server and a worker", !json);
    let parts = start(program)?;
    let mut fleet = open(&parts)?;
    let small = jobs(count, job_s, 0)?;
    progress.message("in this process");
    let mut ways = vec![time(
        "in this process",
        &mut RehearsalBench::new(SLOTS),
        &small,
        job_s,
        &stop,
    )?];
    progress.message("over the server");
    ways.push(time(
        "NATS, TLS, loopback",
        &mut fleet,
        &small,
        job_s,
        &stop,
    )?);
    progress.message("large candidates");
    let many = jobs(large, 0.0, LARGE)?;
    if large > 0 {
        ways.push(time(
            "NATS, TLS, 64 KiB each",
            &mut fleet,
            &many,
            0.0,
            &stop,
        )?);
    }
    drop((progress, fleet, parts));
    if json {
        say_json(&ways);
    } else {
        say(&text(&ways));
    }
    Ok(Status::Fine)
}

fn jobs(count: u32, job_s: f64, bytes: usize) -> Result<Vec<Job>, Failure> {
    let task = matmul()?;
    let padding =
        "/* sixty-four bytes of nothing, to make the candidate larger. */\n".repeat(bytes / 64);
    (0..count)
        .map(|number| {
            let source = format!(
                "// rehearse: {job_s} \n// {number} of {bytes}\n{padding}{}",
                task.seed
            );
            Ok(Job {
                id: JobId(u64::from(number)),
                ..job(&task, &source)?
            })
        })
        .collect()
}

fn time(
    name: &'static str,
    bench: &mut dyn Bench,
    jobs: &[Job],
    each_s: f64,
    stop: &Stop,
) -> Result<Way, Failure> {
    let begin = Instant::now();
    bench.submit(jobs.to_vec())?;
    let mut left = jobs.len();
    while left > 0 {
        if stop.asked() {
            return Err(Failure::interrupted());
        }
        if let Some(reply) = bench.next(Duration::from_millis(100))? {
            reply.judged?;
            left -= 1;
        }
    }
    let total_s = begin.elapsed().as_secs_f64();
    let count = jobs.len() as f64;
    let ideal_s = count * each_s / f64::from(SLOTS);
    Ok(Way {
        name,
        jobs: jobs.len() as u32,
        each_s,
        total_s,
        ideal_s,
        overhead_ms: (total_s - ideal_s) / count * 1e3,
    })
}

fn start(named: Option<&str>) -> Result<Parts, Failure> {
    let machine = |error: std::io::Error| Failure::machine(error.to_string());
    let program = server::program(named)?;
    let folder = tempfile::tempdir().map_err(machine)?;
    let port = TcpListener::bind("127.0.0.1:0")
        .and_then(|socket| socket.local_addr())
        .map_err(machine)?
        .port();
    let token = server::secret()?;
    let spec = Spec {
        listen: format!("127.0.0.1:{port}"),
        hosts: Vec::new(),
        folder: folder.path().to_owned(),
        token: token.clone(),
        days: 1,
    };
    server::write(folder.path(), &server::files(&spec)?)?;
    server::fit(&program, folder.path())?;
    server::write_access(
        folder.path(),
        "access.toml",
        &format!("tls://127.0.0.1:{port}"),
        &token,
    )?;
    let mut parts = Parts {
        children: vec![server::start(&program, folder.path())?],
        folder,
    };
    let worker = Command::new(crate::settings::own()?.roles)
        .args([
            "worker",
            "--rehearse",
            "--share-cores",
            "--slots",
            &SLOTS.to_string(),
            "--access",
        ])
        .arg(parts.folder.path().join("access.toml"))
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(machine)?;
    parts.children.push(worker);
    Ok(parts)
}

fn open(parts: &Parts) -> Result<FleetBench, Failure> {
    let opening = Opening {
        access: Access::read(&parts.folder.path().join("access.toml"))?,
        settings: crate::settings::own()?,
        scope: fleets::unique(),
        class: None,
        spread: true,
        patience: Duration::from_mins(1),
        log: fleets::log("fleet"),
    };
    Ok(FleetBench::open(opening)?)
}

fn text(ways: &[Way]) -> String {
    let mut table = Table::new()
        .left("way")
        .right("jobs")
        .right("of")
        .right("total")
        .right("ideal")
        .right("overhead");
    for way in ways {
        table.row([
            way.name.to_owned(),
            way.jobs.to_string(),
            seconds(way.each_s),
            seconds(way.total_s),
            seconds(way.ideal_s),
            format!("{:.1} ms a job", way.overhead_ms),
        ]);
    }
    format!("{SLOTS} slots, one worker\n\n{}", table.render())
}
