//! The queues of the GPU bench: submitted candidates, and those with a plan.

use std::collections::{HashSet, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use hotloop_flow::{Job, JobKey};

use crate::gpu::candidate::Planned;

/// Candidates that may wait for the GPU, and bytes of their plans and code. Beyond either, workers
/// wait, too.
const PLANNED: usize = 256;
const PLANNED_BYTES: usize = 256 << 20;

/// A candidate that waits for the GPU.
pub(super) struct Waiting {
    pub(super) key: JobKey,
    pub(super) planned: Box<Planned>,
    /// Seconds until it had a plan.
    pub(super) compile_s: f64,
    /// Bytes of memory that it takes, about.
    pub(super) bytes: usize,
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
        if is_full(self.planned.iter().map(|waiting| waiting.bytes)) {
            return None;
        }
        let cancelled = &mut self.cancelled;
        std::iter::from_fn(|| self.submitted.pop_front()).find(|(key, _)| !cancelled.remove(key))
    }

    /// The next candidate with a plan that somebody waits for.
    pub(super) fn next_planned(&mut self) -> Option<Waiting> {
        let cancelled = &mut self.cancelled;
        std::iter::from_fn(|| self.planned.pop_front()).find(|it| !cancelled.remove(&it.key))
    }
}

/// Whether no more plans should be made while candidates of so many bytes wait.
fn is_full(waiting: impl ExactSizeIterator<Item = usize>) -> bool {
    waiting.len() >= PLANNED || waiting.sum::<usize>() >= PLANNED_BYTES
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
                // Where a queue was full, there is room now.
                self.changed.notify_all();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_plans_or_heavy_ones_fill_the_queue() {
        assert!(!is_full([].into_iter()));
        assert!(!is_full([1; PLANNED - 1].into_iter()));
        assert!(is_full([1; PLANNED].into_iter()));
        assert!(!is_full([PLANNED_BYTES - 1].into_iter()));
        assert!(is_full([PLANNED_BYTES / 2; 2].into_iter()));
    }

    #[test]
    fn taking_a_plan_wakes_threads_that_wait_for_room() {
        let board = Board::default();
        let (begun, begins) = std::sync::mpsc::channel();
        let room = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            let (board, room) = (&board, &room);
            let waits = scope.spawn(move || {
                board.wait(|_| {
                    begun.send(()).unwrap();
                    room.load(std::sync::atomic::Ordering::SeqCst).then_some(())
                })
            });
            begins.recv().unwrap();
            board.wait(|_| {
                room.store(true, std::sync::atomic::Ordering::SeqCst);
                Some(())
            });
            assert_eq!(waits.join().unwrap(), Some(()));
        });
    }
}
