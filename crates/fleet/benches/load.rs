//! Measures the cost of a job over a fleet's server, compared with a bench in this process. Both
//! wait instead of judging.
//!
//! ```text
//! cargo bench -p hotloop-fleet --bench load                        200 jobs of 0.2 s, then 512 candidates of 64 KiB
//! cargo bench -p hotloop-fleet --bench load -- 1000 0.05 [LARGE]   jobs, seconds of each, large candidates
//! ```
//!
//! `HOTLOOP_TEST_NATS` names the program nats-server if it is not in PATH.

#![expect(clippy::print_stdout, reason = "a program that reports")]

use std::error::Error;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hotloop_bench::Settings;
use hotloop_fleet::server::{self, Spec};
use hotloop_fleet::{Access, FleetBench, Opening, RehearsalBench};
use hotloop_flow::{Bench, Candidate, Job, JobId};

/// Number of candidates that wait at the same time.
const SLOTS: u32 = 2;
/// Bytes of a large candidate.
const LARGE: usize = 64 << 10;
const WORKER: &str = env!("CARGO_BIN_EXE_fleet-worker");

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    let word = |at: usize, otherwise: &str| {
        words
            .get(at)
            .cloned()
            .unwrap_or_else(|| otherwise.to_owned())
    };
    let (count, job_s, large): (u32, f64, u32) = (
        word(0, "200").parse()?,
        word(1, "0.2").parse()?,
        word(2, "512").parse()?,
    );
    let parts = Parts::start()?;
    let mut fleet = parts.open()?;
    let small = jobs(count, job_s, 0)?;
    println!("{SLOTS} slots, one worker");
    println!(
        "{:<24} {:>6} {:>8} {:>8} {:>8} {:>9}",
        "way", "jobs", "each s", "total s", "ideal s", "ms a job"
    );
    time(
        "in this process",
        &mut RehearsalBench::new(SLOTS),
        &small,
        job_s,
    )?;
    time("NATS, TLS, loopback", &mut fleet, &small, job_s)?;
    if large > 0 {
        time(
            "NATS, TLS, 64 KiB each",
            &mut fleet,
            &jobs(large, 0.0, LARGE)?,
            0.0,
        )?;
    }
    Ok(())
}

fn jobs(count: u32, job_s: f64, bytes: usize) -> Result<Vec<Job>, Box<dyn Error>> {
    let task = Arc::new(hotloop_bench::tasks::load("matmul")?);
    let padding =
        "/* sixty-four bytes of nothing, to make the candidate larger. */\n".repeat(bytes / 64);
    let job = |number| {
        let source = format!(
            "// rehearse: {job_s} \n// {number} of {bytes}\n{padding}{}",
            task.seed
        );
        let candidate = Candidate::from_source(source.as_bytes(), &task)?;
        Ok(Job {
            id: JobId(u64::from(number)),
            task: Arc::clone(&task),
            candidate,
            stage: None,
        })
    };
    (0..count).map(job).collect()
}

/// Runs all jobs and prints one row. The last column is the wall-clock time per job beyond its own
/// seconds.
fn time(
    name: &str,
    bench: &mut dyn Bench,
    jobs: &[Job],
    each_s: f64,
) -> Result<(), Box<dyn Error>> {
    let begin = Instant::now();
    bench.submit(jobs.to_vec())?;
    let mut left = jobs.len();
    while left > 0 {
        if let Some(reply) = bench.next(Duration::from_millis(100))? {
            reply.judged?;
            left -= 1;
        }
    }
    let total_s = begin.elapsed().as_secs_f64();
    let ideal_s = jobs.len() as f64 * each_s / f64::from(SLOTS);
    let overhead_ms = (total_s - ideal_s) / jobs.len() as f64 * 1e3;
    println!(
        "{name:<24} {:>6} {each_s:>8.2} {total_s:>8.2} {ideal_s:>8.2} {overhead_ms:>9.2}",
        jobs.len()
    );
    Ok(())
}

/// A server and a worker that stop when this value is dropped.
struct Parts {
    folder: tempfile::TempDir,
    children: Vec<Child>,
}

impl Parts {
    fn start() -> Result<Self, Box<dyn Error>> {
        let program = server::program(std::env::var("HOTLOOP_TEST_NATS").ok().as_deref())?;
        let folder = tempfile::tempdir()?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
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
        let children = vec![server::start(&program, folder.path())?];
        let mut parts = Self { folder, children };
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::sleep(Duration::from_millis(50));
        }
        let worker = Command::new(WORKER)
            .arg(parts.access())
            .args(["30", "rehearse", &SLOTS.to_string()])
            // The worker ends when its standard input ends.
            .stdin(Stdio::piped())
            .spawn()?;
        parts.children.push(worker);
        Ok(parts)
    }

    fn access(&self) -> PathBuf {
        self.folder.path().join("access.toml")
    }

    fn open(&self) -> Result<FleetBench, Box<dyn Error>> {
        Ok(FleetBench::open(Opening {
            access: Access::read(&self.access())?,
            settings: Settings::new(WORKER.into()),
            scope: "load".to_owned(),
            class: None,
            spread: true,
            patience: Duration::from_mins(1),
            log: Arc::new(|_, _| {}),
        })?)
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        for child in &mut self.children {
            drop(child.kill());
            drop(child.wait());
        }
    }
}
