//! The service under load: many requests from many connections, alone and among hostile clients.
//!
//! The bench is a stub that says the same of every candidate at once, so that what is measured is the
//! service. Clients and service share this process, and its memory is that of both.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hotloop_flow::bench::Seconds;
use hotloop_flow::verdict::Measured;
use hotloop_flow::{
    Bench, BenchError, Device, Job, JobId, Judgement, MachineFacts, Reply, Verdict,
};
use hotloop_serve::{Factory, Limits, Server, Settings};
use serde::Serialize;

use super::clients::{self, Honest};
use crate::failure::{Failure, Status};
use crate::output::table::Table;
use crate::output::{number, say, say_json};
use crate::stop::Stop;

/// Hostile clients of each kind.
const HOSTILE: usize = 4;

/// What one round came to.
#[derive(Debug, Serialize)]
struct Round {
    clients: &'static str,
    requests: usize,
    connections: usize,
    errors: usize,
    per_second: f64,
    p50_ms: f64,
    p99_ms: f64,
    max_ms: f64,
    /// Of this process when the round ended.
    memory_mib: f64,
}

/// Asks `count` times from `connections` connections, twice.
pub(crate) fn run(count: usize, connections: usize, json: bool) -> Result<Status, Failure> {
    let stop = Stop::listen()?;
    let folder = tempfile::tempdir().map_err(|error| Failure::machine(error.to_string()))?;
    let mut settings = Settings::new(
        [crate::cmd::judge::load("matmul")?],
        folder.path().to_owned(),
    );
    settings.limits = Limits {
        rate: 1e9,
        ..Limits::default()
    };
    let factory: Factory = Box::new(|| Ok(Box::new(Stub(VecDeque::new())) as Box<dyn Bench>));
    let server = Server::bind(settings, factory, Arc::new(|_| {}))
        .map_err(|refusal| Failure::machine(refusal.what).hint(refusal.hint))?;
    let address = server.address();
    let ended = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&ended);
    let serving = std::thread::spawn(move || server.run(&asked));
    let rounds = both(address, count, connections, &stop);
    ended.store(true, Ordering::Relaxed);
    drop(serving.join());
    let (before, rounds) = rounds?;
    tell(before, &rounds, json);
    let failed = rounds.iter().any(|round| round.errors > 0);
    Ok(if failed {
        Status::MachineFailed
    } else {
        Status::Fine
    })
}

/// The round alone and the round among hostile clients, and the memory before both.
fn both(
    address: SocketAddr,
    count: usize,
    connections: usize,
    stop: &Stop,
) -> Result<(f64, [Round; 2]), Failure> {
    let before = memory_mib();
    let alone = round("honest", address, 0..count, connections, stop)?;
    let done = AtomicBool::new(false);
    let among = std::thread::scope(|scope| {
        for number in 0..HOSTILE {
            for kind in clients::Hostile::ALL {
                let done = &done;
                scope.spawn(move || kind.trouble(address, number, done));
            }
        }
        let among = round(
            "among hostile",
            address,
            count..2 * count,
            connections,
            stop,
        );
        done.store(true, Ordering::Relaxed);
        among
    })?;
    Ok((before, [alone, among]))
}

fn tell(before: f64, rounds: &[Round], json: bool) {
    if json {
        say_json(&serde_json::json!({"memory_before_mib": before, "rounds": rounds}));
        return;
    }
    say(&format!("memory before: {before:.0} MiB"));
    let heads = [
        "requests",
        "connections",
        "errors",
        "per second",
        "p50 ms",
        "p99 ms",
        "max ms",
        "MiB",
    ];
    let mut table = heads
        .into_iter()
        .fold(Table::new().left("clients"), Table::right);
    for round in rounds {
        table.row([
            round.clients.to_owned(),
            round.requests.to_string(),
            round.connections.to_string(),
            round.errors.to_string(),
            format!("{:.0}", round.per_second),
            number(round.p50_ms),
            number(round.p99_ms),
            number(round.max_ms),
            format!("{:.0}", round.memory_mib),
        ]);
    }
    say(&table.render());
}

/// One round; every request has a candidate of its own, with one of these numbers.
fn round(
    clients: &'static str,
    address: SocketAddr,
    numbers: Range<usize>,
    connections: usize,
    stop: &Stop,
) -> Result<Round, Failure> {
    let requests = numbers.len();
    let began = Instant::now();
    let each: Vec<(Vec<Duration>, usize)> = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..connections)
            .map(|client| {
                let numbers = (numbers.start + client..numbers.end).step_by(connections);
                scope.spawn(move || Honest::new(address).ask_all(numbers, stop))
            })
            .collect();
        asking
            .into_iter()
            .map(|client| client.join().unwrap_or_default())
            .collect()
    });
    if stop.asked() {
        return Err(Failure::interrupted());
    }
    let seconds = began.elapsed().as_secs_f64();
    let mut waits: Vec<f64> = each
        .iter()
        .flat_map(|(waits, _)| waits)
        .map(Duration::as_secs_f64)
        .collect();
    waits.sort_by(f64::total_cmp);
    let at = |share: f64| {
        waits
            .get(((waits.len() as f64 * share) as usize).min(waits.len().max(1) - 1))
            .copied()
    };
    let ms = |share: f64| at(share).unwrap_or(f64::NAN) * 1e3;
    let right = waits.len() - each.iter().map(|(_, wrong)| wrong).sum::<usize>();
    Ok(Round {
        clients,
        requests,
        connections,
        errors: requests - right,
        per_second: requests as f64 / seconds,
        p50_ms: ms(0.5),
        p99_ms: ms(0.99),
        max_ms: ms(1.0),
        memory_mib: memory_mib(),
    })
}

/// The memory that this process has, in MiB.
fn memory_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib = status.lines().find_map(|line| {
        line.strip_prefix("VmRSS:")?
            .trim()
            .strip_suffix(" kB")?
            .parse()
            .ok()
    });
    kib.unwrap_or(f64::NAN) / 1024.0
}

/// A bench that says the same of every candidate, at once.
struct Stub(VecDeque<JobId>);

impl Bench for Stub {
    fn submit(&mut self, jobs: Vec<Job>) -> Result<(), BenchError> {
        self.0.extend(jobs.iter().map(|job| job.id));
        Ok(())
    }

    fn next(&mut self, timeout: Duration) -> Result<Option<Reply>, BenchError> {
        if self.0.is_empty() {
            std::thread::sleep(timeout);
        }
        let measured = Measured::steady(clients::GFLOPS, 1e-3);
        let judgement = Judgement {
            verdict: Verdict::Correct(measured),
            seconds: Seconds::default(),
        };
        Ok(self.0.pop_front().map(|id| Reply {
            id,
            judged: Ok(judgement),
        }))
    }

    fn cancel(&mut self, ids: &[JobId]) {
        self.0.retain(|id| !ids.contains(id));
    }

    fn facts(&self) -> MachineFacts {
        MachineFacts {
            class: "stub".to_owned(),
            device: Device::Cpu {
                name: "a stub".to_owned(),
                simd: String::new(),
                cores: 1,
            },
            ..MachineFacts::default()
        }
    }
}
