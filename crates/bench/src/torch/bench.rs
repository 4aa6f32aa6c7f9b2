//! A bench of modules: a queue before a judge, whose process with torch stays from one job to the
//! next.

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hotloop_flow::{Bench, BenchError, Job, JobId, JobKey, Language, MachineFacts, Reply, Verdict};

use super::answer::Answer;
use super::judge::Judge;
use super::message::Facts;
use crate::ledger::{Finished, Ledger, guarded, judgement};
use crate::sys;

/// Bytes of the longest answer that is read.
const LONGEST: usize = 1 << 20;
/// Problems whose facts are kept.
const KNOWN: usize = 1024;
/// Jobs for one problem that may overtake others: torch measures a problem anew whenever another
/// one came between.
const IN_A_ROW: usize = 16;

/// Judges modules one after the other. A job's task holds the problem as its reference.
pub struct ModuleBench {
    queue: Arc<Queue>,
    replies: Receiver<Finished>,
    ledger: Ledger,
    facts: MachineFacts,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<(JobKey, Job)>,
    /// The task that was taken last, and how often in a row.
    last: Option<(String, usize)>,
    closed: bool,
}

impl ModuleBench {
    /// Starts the thread that judges. A machine that cannot run modules is an error: from it no
    /// module gets any verdict.
    pub fn start(judge: Judge) -> Result<Self, BenchError> {
        let facts = judge.facts()?;
        let queue = Arc::new(Queue::default());
        let (sender, replies) = channel();
        let own = Arc::clone(&queue);
        let thread = sys::spawn(move || judge_all(judge, &own, &sender))?;
        Ok(Self {
            queue,
            replies,
            ledger: Ledger::default(),
            facts,
            thread: Some(thread),
        })
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Waiting)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// The next job; nothing once the bench closes.
    fn next(&self) -> Option<(JobKey, Job)> {
        let mut waiting = self.lock();
        loop {
            if waiting.closed {
                return None;
            }
            if let Some(next) = waiting.take() {
                return Some(next);
            }
            waiting = self
                .changed
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Waiting {
    /// The first job, or one for the problem that is loaded.
    fn take(&mut self) -> Option<(JobKey, Job)> {
        let last = self.last.take();
        let loaded = last.as_ref().filter(|(_, times)| *times < IN_A_ROW);
        let same = loaded.and_then(|(task, _)| {
            let mut jobs = self.jobs.iter();
            jobs.position(|(key, _)| key.task == *task)
        });
        let next = self.jobs.remove(same.unwrap_or(0))?;
        let times = match last {
            Some((task, times)) if task == next.0.task => times + 1,
            _ => 1,
        };
        self.last = Some((next.0.task.clone(), times));
        Some(next)
    }
}

/// Judges until the bench closes.
fn judge_all(mut judge: Judge, queue: &Queue, replies: &Sender<Finished>) {
    let mut known = BTreeMap::new();
    while let Some((key, job)) = queue.next() {
        let begin = sys::now();
        let judged = guarded("judging", || verdict(&mut judge, &mut known, &job));
        let judged = judged.map(|verdict| judgement(verdict, 0.0, sys::now() - begin));
        if replies.send((key, Instant::now(), judged)).is_err() {
            return;
        }
    }
}

fn verdict(
    judge: &mut Judge,
    known: &mut BTreeMap<String, Facts>,
    job: &Job,
) -> Result<Verdict, BenchError> {
    let (problem, answer) = (&job.task.reference, job.candidate.source());
    if answer.len() > LONGEST {
        let why = format!("an answer has at most {LONGEST} bytes");
        return Ok(Verdict::Malformed { why });
    }
    if !known.contains_key(&job.task.hash) {
        let unread = |why: String| BenchError::user(format!("the problem cannot be read: {why}"));
        let facts = judge.problem(problem)?.map_err(unread)?;
        if known.len() == KNOWN {
            known.clear();
        }
        known.insert(job.task.hash.clone(), facts);
    }
    let answer = match job.candidate.language() {
        Language::Cuda => Answer::Cuda(answer),
        Language::C | Language::Torch => Answer::Python(answer),
    };
    let judged = judge.judge(problem, &known[&job.task.hash], answer)?;
    Ok(judged.verdict)
}

impl Bench for ModuleBench {
    fn submit(&mut self, jobs: Vec<Job>) -> Result<(), BenchError> {
        let ledger = &mut self.ledger;
        self.queue.change(|waiting| {
            for job in jobs {
                if let Some(key) = ledger.enter(&job) {
                    waiting.jobs.push_back((key, job));
                }
            }
        });
        Ok(())
    }

    fn next(&mut self, timeout: Duration) -> Result<Option<Reply>, BenchError> {
        let deadline = Instant::now() + timeout;
        loop {
            if let Some(reply) = self.ledger.take() {
                return Ok(Some(reply));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.replies.recv_timeout(left) {
                Ok(finished) => self.ledger.finish(&finished),
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(BenchError::machine("the judge of modules has ended"));
                }
            }
        }
    }

    fn cancel(&mut self, ids: &[JobId]) {
        let unwanted = self.ledger.cancel(ids);
        self.queue
            .change(|waiting| waiting.jobs.retain(|(key, _)| !unwanted.contains(key)));
    }

    fn facts(&self) -> MachineFacts {
        self.facts.clone()
    }
}

impl Drop for ModuleBench {
    fn drop(&mut self) {
        self.queue.change(|waiting| waiting.closed = true);
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has already reported it.
            drop(thread.join());
        }
    }
}

#[cfg(test)]
mod tests {
    use hotloop_flow::{Candidate, problem};

    use super::*;

    fn waiting(problems: &[&str]) -> Waiting {
        let mut waiting = Waiting::default();
        for (number, text) in problems.iter().enumerate() {
            let job = Job {
                id: JobId(number as u64),
                task: Arc::new(problem::task(text)),
                candidate: Candidate::restore(Language::Torch, number.to_string()),
                stage: None,
            };
            waiting.jobs.push_back((job.key(), job));
        }
        waiting
    }

    fn order(mut waiting: Waiting) -> Vec<u64> {
        let next = || waiting.take().map(|(_, job)| job.id.0);
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn jobs_for_the_loaded_problem_come_first_and_others_are_not_left_behind() {
        assert_eq!(order(waiting(&["a", "b", "a", "b"])), [0, 2, 1, 3]);
        let mut many = vec!["a"; IN_A_ROW + 1];
        many.insert(1, "b");
        let taken = order(waiting(&many));
        assert_eq!(taken[IN_A_ROW], 1, "after so many in a row");
        assert_eq!(taken.len(), many.len());
    }
}
