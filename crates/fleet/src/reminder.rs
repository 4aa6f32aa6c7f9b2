//! When to tell a waiting user what is missing: after some seconds, and then rarely.

use std::time::{Duration, Instant};

/// A shorter wait needs no message.
const FIRST: Duration = Duration::from_secs(5);
/// The time between two messages.
const AGAIN: Duration = Duration::from_mins(1);

/// A wait, and the time of its next message.
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

    /// Whether it is time for a message.
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
