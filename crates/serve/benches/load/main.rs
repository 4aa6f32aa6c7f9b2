//! The service under load: many requests from many connections, alone and then among hostile
//! clients.
//!
//! ```text
//! cargo bench -p hotloop-serve --bench load              10,000 requests of each round, from 64 connections
//! cargo bench -p hotloop-serve --bench load -- 1000 128  requests, connections
//! ```
//!
//! The bench is a stub that gives every candidate the same verdict at once, so that only the
//! service is measured. Clients and service share this process, so its memory is that of both.

#![expect(clippy::print_stdout, reason = "a program that reports")]

mod clients;

use std::collections::VecDeque;
use std::error::Error;
use std::net::SocketAddr;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hotloop_flow::bench::Seconds;
use hotloop_flow::task::TaskFiles;
use hotloop_flow::verdict::Measured;
use hotloop_flow::{
    Bench, BenchError, Device, Job, JobId, Judgement, MachineFacts, Reply, Task, Verdict,
};
use hotloop_serve::{Factory, Limits, Server, Settings};

use clients::Honest;

/// Hostile clients of each kind.
const HOSTILE: usize = 4;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    let word =
        |at: usize, otherwise: usize| words.get(at).map_or(Ok(otherwise), |word| word.parse());
    let (count, connections) = (word(0, 10_000)?, word(1, 64)?);
    let folder = tempfile::tempdir()?;
    let mut settings = Settings::new([matmul()?], folder.path().to_owned());
    settings.limits = Limits {
        rate: 1e9,
        ..Limits::default()
    };
    let factory: Factory = Box::new(|| Ok(Box::new(Stub(VecDeque::new())) as Box<dyn Bench>));
    let server =
        Server::bind(settings, factory, Arc::new(|_| {})).map_err(|refusal| refusal.what)?;
    let address = server.address();
    let ended = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&ended);
    let serving = std::thread::spawn(move || server.run(&asked));
    println!("memory before: {:.0} MiB", memory_mib());
    println!(
        "{:<14} {:>8} {:>11} {:>6} {:>10} {:>7} {:>7} {:>7} {:>5}",
        "clients",
        "requests",
        "connections",
        "errors",
        "per second",
        "p50 ms",
        "p99 ms",
        "max ms",
        "MiB"
    );
    let alone = round("honest", address, 0..count, connections);
    let among = among_hostile(address, count..2 * count, connections);
    ended.store(true, Ordering::Relaxed);
    drop(serving.join());
    match alone + among {
        0 => Ok(()),
        errors => Err(format!("{errors} requests were not answered right").into()),
    }
}

fn matmul() -> Result<Task, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tasks/matmul");
    let file = |name: &str| std::fs::read_to_string(folder.join(name));
    Ok(Task::parse(TaskFiles {
        toml: file("task.toml")?,
        reference: file("reference.c")?,
        prompt: file("prompt.md")?,
        seed: file("seed.c")?,
        baseline: file("baseline.c").ok(),
    })?)
}

fn among_hostile(address: SocketAddr, numbers: Range<usize>, connections: usize) -> usize {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for number in 0..HOSTILE {
            for kind in clients::Hostile::ALL {
                let done = &done;
                scope.spawn(move || kind.trouble(address, number, done));
            }
        }
        let errors = round("among hostile", address, numbers, connections);
        done.store(true, Ordering::Relaxed);
        errors
    })
}

/// Runs one round, in which every request has a different candidate with one of these numbers.
/// Prints a row and returns the number of errors.
fn round(clients: &str, address: SocketAddr, numbers: Range<usize>, connections: usize) -> usize {
    let requests = numbers.len();
    let began = Instant::now();
    let each: Vec<(Vec<Duration>, usize)> = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..connections)
            .map(|client| {
                let numbers = (numbers.start + client..numbers.end).step_by(connections);
                scope.spawn(move || Honest::new(address).ask_all(numbers))
            })
            .collect();
        asking
            .into_iter()
            .map(|client| client.join().unwrap_or_default())
            .collect()
    });
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
    let errors = requests - right;
    println!(
        "{clients:<14} {requests:>8} {connections:>11} {errors:>6} {:>10.0} {:>7.1} {:>7.1} {:>7.1} {:>5.0}",
        requests as f64 / seconds,
        ms(0.5),
        ms(0.99),
        ms(1.0),
        memory_mib(),
    );
    errors
}

/// The memory of this process in MiB.
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

/// A bench that gives every candidate the same verdict at once.
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
