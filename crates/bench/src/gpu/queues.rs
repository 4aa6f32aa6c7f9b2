//! The queues of the GPU bench: submitted candidates, and those with a plan.

use std::collections::{HashSet, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use hotloop_flow::{Job, JobKey};

use crate::gpu::candidate::Planned;

/// A candidate that waits for the GPU.
pub(super) struct Waiting {
    pub(super) key: JobKey,
    pub(super) planned: Box<Planned>,
    /// Seconds until it had a plan.
    pub(super) compile_s: f64,
}

#[derive(Default)]
pub(super) struct Queues {
    pub(super) submitted: VecDeque<(JobKey, Job)>,
    pub(super) planned: VecDeque<Waiting>,
    pub(super) cancelled: HashSet<JobKey>,
    pub(super) closed: bool,
}

impl Queues {
    /// The next submitted candidate that somebody waits for.
    pub(super) fn next_submitted(&mut self) -> Option<(JobKey, Job)> {
        let cancelled = &mut self.cancelled;
        std::iter::from_fn(|| self.submitted.pop_front()).find(|(key, _)| !cancelled.remove(key))
    }

    /// The next candidate with a plan that somebody waits for.
    pub(super) fn next_planned(&mut self) -> Option<Waiting> {
        let cancelled = &mut self.cancelled;
        std::iter::from_fn(|| self.planned.pop_front()).find(|it| !cancelled.remove(&it.key))
    }
}

/// The queues, and who waits for them.
#[derive(Default)]
pub(super) struct Board {
    queues: Mutex<Queues>,
    changed: Condvar,
}

impl Board {
    /// Changes the queues, and wakes those that wait.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut Queues) -> T) -> T {
        let changed = change(&mut self.lock());
        self.changed.notify_all();
        changed
    }

    /// Waits until `take` returns something; `None` when the bench closes.
    pub(super) fn wait<T>(&self, mut take: impl FnMut(&mut Queues) -> Option<T>) -> Option<T> {
        let mut queues = self.lock();
        loop {
            if queues.closed {
                return None;
            }
            if let Some(taken) = take(&mut queues) {
                return Some(taken);
            }
            queues = self
                .changed
                .wait(queues)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queues> {
        // The queues stay consistent, whatever a panicking thread was doing.
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
