//! Judges many jobs at once, with progress and a way to stop.

use std::time::Duration;

use hotloop_bench::{LocalBench, Settings};
use hotloop_flow::{Bench, BenchError, Job, JobId, Judgement, Language, MachineFacts, Reply};

use crate::failure::Failure;
use crate::progress::Progress;
use crate::stop::Stop;

/// How often to check for a signal while nothing else happens.
const GLANCE: Duration = Duration::from_millis(50);

/// A bench, and whether the user asked to stop.
pub(crate) struct Judging {
    bench: Box<dyn Bench>,
    stop: Stop,
}

impl Judging {
    /// Starts the bench of this machine.
    pub(crate) fn start(settings: Settings, stop: Stop) -> Result<Self, Failure> {
        match LocalBench::start(settings) {
            // A failure after a signal is not the machine's.
            _ if stop.asked() => Err(Failure::interrupted()),
            Ok(bench) => Ok(Self {
                bench: Box::new(bench),
                stop,
            }),
            Err(error) => Err(error.into()),
        }
    }

    /// The same over another bench.
    pub(crate) fn over(bench: Box<dyn Bench>, stop: Stop) -> Self {
        Self { bench, stop }
    }

    /// The machine that judges candidates in `language`.
    pub(crate) fn facts_of(&self, language: Language) -> MachineFacts {
        self.bench.facts_of(language)
    }

    /// Whether the user asked to stop.
    pub(crate) fn stopped(&self) -> bool {
        self.stop.asked()
    }

    /// Judges all jobs and passes on each reply as it arrives. Ends early if asked to stop.
    pub(crate) fn judge(
        &mut self,
        jobs: Vec<Job>,
        progress: &Progress,
        mut reply: impl FnMut(JobId, Result<Judgement, BenchError>),
    ) -> Result<(), Failure> {
        let ids: Vec<JobId> = jobs.iter().map(|job| job.id).collect();
        let mut left = jobs.len();
        self.bench.submit(jobs)?;
        while left > 0 {
            let next = self.bench.next(GLANCE);
            if self.stop.asked() {
                self.bench.cancel(&ids);
                return Ok(());
            }
            if let Some(came) = next? {
                left -= 1;
                progress.judged(
                    came.judged
                        .as_ref()
                        .ok()
                        .map(|judgement| judgement.verdict.label()),
                );
                reply(came.id, came.judged);
            }
        }
        Ok(())
    }

    /// Judges all jobs without progress. A request to stop is a failure.
    pub(crate) fn replies(&mut self, jobs: Vec<Job>) -> Result<Vec<Reply>, Failure> {
        let mut replies = Vec::new();
        self.judge(jobs, &Progress::hidden(), |id, judged| {
            replies.push(Reply { id, judged });
        })?;
        if self.stopped() {
            return Err(Failure::interrupted());
        }
        Ok(replies)
    }

    /// Judges one job; `None` if asked to stop.
    pub(crate) fn judge_one(&mut self, job: Job) -> Result<Option<Judgement>, Failure> {
        let mut judged = None;
        self.judge(vec![job], &Progress::hidden(), |_, came| {
            judged = Some(came);
        })?;
        Ok(judged.transpose()?)
    }
}
