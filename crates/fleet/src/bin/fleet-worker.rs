//! A worker for tests, which can be killed: `fleet-worker ACCESS LEASE_S
//! [rehearse|broken|noisy|real] [SLOTS]`.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use hotloop_fleet::{Access, Duty, Judges, RealJudges, RehearsalJudges};

fn main() -> Result<(), hotloop_flow::BenchError> {
    hotloop_bench::role::play_if_asked();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |at: usize, otherwise: &str| {
        arguments
            .get(at)
            .cloned()
            .unwrap_or_else(|| otherwise.to_owned())
    };
    let kind = argument(2, "rehearse");
    let judges: Box<dyn Judges> = match kind.as_str() {
        "real" => Box::new(RealJudges::new(std::env::current_exe().unwrap_or_default())),
        _ => Box::new(RehearsalJudges {
            calm: if kind == "noisy" { 0.1 } else { 1.0 },
            broken: kind == "broken",
        }),
    };
    let duty = Duty {
        access: Access::read(Path::new(&argument(0, "access.toml")))?,
        slots: argument(3, "1").parse().unwrap_or(1),
        cores: None,
        share_cores: true,
        lease: Duration::from_secs_f64(argument(1, "30").parse().unwrap_or(30.0)),
        deliveries: 3,
        calm: if kind == "real" { 0.0 } else { 0.5 },
        grace: Duration::from_secs(20),
        patience: Duration::from_secs(20),
        log: Arc::new(|_, _| {}),
    };
    // It stops when there is nothing to read any more.
    let asked = Arc::new(AtomicU32::new(0));
    let stop = Arc::clone(&asked);
    std::thread::spawn(move || {
        drop(std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
        stop.store(1, Ordering::Relaxed);
    });
    hotloop_fleet::work(duty, judges.as_ref(), &asked)
}
