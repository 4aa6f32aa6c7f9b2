//! A candidate's process as the watch sees it: traced, interrupted, let go on.

use std::fs;
use std::ops::Range;
use std::time::Duration;

use crate::cpu::object_file::Code;
use crate::cpu::supervisor::failure::{Failure, machine};
use crate::cpu::supervisor::limit::Limit;
use crate::cpu::supervisor::protocol::Stray;
use crate::sys::{self, Pid, Traced};

/// Seconds between two looks at the limit.
const CHECK_S: f64 = 10e-3;
/// Looks at the bench's own program that are too many, if they are also a quarter of all.
const OWN_LOOKS: usize = 10;

/// A process that is watched: all of its threads are traced.
pub(crate) struct Watch {
    pid: Pid,
    cores: Vec<usize>,
    threads: Vec<Pid>,
    /// Those that stand still until the next run.
    still: Vec<Pid>,
    /// Where the code of the object, of the bench's program, and of everything lies. None comes
    /// anywhere else later.
    object: Vec<Place>,
    bench: Vec<Place>,
    all: Vec<Place>,
    /// Looks so far, and those at the bench's program.
    looks: usize,
    own_looks: usize,
}

/// Where code lies in memory, and where in its file.
type Place = (Range<u64>, u64);

impl Watch {
    /// Attaches to a process that has stopped itself, which ends with the watch.
    pub(crate) fn attach(pid: Pid, cores: &[usize], object: &str) -> Result<Self, Failure> {
        let reading = machine("reading a candidate's memory map");
        let program = fs::read_link("/proc/self/exe").map_err(&reading)?;
        let map = fs::read_to_string(format!("/proc/{pid}/maps")).map_err(&reading)?;
        let places = |file: &str| map.lines().filter_map(|line| place(line, file)).collect();
        let mut watch = Self {
            pid,
            cores: cores.to_vec(),
            threads: Vec::new(),
            still: Vec::new(),
            object: places(object),
            bench: places(&program.to_string_lossy()),
            all: places(""),
            looks: 0,
            own_looks: 0,
        };
        let attaching = machine("tracing the candidate to watch it");
        for entry in fs::read_dir(format!("/proc/{pid}/task")).map_err(&attaching)? {
            let name = entry.map_err(&attaching)?.file_name();
            let thread = name.to_str().and_then(|name| name.parse().ok());
            let thread: Pid = thread.unwrap_or(pid);
            sys::seize(thread).map_err(&attaching)?;
            watch.threads.push(thread);
        }
        // They were stopped, and each says so once more to its tracer.
        while watch.still.len() < watch.threads.len() {
            if let Some((thread, _)) = watch.next(None)? {
                watch.still.push(thread);
            }
        }
        // From now on they stand still for the tracer alone.
        sys::signal(pid, libc::SIGCONT).map_err(machine("continuing the candidate"))?;
        Ok(watch)
    }

    /// Lets it make one run and looks at it now and then: after each pause, as long as there is one.
    pub(crate) fn run(
        &mut self,
        code: &Code<'_>,
        limit_s: f64,
        mut pause: impl FnMut() -> Option<Duration>,
    ) -> Result<Option<Stray>, Failure> {
        let mut limit = Limit::start(self.pid, &self.cores, limit_s);
        for thread in std::mem::take(&mut self.still) {
            resume(thread, 0)?;
        }
        let mut turn = 0;
        let mut checked = sys::now();
        loop {
            let pause = pause();
            if let Some(pause) = pause {
                std::thread::sleep(pause);
            }
            if sys::now() - checked > CHECK_S {
                limit.check()?;
                checked = sys::now();
            }
            // A thread that is asked while it stands still stops again before it has done anything.
            let told = sys::poll_traced().map_err(machine("asking for the candidate"))?;
            if told.is_none() && pause.is_some() {
                turn += 1;
                // A thread that has gone says so next.
                drop(sys::interrupt(self.at_turn(turn)));
            }
            // A thread that has gone, or waits for ever, says nothing: the alarm ends the wait.
            let Some((thread, report)) = self.next(told)? else {
                limit.check()?;
                continue;
            };
            match report {
                Traced::Signalled(libc::SIGSTOP) if thread == self.pid => {
                    self.still.push(thread);
                    let is_often = self.own_looks >= OWN_LOOKS && self.own_looks > self.looks / 4;
                    return Ok(is_often.then_some(Stray::Bench));
                }
                Traced::Signalled(signal) => resume(thread, signal)?,
                Traced::StartedThread => resume(thread, 0)?,
                Traced::Interrupted => {
                    if self.is_within(thread, code)? {
                        return Ok(Some(Stray::Within));
                    }
                    if !self.threads.contains(&thread) {
                        self.threads.push(thread);
                    }
                    resume(thread, 0)?;
                }
                Traced::Ended => {}
            }
        }
    }

