//! Times the seeds of some tasks twice: with warm caches and with flushed ones.
//!
//! ```text
//! cargo bench -p hotloop-bench --bench cold                 transpose and matmul, three times
//! cargo bench -p hotloop-bench --bench cold -- softmax      this task
//! ```

#![expect(clippy::print_stdout, reason = "a program that reports")]

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use hotloop_bench::{LocalBench, Settings, tasks};
use hotloop_flow::task::CacheState;
use hotloop_flow::{Bench, Candidate, Job, JobId};

const TIMES: usize = 3;

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo passes `--bench` to every bench.
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    names.retain(|name| name != "--bench");
    if names.is_empty() {
        names = ["transpose", "matmul"].map(str::to_owned).to_vec();
    }
    let settings = Settings::new(env!("CARGO_BIN_EXE_bench-roles").into());
    let mut bench = LocalBench::start(settings)?;
    println!("{:12} {:>12} {:>12} {:>6}", "task", "warm", "cold", "ratio");
    for name in names {
        for _ in 0..TIMES {
            let warm = seconds(&mut bench, &name, CacheState::Warm)?;
            let cold = seconds(&mut bench, &name, CacheState::Cold)?;
            let (warm_us, cold_us) = (warm * 1e6, cold * 1e6);
            let ratio = cold / warm;
            println!("{name:12} {warm_us:>9.1} us {cold_us:>9.1} us {ratio:>6.2}");
        }
    }
    Ok(())
}

/// Seconds of one call of the task's seed.
fn seconds(bench: &mut LocalBench, name: &str, cache: CacheState) -> Result<f64, Box<dyn Error>> {
    let mut task = tasks::load(name)?;
    task.spec.cache = cache;
    task.hash = format!("{} {cache:?}", task.hash);
    let candidate = Candidate::from_source(task.seed.as_bytes(), &task).map_err(|bad| bad.why)?;
    let job = Job {
        id: JobId(0),
        task: Arc::new(task),
        candidate,
        stage: None,
    };
    bench.submit(vec![job])?;
    let reply = bench.next(Duration::from_mins(2))?.ok_or("no reply")?;
    let verdict = reply.judged?.verdict;
    let measured = verdict.measured().ok_or_else(|| verdict.detail())?;
    Ok(measured.seconds)
}
