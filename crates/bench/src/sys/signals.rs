//! Signals that this process catches, and its alarm.
#![expect(
    unsafe_code,
    reason = "system calls; every wrapper checks its return value"
)]

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::sys::call::check;

fn catch(
    signal: libc::c_int,
    handler: extern "C" fn(libc::c_int),
    flags: libc::c_int,
) -> io::Result<()> {
    // SAFETY: an all-zero sigaction is valid, and the handlers below only touch what signals may.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = flags;
        check(libc::sigaction(
            signal,
            &raw const action,
            std::ptr::null_mut(),
        ))
        .map(drop)
    }
}

extern "C" fn on_alarm(_: libc::c_int) {}

/// Makes alarms interrupt waits instead of ending the process.
pub(crate) fn catch_alarms() -> io::Result<()> {
    catch(libc::SIGALRM, on_alarm, 0) // without flags waits end with EINTR
}

/// Interrupts waits after `first` and then every 10 ms; `None` ends that.
pub(crate) fn set_alarm(first: Option<Duration>) {
    let of = |d: Duration| libc::timeval {
        tv_sec: d.as_secs() as i64,
        tv_usec: i64::from(d.subsec_micros()),
    };
    let (value, interval) = match first {
        Some(first) => (
            first.max(Duration::from_micros(1)),
            Duration::from_millis(10),
        ),
        None => (Duration::ZERO, Duration::ZERO),
    };
    let timer = libc::itimerval {
        it_interval: of(interval),
        it_value: of(value),
    };
    // SAFETY: `timer` outlives the call; the arguments are valid by construction.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut()) };
}

/// Has a fault end this process at once. Rust's own handler would first look whether the stack is
/// too deep.
pub(crate) fn forget_fault_handlers() {
    for signal in [libc::SIGSEGV, libc::SIGBUS] {
        // SAFETY: the signals exist, so the call cannot fail.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

extern "C" fn on_file_limit(_: libc::c_int) {}

/// Has a write beyond the limit on the size of files fail with EFBIG instead of ending this
/// process. The signal is caught and not ignored: what is ignored stays so in compilers and
/// candidates, and those it is to end.
pub(crate) fn outlive_file_limit() -> io::Result<()> {
    catch(libc::SIGXFSZ, on_file_limit, libc::SA_RESTART)
}

/// Signals by which a terminal, a scheduler or a person asks a program to end.
const REQUESTS: [libc::c_int; 6] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
];

/// Ignores requests to end, in this process and in all that it starts or becomes. A scheduler asks
/// every process of a job, and a judgement must not lose its compiler, its candidate or its
/// supervisor to that. The program that judges decides what becomes of the judgement; this process
/// ends with it.
pub(crate) fn ignore_requests_to_end() {
    for signal in REQUESTS {
        // SAFETY: the signals exist and can be ignored, so the call cannot fail.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Whether `signal` is one that [`ignore_requests_to_end`] ignores.
pub(crate) fn is_request_to_end(signal: libc::c_int) -> bool {
    REQUESTS.contains(&signal)
}

static CONTINUED: AtomicUsize = AtomicUsize::new(0);

extern "C" fn on_continued(_: libc::c_int) {
    CONTINUED.fetch_add(1, Ordering::Relaxed);
}

/// Has [`times_continued`] count from now on.
pub(crate) fn count_continues() -> io::Result<()> {
    catch(libc::SIGCONT, on_continued, libc::SA_RESTART)
}

/// How often this process was told to go on, as it is after every stop.
pub(crate) fn times_continued() -> usize {
    CONTINUED.load(Ordering::Relaxed)
}

/// Runs `start` with the signals blocked that are caught here, so that threads it starts never get
/// them.
pub(crate) fn without_signals<T>(start: impl FnOnce() -> T) -> T {
    // SAFETY: sets live on this stack; the calls cannot fail with valid arguments.
    unsafe {
        let mut caught: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut caught);
        libc::sigaddset(&raw mut caught, libc::SIGALRM);
        libc::sigaddset(&raw mut caught, libc::SIGCONT);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const caught, &raw mut before);
        let value = start();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        value
    }
}

/// Makes this process the leader of its own group: Ctrl-Z in a terminal does not reach it any more.
///
/// A process that calls this right after it started can always be continued. If its parent had put
/// it into the group before it started, as `Command::process_group` does, a stop signal could
/// arrive between the two. It would stop a process that no `SIGCONT` to the old group reaches, and
/// the parent would wait for it forever.
pub(crate) fn lead_own_group() {
    // SAFETY: plain system calls on a set that lives on this stack.
    unsafe {
        let mut stop: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut stop);
        libc::sigaddset(&raw mut stop, libc::SIGTSTP);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const stop, &raw mut before);
        libc::setpgid(0, 0);
        // Ignoring a signal discards the one that is pending from the old group.
        libc::signal(libc::SIGTSTP, libc::SIG_IGN);
        libc::signal(libc::SIGTSTP, libc::SIG_DFL);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
    }
}

/// Stops this process's whole thread group: "I am done".
pub(crate) fn stop_self() {
    // SAFETY: plain system calls. Not `raise`: that would go through code that a candidate may
    // reach.
    unsafe {
        libc::syscall(
            libc::SYS_kill,
            libc::syscall(libc::SYS_getpid),
            libc::SIGSTOP,
        )
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_that_was_meant_for_the_old_group_does_not_stop_the_new_one() {
        // SAFETY: the child only makes system calls before it ends.
        let status = unsafe {
            let child = libc::fork();
            if child == 0 {
                let mut stop: libc::sigset_t = std::mem::zeroed();
                libc::sigemptyset(&raw mut stop);
                libc::sigaddset(&raw mut stop, libc::SIGTSTP);
                libc::sigprocmask(libc::SIG_BLOCK, &raw const stop, std::ptr::null_mut());
                libc::kill(libc::getpid(), libc::SIGTSTP);
                lead_own_group();
                libc::sigprocmask(libc::SIG_UNBLOCK, &raw const stop, std::ptr::null_mut());
                libc::_exit(i32::from(libc::getpgid(0) != libc::getpid()));
            }
            let mut status = 0;
            libc::waitpid(child, &raw mut status, libc::WUNTRACED);
            if libc::WIFSTOPPED(status) {
                libc::kill(child, libc::SIGKILL);
                libc::waitpid(child, std::ptr::null_mut(), 0);
            }
            status
        };
        assert_eq!(status, 0);
    }

    #[test]
    fn who_outlives_the_file_limit_leaves_it_to_others() {
        outlive_file_limit().unwrap();
        let child = std::process::Command::new("cat")
            .arg("/proc/self/status")
            .output()
            .unwrap();
        let of = |status: &str, set: &str| {
            let bits = status
                .lines()
                .find_map(|line| line.strip_prefix(set))
                .unwrap()
                .trim();
            u64::from_str_radix(bits, 16).unwrap() >> (libc::SIGXFSZ - 1) & 1
        };
        assert_eq!(
            of(
                &std::fs::read_to_string("/proc/self/status").unwrap(),
                "SigCgt:"
            ),
            1
        );
        let child = String::from_utf8(child.stdout).unwrap();
        assert_eq!(
            (of(&child, "SigIgn:"), of(&child, "SigCgt:")),
            (0, 0),
            "it ends whom it ended before"
        );
    }
}
