//! What a process that keeps the GPU busy, such as a trainer, does to timings.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hotloop_bench::LocalBench;
use hotloop_flow::statistics::median;

use crate::crowd::{self, detail, label};
use crate::steadiness::{Case, cases};
use crate::{Asked, Ended, settings};

const TRAINER: &str = include_str!("trainer.py");
/// Judgements of one candidate on each side.
const JUDGEMENTS: usize = 7;
/// Time for the neighbour to become busy.
const WARMING: Duration = Duration::from_secs(20);

pub(crate) fn run(asked: &Asked) -> Ended {
    let mut bench = LocalBench::start(settings()?)?;
    let cases = cases(asked)?;
    let alone: Vec<Seen> = look(&mut bench, &cases)?;
    let neighbour = Neighbour::start(asked.neighbour.as_deref())?;
    std::thread::sleep(WARMING);
    let beside = look(&mut bench, &cases)?;
    drop(neighbour);
    for ((case, alone), beside) in cases.iter().zip(alone).zip(beside) {
        println!("{:24} alone {alone}; beside it {beside}", case.name);
    }
    Ok(())
}

/// A command that runs until this is dropped.
struct Neighbour(Child);

impl Neighbour {
    /// The trainer of `trainer.py`, where no command is named.
    fn start(command: Option<&str>) -> std::io::Result<Self> {
        let mut process = Command::new(if command.is_some() { "sh" } else { "python3" });
        // `exec`, so that what is killed is the command and not the shell.
        let text = command.map_or(TRAINER.to_owned(), |command| format!("exec {command}"));
        process.args(["-c", &text]);
        process.stdout(Stdio::null()).spawn().map(Self)
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        if let Ok(Some(status)) = self.0.try_wait() {
            println!("the neighbour ended before the end: {status}");
        }
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// What became of one candidate.
struct Seen {
    seconds: Vec<f64>,
    quiet: usize,
    others: Vec<String>,
}

impl std::fmt::Display for Seen {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.seconds.is_empty() {
            write!(out, "no time")?;
        } else {
            let most = self.seconds.iter().copied().fold(0.0, f64::max);
            write!(
                out,
                "{:.2} us (at most {:.2}), {} of {} quiet",
                median(&self.seconds) * 1e6,
                most * 1e6,
                self.quiet,
                self.seconds.len()
            )?;
        }
        for other in &self.others {
            write!(out, ", {other}")?;
        }
        Ok(())
    }
}

fn look(bench: &mut LocalBench, cases: &[Case]) -> Result<Vec<Seen>, Box<dyn std::error::Error>> {
    let mut all = Vec::new();
    for case in cases {
        let (mut seconds, mut quiet, mut others) = (Vec::new(), 0, Vec::new());
        for _ in 0..JUDGEMENTS {
            let judged = crowd::judge(bench, std::slice::from_ref(&case.entry), |_| {})?.remove(0);
            if label(&judged) != "correct" {
                others.push(format!("{}: {}", label(&judged), detail(&judged)));
            }
            let measured = judged.as_ref().ok().and_then(|it| it.verdict.measured());
            if let Some(measured) = measured {
                seconds.push(measured.seconds);
                quiet += usize::from(measured.timing.quiet);
            }
        }
        all.push(Seen {
            seconds,
            quiet,
            others,
        });
    }
    Ok(all)
}
