//! `hotloop worker`: this machine judges for a fleet.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use hotloop_fleet::{Access, Duty, Judges, RealJudges, RehearsalJudges};

use crate::cli::fleet::WorkerArgs;
use crate::failure::{Failure, Status};
use crate::{fleets, stop};

/// Works until a signal comes.
pub(crate) fn run(arguments: &WorkerArgs) -> Result<Status, Failure> {
    let seconds = |name: &str, value: f64| {
        Duration::try_from_secs_f64(value)
            .ok()
            .filter(|value| *value <= Duration::from_hours(24))
            .ok_or_else(|| {
                Failure::user(format!(
                    "{name} {value}: must be a number of seconds up to a day"
                ))
            })
    };
    let lease = seconds("--lease", arguments.lease)?;
    if lease < Duration::from_millis(500) {
        return Err(Failure::user(format!(
            "--lease {}: must be at least 0.5 s",
            arguments.lease
        )));
    }
    let access = Access::read(&arguments.access)?;
    let duty = Duty {
        access,
        slots: arguments.slots,
        cores: arguments.cores.clone(),
        share_cores: arguments.share_cores,
        lease,
        deliveries: arguments.deliveries,
        calm: arguments.calm,
        grace: seconds("--grace", arguments.grace)?,
        patience: seconds("--patience", arguments.patience)?,
        log: fleets::log("worker"),
    };
    let judges: Box<dyn Judges> = if let Some(calm) = arguments.rehearse {
        Box::new(RehearsalJudges {
            calm,
            broken: false,
        })
    } else {
        Box::new(RealJudges::new(crate::settings::own()?.roles))
    };
    let asked = Arc::new(AtomicU32::new(0));
    stop::count_requests(Arc::clone(&asked))?;
    if arguments.until_eof {
        let asked = Arc::clone(&asked);
        std::thread::spawn(move || {
            // An error also counts as the end of the input.
            drop(std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
            asked.fetch_max(1, Ordering::Relaxed);
        });
    }
    hotloop_fleet::work(duty, judges.as_ref(), &asked)?;
    Ok(Status::Fine)
}
