//! Runs one command of a job in a separate process with a time limit, so that a hang or a crash
//! does not end the plan.

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::progress::JobProgress;
use crate::stop::Stop;

/// An environment variable of a command. It makes the command stop when the plan's process ends.
const BELONGS: &str = "HOTLOOP_BELONGS_TO_PLAN";
/// Seconds from the last request to stop to the kill.
const LAST_S: f64 = 5.0;

/// The files that a job's commands write to. Commands inherit the lock on them, so the lock shows
/// whether one is still alive.
pub(super) struct Logs {
    out: File,
    error: File,
}

impl Logs {
    /// Opens `stdout.txt` and `stderr.txt` as soon as no command of an earlier call holds them.
    pub(super) fn open(folder: &Path, patience_s: f64) -> io::Result<Self> {
        let append = |name: &str| {
            let mut options = File::options();
            options.create(true).append(true);
            options.open(folder.join(name))
        };
        let (out, error) = (append("stdout.txt")?, append("stderr.txt")?);
        let begin = Instant::now();
        while let Err(held) = out.try_lock() {
            if begin.elapsed().as_secs_f64() > patience_s {
                return Err(held.into());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(Self { out, error })
    }
}

/// How a command ended.
pub(super) enum Ended {
    /// By itself.
    Itself(ExitStatus),
    /// It was asked to stop, because its time was over or the user wanted it.
    Cut,
}

/// Runs a command until it ends or `limit_s` are over.
pub(super) fn run(
    words: &[String],
    logs: &Logs,
    limit_s: f64,
    stop: &Stop,
    progress: &JobProgress,
) -> io::Result<Ended> {
    let begin = Instant::now();
    let mut child = Command::new(std::env::current_exe()?)
        .args(words)
        .env(BELONGS, "1")
        .stdin(Stdio::null())
        .stdout(logs.out.try_clone()?)
        .stderr(logs.error.try_clone()?)
        // Ctrl-C reaches only the plan, which passes it on.
        .process_group(0)
        .spawn()?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ended::Itself(status));
        }
        if stop.asked() || begin.elapsed().as_secs_f64() > limit_s {
            end(&mut child)?;
            return Ok(Ended::Cut);
        }
        progress.tick();
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Asks a command to stop, asks again, and finally kills it. The first signal lets a run reach a
/// safe point.
fn end(child: &mut Child) -> io::Result<()> {
    let pid = Pid::from_child(child);
    for (signal, seconds) in [
        (
            Signal::INT,
            hotloop_run::experiment::schedule::GRACE_S - LAST_S,
        ),
        (Signal::TERM, LAST_S),
    ] {
        // A command that has just ended needs no signal.
        kill_process(pid, signal).ok();
        let begin = Instant::now();
        while begin.elapsed().as_secs_f64() < seconds {
            if child.try_wait()?.is_some() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    kill_process_group(pid, Signal::KILL).ok();
    child.wait().map(drop)
}

/// Stops this process when the plan that started it ends. A job that outlived its plan would
/// disturb the timings of the next one.
pub(crate) fn end_with_plan() {
    if std::env::var_os(BELONGS).is_some() {
        rustix::process::set_parent_process_death_signal(Some(Signal::TERM)).ok();
    }
}
