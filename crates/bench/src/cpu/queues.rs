//! The queues of the bench: submitted, examined and timed candidates.

use std::collections::{HashSet, VecDeque};
use std::sync::mpsc::Sender;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock};

use hotloop_flow::{Job, JobKey, Verdict};

use crate::cpu::examine::Examined;
use crate::cpu::machine::Machine;
use crate::cpu::prepared::Preparations;
use crate::cpu::quiet_budget::QuietBudget;
use crate::ledger::Finished;

pub(super) type Replies = Sender<Finished>;

pub(super) struct Shared {
    pub(super) machine: Machine,
    pub(super) preparations: Preparations,
    pub(super) queues: Mutex<Queues>,
    pub(super) changed: Condvar,
    /// Examiners hold it for reading and clocks for writing, on machines where the two disturb each
    /// other.
    pub(super) quiet: Option<RwLock<()>>,
}

#[derive(Default)]
pub(super) struct Queues {
    pub(super) submitted: VecDeque<(JobKey, Job)>,
    pub(super) examined: VecDeque<Waiting>,
    pub(super) cancelled: HashSet<JobKey>,
    pub(super) quiet: QuietBudget,
    pub(super) closed: bool,
}

impl Queues {
    /// The next candidate to time; `None` once the bench closes, because nobody would get the
    /// result.
    pub(super) fn next_examined(&mut self) -> Option<Waiting> {
        while !self.closed {
            let waiting = self.examined.pop_front()?;
            if !self.cancelled.remove(&waiting.key) {
                return Some(waiting);
            }
        }
        None
    }
}

/// A candidate that waits for the clock.
pub(super) struct Waiting {
    pub(super) key: JobKey,
    pub(super) job: Job,
    pub(super) examined: Examined,
    /// The number of earlier timings on a noisy machine.
    pub(super) tries: u32,
    pub(super) steadiest: Option<Verdict>,
    pub(super) run_s: f64,
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, Queues> {
        // The queues stay consistent, whatever a panicking thread was doing.
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
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
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hotloop_flow::JobId;

    use super::*;

    fn waiting(name: &str) -> Waiting {
        let task = Arc::new(crate::tasks::load("transpose").unwrap());
        let candidate = hotloop_flow::Candidate::from_source(task.seed.as_bytes(), &task).unwrap();
        let nowhere = std::path::PathBuf::new;
        let prepared = crate::cpu::prepared::Prepared {
            shim: nowhere(),
            trusted: nowhere(),
            baseline: None,
        };
        let (object, prepared) = (nowhere(), Arc::new(prepared));
        Waiting {
            key: JobKey {
                task: name.to_owned(),
                candidate: String::new(),
                stage: None,
            },
            job: Job {
                id: JobId(0),
                task,
                candidate,
                stage: None,
            },
            examined: Examined {
                object,
                _folder: None,
                prepared,
                compile_s: 0.0,
                own_threads: crate::sandbox::rights::OwnThreads::Unused,
                restricted: false,
            },
            tries: 0,
            steadiest: None,
            run_s: 0.0,
        }
    }

    #[test]
    fn nothing_is_timed_that_was_cancelled_or_that_nobody_will_hear_of() {
        let mut queues = Queues::default();
        queues
            .examined
            .extend(["first", "second", "third", "fourth"].map(waiting));
        queues.cancelled.insert(waiting("second").key);
        let mut next = |closed: bool| {
            queues.closed = closed;
            queues.next_examined().map(|waiting| waiting.key.task)
        };
        assert_eq!(next(false).as_deref(), Some("first"));
        assert_eq!(next(false).as_deref(), Some("third"));
        assert_eq!(next(true), None, "the fourth is left where it is");
    }
}
