//! The jobs in progress, the kept verdicts, and the requests that wait for them.
//!
//! Two candidates with the same [`Key`] are one job, even from several clients. A verdict is kept
//! for a while, so that a repeated request finds it. It is not kept longer, because a lucky timing
//! must not become a fact. A machine's failure is not kept, so a retry is a new attempt.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hotloop_flow::error::ErrorKind;
use hotloop_flow::{BenchError, Job, JobId, JobKey, Judgement};
use tokio::sync::watch;

use crate::settings::Limits;

/// Identifies a job. Jobs with equal keys are one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) job: JobKey,
    /// The hash of the request's own name, if it must be judged separately from all others. It is a
    /// hash because names may be long and keys are kept.
    pub(crate) apart: Option<blake3::Hash>,
}

/// The outcome of a job.
pub(crate) type Outcome = Result<Arc<Judgement>, BenchError>;

/// Receives the outcome of a job.
pub(crate) type Ticket = watch::Receiver<Option<Outcome>>;

/// There is no room for another job.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Full;

struct Entry {
    told: watch::Sender<Option<Outcome>>,
    /// Until it is judged.
    job: Option<Job>,
    tries: u32,
    /// The time since which no request waits for it.
    alone: Option<Instant>,
}

/// All jobs and the kept verdicts.
pub(crate) struct Board {
    limits: Limits,
    entries: HashMap<Key, Entry>,
    running: HashMap<JobId, Key>,
    /// Jobs that the bench does not have yet, in groups.
    queue: Vec<Vec<Job>>,
    done: VecDeque<(Instant, Key)>,
    bytes: usize,
    jobs: u64,
    /// Requests whose job already existed.
    pub(crate) attached: u64,
}

impl Board {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            entries: HashMap::new(),
            running: HashMap::new(),
            queue: Vec::new(),
            done: VecDeque::new(),
            bytes: 0,
            jobs: 0,
            attached: 0,
        }
    }

    /// Jobs that have not been judged.
    pub(crate) fn waiting(&self) -> usize {
        self.running.len()
    }

    /// Verdicts that are kept.
    pub(crate) fn kept(&self) -> usize {
        self.done.len()
    }

    /// Joins or starts the jobs of a group. New jobs go to the bench together. The jobs' own ids do
    /// not matter.
    pub(crate) fn attach(&mut self, group: Vec<(Key, Job)>) -> Result<Vec<Ticket>, Full> {
        let mut begun = Vec::new();
        let tickets = group
            .into_iter()
            .map(|(key, job)| self.join(key, job, &mut begun))
            .collect();
        // This also happens if there was no room for all. A retry joins these jobs.
        if !begun.is_empty() {
            self.queue.push(begun);
        }
        tickets
    }

    fn join(&mut self, key: Key, job: Job, begun: &mut Vec<Job>) -> Result<Ticket, Full> {
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.alone = None;
            self.attached += 1;
            return Ok(entry.told.subscribe());
        }
        let size = job.candidate.source().len();
        if self.running.len() >= self.limits.jobs || self.bytes + size > self.limits.job_bytes {
            return Err(Full);
        }
        self.bytes += size;
        let (told, ticket) = watch::channel(None);
        self.entries.insert(
            key.clone(),
            Entry {
                told,
                job: Some(job.clone()),
                tries: 0,
                alone: None,
            },
        );
        begun.push(self.begin(key, job));
        Ok(ticket)
    }

    /// Gives a job its number.
    fn begin(&mut self, key: Key, mut job: Job) -> Job {
        self.jobs += 1;
        job.id = JobId(self.jobs);
        self.running.insert(job.id, key);
        job
    }

    /// The groups that the bench does not have yet.
    pub(crate) fn take(&mut self) -> Vec<Vec<Job>> {
        std::mem::take(&mut self.queue)
    }

    /// Records the bench's reply to a job, and returns the failure that waiting requests get.
    pub(crate) fn reply(
        &mut self,
        id: JobId,
        judged: Result<Judgement, BenchError>,
        now: Instant,
    ) -> Option<BenchError> {
        let key = self.running.remove(&id)?;
        let entry = self.entries.get_mut(&key)?;
        match judged {
            Ok(judgement) => {
                self.bytes -= entry
                    .job
                    .take()
                    .map_or(0, |job| job.candidate.source().len());
                entry.told.send_replace(Some(Ok(Arc::new(judgement))));
                self.done.push_back((now, key));
                if self.done.len() > self.limits.kept {
                    self.forget_oldest();
                }
                None
            }
            Err(error) if error.kind == ErrorKind::Machine && entry.tries < self.limits.retries => {
                entry.tries += 1;
                if let Some(job) = entry.job.clone() {
                    let again = self.begin(key, job);
                    self.queue.push(vec![again]);
                }
                None
            }
            Err(error) => {
                self.fail(&key, &error);
                Some(error)
            }
        }
    }

    fn fail(&mut self, key: &Key, error: &BenchError) {
        if let Some(entry) = self.entries.remove(key) {
            self.bytes -= entry.job.map_or(0, |job| job.candidate.source().len());
            entry.told.send_replace(Some(Err(error.clone())));
        }
    }

    /// The bench is gone and its jobs with it.
    pub(crate) fn fail_all(&mut self, error: &BenchError) {
        self.queue.clear();
        let keys: Vec<Key> = self.running.drain().map(|(_, key)| key).collect();
        for key in keys {
            self.fail(&key, error);
        }
    }

    /// Forgets old verdicts, and returns the jobs that no request has waited for in a long time.
    pub(crate) fn sweep(&mut self, now: Instant) -> Vec<JobId> {
        let is_old = |since: &Instant, age: Duration| now.saturating_duration_since(*since) >= age;
        while self
            .done
            .front()
            .is_some_and(|(since, _)| is_old(since, self.limits.keep))
        {
            self.forget_oldest();
        }
        let mut abandoned = Vec::new();
        for (id, key) in &self.running {
            let Some(entry) = self.entries.get_mut(key) else {
                continue;
            };
            if entry.told.receiver_count() > 0 {
                entry.alone = None;
            } else if is_old(entry.alone.get_or_insert(now), self.limits.abandon) {
                abandoned.push(*id);
            }
        }
        for id in &abandoned {
            if let Some(key) = self.running.remove(id) {
                self.fail(&key, &BenchError::machine("nobody waited for it"));
            }
        }
        for group in &mut self.queue {
            group.retain(|job| !abandoned.contains(&job.id));
        }
        self.queue.retain(|group| !group.is_empty());
        abandoned
    }

    /// Forgets all verdicts, because new ones come from machines whose timings cannot be compared
    /// with theirs.
    pub(crate) fn forget(&mut self) {
        while !self.done.is_empty() {
            self.forget_oldest();
        }
    }

    /// Forgets this judgement, unless another has taken its place.
    pub(crate) fn forget_one(&mut self, key: &Key, judgement: &Arc<Judgement>) {
        let is_it = |entry: &Entry| match &*entry.told.borrow() {
            Some(Ok(kept)) => Arc::ptr_eq(kept, judgement),
            _ => false,
        };
        if self.entries.get(key).is_some_and(is_it) {
            self.entries.remove(key);
            self.done.retain(|(_, kept)| kept != key);
        }
    }

    fn forget_oldest(&mut self) {
        if let Some((_, key)) = self.done.pop_front() {
            self.entries.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests;
