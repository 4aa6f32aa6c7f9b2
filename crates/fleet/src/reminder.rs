//! When to tell who waits what for: after some seconds, and then rarely.

use std::time::{Duration, Instant};

/// A wait that is no longer than this needs no word.
const FIRST: Duration = Duration::from_secs(5);
/// How long a word lasts.
const AGAIN: Duration = Duration::from_mins(1);

/// A wait, and when to speak of it next.
pub(crate) struct Reminder {
    since: Instant,
    next: Duration,
}

impl Reminder {
    /// The wait begins.
    pub(crate) fn new() -> Self {
        Self {
            since: Instant::now(),
            next: FIRST,
        }
    }

    /// Whether it is time for a word.
    pub(crate) fn is_due(&mut self) -> bool {
        self.is_due_after(self.since.elapsed())
    }

    fn is_due_after(&mut self, waited: Duration) -> bool {
        let due = waited >= self.next;
        if due {
            self.next = waited + AGAIN;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_comes_after_some_seconds_and_then_each_minute() {
        let mut reminder = Reminder::new();
        let due = (0..200).filter(|second| reminder.is_due_after(Duration::from_secs(*second)));
        assert_eq!(due.collect::<Vec<u64>>(), [5, 65, 125, 185]);
    }
}
