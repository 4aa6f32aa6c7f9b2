//! Serves one request at a time, from standard input to standard output.

use std::io::{BufRead, Write};

use crate::cpu::supervisor::failure::Failure;
use crate::cpu::supervisor::instruments::Instruments;
use crate::cpu::supervisor::protocol::{Answer, Request, Work};
use crate::cpu::supervisor::{examining, stopwatch};
use crate::sys;

/// The role: serves requests until standard input ends.
pub(crate) fn serve() -> i32 {
    let Ok(mut instruments) = Instruments::new() else {
        return 1;
    };
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return 0 };
        let answer = match serde_json::from_str::<Request>(&line) {
            Ok(request) => answer(&mut instruments, &request),
            Err(error) => Answer::Machine(format!("a request could not be read: {error}")),
        };
        let Ok(mut text) = serde_json::to_string(&answer) else {
            return 1;
        };
        text.push('\n');
        if out
            .write_all(text.as_bytes())
            .and_then(|()| out.flush())
            .is_err()
        {
            return 0; // the bench is gone
        }
    }
    0
}

/// Serves `request`. A scheduler that suspends a job stops this process and its candidate, and
/// either may continue first. Whatever was measured meanwhile is discarded and repeated.
fn answer(instruments: &mut Instruments, request: &Request) -> Answer {
    loop {
        let continued = sys::times_continued();
        let answer = try_answer(instruments, request);
        if sys::times_continued() == continued {
            return answer;
        }
    }
}

fn try_answer(instruments: &mut Instruments, request: &Request) -> Answer {
    let worked = match &request.work {
        Work::Verify => examining::verify(instruments, request),
        Work::Time(work) => stopwatch::time(instruments, request, work),
        Work::Null => examining::null(instruments, request),
    };
    instruments.crew.rest();
    match worked {
        Ok(answer) => answer,
        Err(Failure::Crashed(how)) => Answer::Crashed(how),
        Err(Failure::TimedOut(limit_s)) => Answer::TimedOut(limit_s),
        Err(Failure::Killed) => Answer::Killed,
        Err(Failure::Task(why)) => Answer::Task(why),
        Err(Failure::Machine(why)) => Answer::Machine(why),
    }
}
