//! How long a compiler may take: wall-clock time, extended while it had no processor.
//!
//! A host that takes cores away, or other work on them, makes any compiler slow. That must not
//! become a verdict. A compiler that waits for nothing, because its source had it read a pipe of
//! its own, earns one.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::time::Duration;

use crate::sys::{self, Pid, Times};

/// How often to look after the wall-clock limit has passed, on average.
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
        let mut vigil = Vigil::of(self);
        loop {
            let passed_s = sys::now() - begin;
            if let Some(waited) = vigil.look(passed_s, pid) {
                return Ok(waited);
            }
            if sys::wait_end(pid, vigil.rest(passed_s))? {
                return Ok(Waited::Ended);
            }
        }
    }
}

/// The looks at one process after its wall-clock limit.
///
/// Most of them decide whether the machine or the source is to blame. One look would be the
/// source's to choose: it could sleep and be awake just then. Nobody knows when the looks come.
#[derive(Debug)]
pub(crate) struct Vigil {
    patience: Patience,
    /// Looks so far, and those that found it asleep.
    looks: u32,
    asleep: u32,
    /// Seconds after the beginning at which the next look is due.
    due_s: f64,
}

impl Vigil {
    pub(crate) fn of(patience: Patience) -> Self {
        Self {
            patience,
            looks: 0,
            asleep: 0,
            due_s: patience.wall,
        }
    }

    /// Looks at a process that was waited for so long already, if a look is due; nothing while
    /// there is hope.
    pub(crate) fn look(&mut self, passed_s: f64, leader: Pid) -> Option<Waited> {
        if passed_s < self.due_s {
            return None;
        }
        self.due_s = passed_s + LOOK_EVERY.as_secs_f64() * (0.5 + unguessable());
        self.judge(passed_s, Group::of(leader))
    }

    /// The time until the next look.
    pub(crate) fn rest(&self, passed_s: f64) -> Duration {
        Duration::from_secs_f64((self.due_s - passed_s).max(0.001))
    }

    /// What a group is that has not ended after so long, where anybody counts its processor time.
    fn judge(&mut self, passed_s: f64, group: Option<Group>) -> Option<Waited> {
        let Patience {
            wall,
            processor,
            put_off,
        } = self.patience;
        let Some(group) = group.filter(|group| group.processor_s < processor) else {
            return Some(Waited::TooLong);
        };
        self.looks += 1;
        self.asleep += u32::from(group.sleeps);
        (passed_s >= wall + put_off).then_some(if 2 * self.asleep > self.looks {
            Waited::TooLong
        } else {
            Waited::Starved
        })
    }
}

/// A number in `[0, 1)` that no other process can foresee.
fn unguessable() -> f64 {
    let bits = RandomState::new().hash_one(());
    (bits >> 11) as f64 / (1_u64 << 53) as f64
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

    const TEN_SECONDS: Patience = Patience {
        wall: 10.0,
        processor: 5.0,
        put_off: 20.0,
    };

    fn group(processor_s: f64, sleeps: bool) -> Group {
        Group {
            processor_s,
            sleeps,
        }
    }

    #[test]
    fn where_nobody_counts_the_clock_does() {
        assert_eq!(
            Vigil::of(TEN_SECONDS).judge(10.0, None),
            Some(Waited::TooLong)
        );
        let mut vigil = Vigil::of(TEN_SECONDS);
        assert_eq!(vigil.judge(29.0, Some(group(4.9, false))), None);
        assert_eq!(
            vigil.judge(30.0, Some(group(4.9, false))),
            Some(Waited::Starved)
        );
    }

    #[test]
    fn who_is_awake_at_the_last_look_only_has_slept() {
        let mut vigil = Vigil::of(TEN_SECONDS);
        for second in 10..30 {
            let sleeps = second % 3 != 0;
            assert_eq!(
                vigil.judge(f64::from(second), Some(group(1.0, sleeps))),
                None
            );
        }
        assert_eq!(
            vigil.judge(30.0, Some(group(1.0, false))),
            Some(Waited::TooLong)
        );
    }

    #[test]
    fn looks_come_when_nobody_expects_them() {
        let mut pauses: Vec<Duration> = Vec::new();
        let mut vigil = Vigil::of(TEN_SECONDS);
        assert_eq!(vigil.rest(4.0), Duration::from_secs(6));
        assert_eq!(vigil.look(9.9, std::process::id() as Pid), None);
        assert_eq!(vigil.looks, 0, "none is due");
        for _ in 0..20 {
            let _ = vigil.look(10.0, std::process::id() as Pid);
            pauses.push(vigil.rest(10.0));
            vigil.due_s = 10.0;
        }
        pauses.sort();
        pauses.dedup();
        assert!(pauses.len() > 15, "{pauses:?}");
        assert!(pauses[0] >= LOOK_EVERY / 2 && pauses[pauses.len() - 1] <= LOOK_EVERY * 3 / 2);
    }
}
