//! Processor times as the kernel counts them, in the text of a process's `stat`.

use crate::sys::call::Pid;

/// Ticks of a second in the kernel's counters.
pub(crate) const TICKS: f64 = 100.0;

/// The processor time of a process.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Times {
    /// The process group that it belongs to.
    pub(crate) group: Pid,
    /// Whether it waits for something else than a processor or a disk.
    pub(crate) sleeps: bool,
    /// Seconds of all its threads.
    pub(crate) own_s: f64,
    /// Seconds of the children that it has reaped.
    pub(crate) reaped_s: f64,
}

impl Times {
    /// The times of a running process; `None` if it is gone or the kernel does not show them.
    pub(crate) fn of(pid: Pid) -> Option<Self> {
        Self::read(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// Reads the times from the text of `stat`.
    pub(crate) fn read(stat: &str) -> Option<Self> {
        // The fields after the command's name, which may contain anything: state, parent, group;
        // from the twelfth on, the times.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let seconds = |first: usize| -> Option<f64> {
            let both: Option<Vec<f64>> = fields
                .get(first..first + 2)?
                .iter()
                .map(|field| field.parse().ok())
                .collect();
            Some(both?.iter().sum::<f64>() / TICKS)
        };
        Some(Self {
            group: fields.get(2)?.parse().ok()?,
            sleeps: *fields.first()? == "S",
            own_s: seconds(11)?,
            reaped_s: seconds(13)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_of_a_process_are_read() {
        let stat = "7 (a) b) R 1 42 42 0 -1 4194304 9 9 9 9 100 20 3 7 20 0 1 0 5 6 7";
        assert_eq!(
            Times::read(stat),
            Some(Times {
                group: 42,
                sleeps: false,
                own_s: 1.2,
                reaped_s: 0.1
            })
        );
        assert_eq!((Times::read(""), Times::read("7 (a) R 1 42")), (None, None));
        assert!(Times::of(std::process::id() as Pid).is_some());
    }
}
