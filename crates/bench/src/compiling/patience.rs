//! How long a compiler may take: wall-clock time, extended while it had no processor.
//!
//! A host that takes cores away, or other work on them, makes any compiler slow. That must not
//! become a verdict. A compiler that waits for nothing, because its source had it read a pipe of
//! its own, earns one.

use std::io;
use std::time::Duration;

use crate::sys::{self, Pid, Times};

/// How often to check after the wall-clock limit has passed.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The result of waiting for a compiler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waited {
    Ended,
    /// It had its processor time and did not end.
    TooLong,
    /// It did not end, but it hardly had a processor.
    Starved,
}

/// Limits in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// Wall-clock seconds.
    pub(crate) wall: f64,
    /// Processor seconds. With less than this, the wall-clock limit is extended.
    pub(crate) processor: f64,
    /// Maximum extension before it counts as the machine's failure.
    pub(crate) put_off: f64,
}

impl Patience {
    /// Waits for a process that leads its own group. Returns an error if it cannot be watched.
    pub(crate) fn wait(self, pid: Pid) -> io::Result<Waited> {
        let begin = sys::now();
        let mut next = Duration::from_secs_f64(self.wall);
        while !sys::wait_end(pid, next)? {
            if let Some(waited) = self.judge(sys::now() - begin, Group::of(pid)) {
                return Ok(waited);
            }
            next = LOOK_EVERY;
        }
        Ok(Waited::Ended)
    }

    /// Looks at a process that was waited for so long already; nothing while there is hope.
    pub(crate) fn look(self, passed_s: f64, leader: Pid) -> Option<Waited> {
        self.judge(passed_s, Group::of(leader))
    }

    /// What a group is that has not ended after so long, where anybody counts its processor time;
    /// nothing while there is hope.
    fn judge(self, passed_s: f64, group: Option<Group>) -> Option<Waited> {
        let Some(group) = group.filter(|group| group.processor_s < self.processor) else {
            return Some(Waited::TooLong);
        };
        (passed_s >= self.wall + self.put_off).then_some(if group.sleeps {
            Waited::TooLong
        } else {
            Waited::Starved
        })
    }
}

/// The processes of a group.
#[derive(Debug, Clone, Copy)]
struct Group {
    /// Processor time of all of them so far, and of those that they reaped.
    processor_s: f64,
    /// Whether all of them sleep: none would go on if it had a processor.
    sleeps: bool,
}

impl Group {
    /// As the kernel shows it; none where it shows none.
    fn of(group: Pid) -> Option<Self> {
        let processes = std::fs::read_dir("/proc").ok()?.filter_map(Result::ok);
        let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<Pid>().ok());
        let of_group = numbers
            .filter_map(Times::of)
            .filter(|times| times.group == group);
        of_group.fold(None, |sum: Option<Self>, times| {
            let before = sum.unwrap_or(Self {
                processor_s: 0.0,
                sleeps: true,
            });
            Some(Self {
                processor_s: before.processor_s + times.own_s + times.reaped_s,
                sleeps: before.sleeps && times.sleeps,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use super::*;

    fn waited(patience: Patience, script: &str) -> Waited {
        let mut child = Command::new("sh")
            .args(["-c", script])
            .process_group(0)
            .spawn()
            .unwrap();
        let waited = patience.wait(child.id() as Pid).unwrap();
        drop(sys::signal(-(child.id() as Pid), libc::SIGKILL));
        child.wait().unwrap();
        waited
    }

    #[test]
    fn only_what_had_a_processor_took_too_long() {
        let patience = Patience {
            wall: 0.1,
            processor: 0.1,
            put_off: 60.0,
        };
        assert_eq!(waited(patience, "while :; do :; done"), Waited::TooLong);
        assert_eq!(
            waited(patience, "(while :; do :; done) & wait"),
            Waited::TooLong,
            "a child's time counts"
        );
        let hurried = Patience {
            put_off: 0.1,
            ..patience
        };
        assert_eq!(
            waited(hurried, "kill -STOP $$"),
            Waited::Starved,
            "it would go on"
        );
        assert_eq!(
            waited(hurried, "sleep 60"),
            Waited::TooLong,
            "it would not, whatever it had"
        );
        assert_eq!(
            waited(patience, "sleep 0.5"),
            Waited::Ended,
            "the clock alone is no verdict"
        );
    }

    #[test]
    fn what_cannot_be_watched_is_an_error() {
        assert!(
            Patience {
                wall: 0.1,
                processor: 0.1,
                put_off: 0.1
            }
            .wait(Pid::MAX)
            .is_err()
        );
    }

    #[test]
    fn where_nobody_counts_the_clock_does() {
        let patience = Patience {
            wall: 10.0,
            processor: 5.0,
            put_off: 20.0,
        };
        assert_eq!(patience.judge(10.0, None), Some(Waited::TooLong));
        let group = Group {
            processor_s: 4.9,
            sleeps: false,
        };
        assert_eq!(patience.judge(29.0, Some(group)), None);
        assert_eq!(patience.judge(30.0, Some(group)), Some(Waited::Starved));
    }
}
