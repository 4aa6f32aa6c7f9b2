//! Which jobs a bench owes replies to.

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use hotloop_flow::bench::Seconds;
use hotloop_flow::{BenchError, Job, JobId, JobKey, Judgement, Reply, Verdict};

/// A judged candidate, and the time of its verdict, not of the request for it.
pub(crate) type Finished = (JobKey, Instant, Result<Judgement, BenchError>);

/// Submitted jobs and replies that nobody has taken yet.
#[derive(Default)]
pub(crate) struct Ledger {
    /// Submitted jobs by content. Identical candidates share one judgement.
    waiting: HashMap<JobKey, Vec<(JobId, Instant)>>,
    ready: VecDeque<Reply>,
}

impl Ledger {
    /// Notes a job. The key if it is to be judged; `None` if an identical one already is.
    pub(crate) fn enter(&mut self, job: &Job) -> Option<JobKey> {
        let key = job.key();
        let entry = self.waiting.entry(key.clone()).or_default();
        entry.push((job.id, Instant::now()));
        (entry.len() == 1).then_some(key)
    }

    /// Jobs whose replies have not been taken yet.
    pub(crate) fn pending(&self) -> usize {
        self.ready.len() + self.waiting.values().map(Vec::len).sum::<usize>()
    }

    /// Makes the replies to all jobs with that content.
    pub(crate) fn finish(&mut self, (key, at, judged): &Finished) {
        for (id, since) in self.waiting.remove(key).unwrap_or_default() {
            let mut judged = judged.clone();
            if let Ok(judgement) = &mut judged {
                judgement.seconds.total = at.saturating_duration_since(since).as_secs_f64();
            }
            self.ready.push_back(Reply { id, judged });
        }
    }

    /// The next reply that nobody has taken.
    pub(crate) fn take(&mut self) -> Option<Reply> {
        self.ready.pop_front()
    }

    /// Forgets jobs. Returns the contents that nobody waits for any more.
    pub(crate) fn cancel(&mut self, ids: &[JobId]) -> Vec<JobKey> {
        self.ready.retain(|reply| !ids.contains(&reply.id));
        let mut unwanted = Vec::new();
        for (key, jobs) in &mut self.waiting {
            jobs.retain(|(id, _)| !ids.contains(id));
            if jobs.is_empty() {
                unwanted.push(key.clone());
            }
        }
        self.waiting.retain(|_, jobs| !jobs.is_empty());
        unwanted
    }
}

/// Runs `work` and catches a panic. A bug must not cost the job its reply or the bench its thread.
pub(crate) fn guarded<T>(
    what: &str,
    work: impl FnOnce() -> Result<T, BenchError>,
) -> Result<T, BenchError> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(BenchError::machine(format!(
            "{what} a candidate failed: a mistake in hotloop"
        )))
    })
}

/// A judgement whose total is not known yet.
pub(crate) fn judgement(verdict: Verdict, compile: f64, run: f64) -> Judgement {
    Judgement {
        verdict: verdict.shortened(),
        seconds: Seconds {
            compile,
            run,
            total: 0.0,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hotloop_flow::Candidate;

    use super::*;

    fn job(id: u64, source: &str) -> Job {
        let task = Arc::new(crate::tasks::load("cuda/relu").unwrap());
        let candidate = Candidate::restore(task.spec.language, source.to_owned());
        Job {
            id: JobId(id),
            task,
            candidate,
            stage: None,
        }
    }

    #[test]
    fn identical_jobs_are_judged_once_and_all_get_a_reply() {
        let mut ledger = Ledger::default();
        let key = ledger.enter(&job(1, "a")).expect("it is the first");
        assert_eq!(ledger.enter(&job(2, "a")), None);
        assert!(ledger.enter(&job(3, "b")).is_some());
        assert_eq!(ledger.pending(), 3);
        let refused = Verdict::Refused { why: String::new() };
        ledger.finish(&(key, Instant::now(), Ok(judgement(refused, 0.1, 0.0))));
        let ids: Vec<u64> = std::iter::from_fn(|| ledger.take())
            .map(|reply| reply.id.0)
            .collect();
        assert_eq!((ids, ledger.pending()), (vec![1, 2], 1));
    }

    #[test]
    fn a_content_is_unwanted_when_nobody_waits_for_it() {
        let mut ledger = Ledger::default();
        let key = ledger.enter(&job(1, "a"));
        ledger.enter(&job(2, "a"));
        assert_eq!(ledger.cancel(&[JobId(1)]), []);
        assert_eq!(ledger.cancel(&[JobId(2)]), [key.unwrap()]);
        assert_eq!(ledger.pending(), 0);
    }
}