    /// Every second look is at the first thread, the others are at all in turn.
    fn at_turn(&self, turn: usize) -> Pid {
        let index = if turn.is_multiple_of(2) { turn / 2 } else { 0 };
        self.threads[index % self.threads.len()]
    }

    /// What a thread has just told, or tells before an alarm rings. The end of the process is a
    /// failure.
    fn next(&mut self, told: Option<(Pid, Traced)>) -> Result<Option<(Pid, Traced)>, Failure> {
        let next = told.map_or_else(sys::wait_traced, |told| Ok(Some(told)));
        let Some((thread, report)) = next.map_err(machine("waiting for the candidate"))? else {
            return Ok(None);
        };
        if report == Traced::Ended {
            self.threads.retain(|known| *known != thread);
            if thread == self.pid {
                return Err(Failure::Crashed("ended while it was watched".into()));
            }
        }
        Ok(Some((thread, report)))
    }

    /// Looks at a thread that stands still: whether it is within an instruction of the object, or
    /// where no code lay when the watch began.
    fn is_within(&mut self, thread: Pid, code: &Code<'_>) -> Result<bool, Failure> {
        let at = match sys::next_instruction(thread) {
            // Another thread has ended the process meanwhile, which the next report says.
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => return Ok(false),
            place => place.map_err(machine("reading a candidate's place"))?,
        };
        let holds = |place: &&Place| place.0.contains(&at);
        self.looks += 1;
        self.own_looks += usize::from(self.bench.iter().any(|place| holds(&place)));
        if !self.all.iter().any(|place| holds(&place)) {
            return Ok(true);
        }
        let place = self.object.iter().find(holds);
        Ok(place.is_some_and(|(memory, offset)| !code.begins_in_file(at - memory.start + offset)))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(sys::signal(self.pid, libc::SIGKILL));
        // A process is only gone once its tracer has heard of every thread.
        while !self.threads.is_empty() && self.next(None).is_ok() {}
        sys::reap(self.pid);
    }
}

fn resume(thread: Pid, signal: i32) -> Result<(), Failure> {
    match sys::resume(thread, signal) {
        // Something else has ended it, which its next report says.
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(()),
        resumed => resumed.map_err(machine("continuing the candidate")),
    }
}

/// One line of a memory map, such as `7f00-7f10 r-xp 00001000 fe:00 12 /tmp/x.so`, if it is code of
/// a file, or of any if its name is empty. A candidate cannot add any.
fn place(line: &str, file: &str) -> Option<Place> {
    let hex = |text| u64::from_str_radix(text, 16).ok();
    let head = if file.is_empty() {
        line
    } else {
        line.split_once(file)?.0
    };
    let mut fields = head.split_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let is_code = fields.next()?.contains('x');
    let offset = hex(fields.next()?)?;
    is_code.then_some((hex(start)?..hex(end)?, offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_of_the_object_has_a_place() {
        let object = "/run/a b.so";
        let line = "7f00-7f10 r-xp 00001000 fe:00 12        /run/a b.so";
        assert_eq!(place(line, object), Some((0x7f00..0x7f10, 0x1000)));
        let data = "7f00-7f10 rw-p 00001000 fe:00 12        /run/a b.so";
        assert_eq!(place(data, object), None);
        assert_eq!(place(line, "/run/c.so"), None);
        assert_eq!(place(line, ""), Some((0x7f00..0x7f10, 0x1000)));
        let vdso = "7fff-8fff r-xp 00000000 00:00 0                  [vdso]";
        assert_eq!(place(vdso, ""), Some((0x7fff..0x8fff, 0)));
    }
}
