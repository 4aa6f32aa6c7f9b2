//! A bench that waits instead of judging, so that the rest of the time is the fleet's own.
//!
//! A comment in the candidate says what happens: `rehearse: 0.2` takes that many seconds,
//! `rehearse: fail` is the machine's failure, and `rehearse: die` ends the process. It has its own
//! machine class, so it never judges a real candidate.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use hotloop_flow::bench::Seconds;
use hotloop_flow::how::Compiler;
use hotloop_flow::verdict::Measured;
use hotloop_flow::{
    Bench, BenchError, Device, Job, JobId, Judgement, MachineFacts, Reply, Verdict,
};

use crate::judges::Judges;
use crate::wire::{Terms, WorkerNoise};

/// A bench that waits instead of judging, with a number of slots.
pub struct RehearsalBench {
    slots: usize,
    queue: VecDeque<Job>,
    running: Vec<(Instant, Job)>,
    facts: MachineFacts,
    broken: bool,
}

impl RehearsalBench {
    /// A bench with this many slots.
    pub fn new(slots: u32) -> Self {
        Self {
            slots: slots.max(1) as usize,
            queue: VecDeque::new(),
            running: Vec::new(),
            facts: facts("rehearsal"),
            broken: false,
        }
    }

    fn fill(&mut self) {
        while self.running.len() < self.slots {
            let Some(job) = self.queue.pop_front() else {
                return;
            };
            self.running
                .push((Instant::now() + seconds(job.candidate.source()), job));
        }
    }
}

fn asked(source: &str) -> Option<&str> {
    source.split_once("rehearse: ")?.1.split_whitespace().next()
}

fn seconds(source: &str) -> Duration {
    Duration::from_secs_f64(
        asked(source)
            .and_then(|word| word.parse().ok())
            .unwrap_or(0.0),
    )
}

fn judge(source: &str) -> Result<Judgement, BenchError> {
    match asked(source) {
        Some("fail") => Err(BenchError::machine(
            "the machine failed, as it was asked to",
        )),
        // Like a machine that goes down, without any clean-up.
        Some("die") => std::process::abort(),
        _ => Ok(Judgement {
            verdict: Verdict::Correct(Measured::steady(1.0, 1.0)),
            seconds: Seconds::default(),
        }),
    }
}

impl Bench for RehearsalBench {
    fn submit(&mut self, jobs: Vec<Job>) -> Result<(), BenchError> {
        self.queue.extend(jobs);
        self.fill();
        Ok(())
    }

    fn next(&mut self, timeout: Duration) -> Result<Option<Reply>, BenchError> {
        let deadline = Instant::now() + timeout;
        let first = self
            .running
            .iter()
            .enumerate()
            .min_by_key(|(_, (end, _))| *end)
            .map(|(at, (end, _))| (at, *end));
        let wait_until = first.map_or(deadline, |(_, end)| end.min(deadline));
        std::thread::sleep(wait_until.saturating_duration_since(Instant::now()));
        let Some((at, _)) = first.filter(|(_, end)| *end <= Instant::now()) else {
            return Ok(None);
        };
        let (_, job) = self.running.swap_remove(at);
        self.fill();
        let judged = if self.broken {
            judge("rehearse: fail")
        } else {
            judge(job.candidate.source())
        };
        Ok(Some(Reply { id: job.id, judged }))
    }

    fn cancel(&mut self, ids: &[JobId]) {
        self.queue.retain(|job| !ids.contains(&job.id));
        self.running.retain(|(_, job)| !ids.contains(&job.id));
        self.fill();
    }

    fn facts(&self) -> MachineFacts {
        self.facts.clone()
    }
}

fn facts(class: &str) -> MachineFacts {
    MachineFacts {
        class: class.to_owned(),
        device: Device::Cpu {
            name: "rehearsal: nothing is judged".to_owned(),
            simd: "sse2".to_owned(),
            cores: 1,
        },
        compiler: "none".to_owned(),
        ..MachineFacts::default()
    }
}

/// Judges by waiting.
#[derive(Debug, Clone)]
pub struct RehearsalJudges {
    /// The share of calm probes that it reports.
    pub calm: f64,
    /// Whether its machine fails on everything.
    pub broken: bool,
}

impl Judges for RehearsalJudges {
    fn machine(&self) -> Result<Vec<(Compiler, MachineFacts)>, BenchError> {
        Ok(vec![(Compiler::Gcc, facts("rehearsal"))])
    }

    fn noise(&self) -> Result<WorkerNoise, BenchError> {
        Ok(WorkerNoise {
            calm: self.calm,
            peak_cv: 0.0,
            peak_gflops: 1.0,
        })
    }

    fn start(&self, _terms: &Terms, slots: u32) -> Result<Box<dyn Bench>, BenchError> {
        Ok(Box::new(RehearsalBench {
            broken: self.broken,
            ..RehearsalBench::new(slots)
        }))
    }
}
