//! Thin safe wrappers over the system calls that the bench needs.
#![expect(
    unsafe_code,
    reason = "system calls; every wrapper checks its return value"
)]

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A process id.
pub(crate) type Pid = libc::pid_t;

fn check(status: libc::c_int) -> io::Result<libc::c_int> {
    if status < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(status)
    }
}

/// Seconds of the raw monotonic clock, which no time service bends.
pub(crate) fn now() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` outlives the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_RAW, &raw mut time) };
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

/// A memory file of `bytes` zeros that can still be sealed.
pub(crate) fn memory_file(name: &str, bytes: usize) -> io::Result<OwnedFd> {
    let name = CString::new(name)?;
    // SAFETY: `name` is a C string; the descriptor is fresh and ours.
    let file = unsafe {
        let fd = check(libc::memfd_create(
            name.as_ptr(),
            libc::MFD_ALLOW_SEALING | libc::MFD_CLOEXEC,
        ))?;
        OwnedFd::from_raw_fd(fd)
    };
    // SAFETY: a valid descriptor.
    check(unsafe { libc::ftruncate(file.as_raw_fd(), bytes as libc::off_t) })
        .map_err(with_remedy)?;
    Ok(file)
}

/// What raises the limit on the size of files, which files in memory have too.
pub const RAISE: &str = "raise the limit on the size of files (ulimit -f)";

/// An error that has no place for a hint, with the remedy of one that needs it.
fn with_remedy(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::FileTooLarge => io::Error::new(error.kind(), format!("{error}; {RAISE}")),
        _ => error,
    }
}

/// What mends a failure to write: the limit where that is in the way, else `room`.
pub(crate) fn remedy(error: &io::Error, room: &'static str) -> &'static str {
    if error.kind() == io::ErrorKind::FileTooLarge {
        RAISE
    } else {
        room
    }
}

/// Forbids changes of size and, with `contents`, any new writable mapping.
///
/// `F_SEAL_FUTURE_WRITE` needs Linux 5.1; where it is missing the read-only
/// descriptor alone keeps the content safe, so its absence is not an error.
pub(crate) fn seal(file: &OwnedFd, contents: bool) -> io::Result<()> {
    // SAFETY: plain system call on an open descriptor.
    let add = |seals: libc::c_int| unsafe {
        check(libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals))
    };
    add(libc::F_SEAL_SHRINK | libc::F_SEAL_GROW)?;
    if contents
        && let Err(error) = add(libc::F_SEAL_FUTURE_WRITE)
        && error.raw_os_error() != Some(libc::EINVAL)
    {
        return Err(error);
    }
    add(libc::F_SEAL_SEAL)?;
    Ok(())
}

/// The same memory file through a descriptor that cannot write.
pub(crate) fn reopen_readonly(file: &OwnedFd) -> io::Result<OwnedFd> {
    let path = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    // SAFETY: `path` is a C string; the descriptor is fresh and ours.
    unsafe {
        Ok(OwnedFd::from_raw_fd(check(libc::open(
            path.as_ptr(),
            libc::O_RDONLY | libc::O_CLOEXEC,
        ))?))
    }
}

/// What became of a child that was waited for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Change {
    /// Every thread is in group-stop by this signal.
    Stopped(i32),
    /// It exited with this status.
    Exited(i32),
    /// A signal ended it, after it had used so much.
    Killed(i32, Usage),
    /// The timer of [`set_alarm`] interrupted the wait.
    Interrupted,
}

/// What a child that has ended used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Usage {
    /// Processor time of it and of those it reaped.
    pub(crate) processor_s: f64,
    /// The most memory that it, or one of those, held at a time.
    pub(crate) peak_bytes: u64,
}

/// Waits until the child stops or ends.
pub(crate) fn wait_change(pid: Pid) -> io::Result<Change> {
    match wait(pid, libc::WUNTRACED) {
        Ok((status, usage)) => Ok(match (status.stopped_signal(), status.signal()) {
            (Some(signal), _) => Change::Stopped(signal),
            (None, Some(signal)) => Change::Killed(signal, usage),
            (None, None) => Change::Exited(status.code().unwrap_or(0)),
        }),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(Change::Interrupted),
        Err(error) => Err(error),
    }
}

fn wait(pid: Pid, options: libc::c_int) -> io::Result<(ExitStatus, Usage)> {
    let mut status = 0;
    // SAFETY: an all-zero usage is valid; both outlive the call.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    check(unsafe { libc::wait4(pid, &raw mut status, options, &raw mut usage) })?;
    let seconds = |time: libc::timeval| time.tv_sec as f64 + 1e-6 * time.tv_usec as f64;
    let processor_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    Ok((
        ExitStatus::from_raw(status),
        Usage {
            processor_s,
            peak_bytes: usage.ru_maxrss as u64 * 1024,
        },
    ))
}

/// Whether a stopped child was continued since it last stopped.
pub(crate) fn was_continued(pid: Pid) -> io::Result<bool> {
    // SAFETY: an all-zero siginfo is valid, and it outlives the call.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    check(unsafe {
        libc::waitid(
            libc::P_PID,
            pid as libc::id_t,
            &raw mut info,
            libc::WCONTINUED | libc::WNOHANG,
        )
    })?;
    // SAFETY: waitid left it zero or filled it.
    Ok(unsafe { info.si_pid() } == pid)
}

/// Sends a signal to a process, or to a group when `pid` is negative.
pub(crate) fn signal(pid: Pid, signal: i32) -> io::Result<()> {
    // SAFETY: plain system call.
    check(unsafe { libc::kill(pid, signal) }).map(drop)
}

/// Reaps a child that has ended or is about to.
pub(crate) fn reap(pid: Pid) {
    // SAFETY: plain system call; a child that is already gone is fine.
    unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
}

/// Reaps a child that has ended: its status, and what it used.
pub(crate) fn reap_with_usage(pid: Pid) -> io::Result<(ExitStatus, Usage)> {
    wait(pid, 0)
}

/// How many processes this system has killed so far because memory ran out.
pub(crate) fn killed_for_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/vmstat").ok()?;
    text.lines()
        .find_map(|line| line.strip_prefix("oom_kill ")?.parse().ok())
}

/// Bytes that can still be written where `path` lies; none where no file can be made.
pub(crate) fn free_bytes(path: &Path) -> u64 {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else {
        return 0;
    };
    // SAFETY: an all-zero result is valid and outlives the call.
    unsafe {
        let mut found: libc::statvfs = std::mem::zeroed();
        let known = libc::statvfs(path.as_ptr(), &raw mut found) == 0
            && (found.f_files == 0 || found.f_favail > 0);
        if known {
            found.f_bavail * found.f_frsize
        } else {
            0
        }
    }
}

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

extern "C" fn on_file_limit(_: libc::c_int) {}

/// Has a write beyond the limit on the size of files fail with EFBIG instead of ending this process. The signal is caught
/// and not ignored: what is ignored stays so in compilers and candidates, and those it is to end.
pub(crate) fn outlive_file_limit() -> io::Result<()> {
    catch(libc::SIGXFSZ, on_file_limit, libc::SA_RESTART)
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

/// Has this process killed when the thread that started it ends.
pub(crate) fn die_with_parent() -> io::Result<()> {
    // SAFETY: plain system call.
    check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) }).map(drop)
}

/// Puts this thread and all that it starts from now on before others on its cores. Without the right to, it stays where
/// it is.
pub(crate) fn go_first() {
    // SAFETY: plain system call.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) };
}

/// The process that started this one; another one, if that has ended.
pub(crate) fn parent() -> Pid {
    // SAFETY: cannot fail.
    unsafe { libc::getppid() }
}

/// Gives up new privileges by exec, for ever. Landlock and seccomp need it.
pub(crate) fn no_new_privileges() -> io::Result<()> {
    // SAFETY: plain system call.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }).map(drop)
}

/// The cores that a thread may run on (0: the calling thread).
pub(crate) fn affinity(tid: Pid) -> io::Result<Vec<usize>> {
    // SAFETY: an all-zero set is valid, and it outlives the call.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    check(unsafe { libc::sched_getaffinity(tid, size_of_val(&set), &raw mut set) })?;
    // SAFETY: the index is below CPU_SETSIZE.
    Ok((0..libc::CPU_SETSIZE as usize)
        .filter(|core| unsafe { libc::CPU_ISSET(*core, &set) })
        .collect())
}

/// Pins a thread to cores (0: the calling thread).
pub(crate) fn pin(tid: Pid, cores: &[usize]) -> io::Result<()> {
    // SAFETY: an all-zero set is valid; indices are checked by CPU_SET's bound below.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for core in cores
        .iter()
        .filter(|core| **core < libc::CPU_SETSIZE as usize)
    {
        unsafe { libc::CPU_SET(*core, &mut set) };
    }
    check(unsafe { libc::sched_setaffinity(tid, size_of_val(&set), &raw const set) }).map(drop)
}

/// Sets both limits of a resource.
pub(crate) fn limit(resource: libc::__rlimit_resource_t, value: u64) -> io::Result<()> {
    limit_softly(resource, value, value)
}

/// Sets the soft and the hard limit of a resource.
pub(crate) fn limit_softly(
    resource: libc::__rlimit_resource_t,
    soft: u64,
    hard: u64,
) -> io::Result<()> {
    let limit = libc::rlimit {
        rlim_cur: soft,
        rlim_max: hard,
    };
    // SAFETY: `limit` outlives the call.
    check(unsafe { libc::setrlimit(resource, &raw const limit) }).map(drop)
}

/// Sets both limits of a resource, as far as the hard one allows.
pub(crate) fn limit_within(resource: libc::__rlimit_resource_t, value: u64) -> io::Result<()> {
    let mut now = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `now` outlives the call.
    check(unsafe { libc::getrlimit(resource, &raw mut now) })?;
    limit(resource, value.min(now.rlim_max))
}

/// Enters new namespaces.
pub(crate) fn unshare(flags: i32) -> io::Result<()> {
    // SAFETY: plain system call.
    check(unsafe { libc::unshare(flags) }).map(drop)
}

/// Whether this process is root.
pub(crate) fn is_root() -> bool {
    // SAFETY: cannot fail.
    unsafe { libc::geteuid() == 0 }
}

/// Becomes `uid` without groups and capabilities, for ever.
pub(crate) fn become_user(uid: u32) -> io::Result<()> {
    // SAFETY: plain system calls; order matters: groups first, while still allowed.
    unsafe {
        check(libc::setgroups(0, std::ptr::null()))?;
        check(libc::setresgid(uid, uid, uid))?;
        check(libc::setresuid(uid, uid, uid))?;
    }
    Ok(())
}

/// Hides this process's memory and `/proc` files from others of its user.
pub(crate) fn not_dumpable() -> io::Result<()> {
    // SAFETY: plain system call.
    check(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0) }).map(drop)
}

/// Puts `source` at descriptor `target`, to be inherited.
pub(crate) fn inherit_as(source: RawFd, target: RawFd) -> io::Result<()> {
    // SAFETY: plain system calls on descriptors the caller owns.
    unsafe {
        if source == target {
            return check(libc::fcntl(source, libc::F_SETFD, 0)).map(drop);
        }
        check(libc::dup2(source, target)).map(drop)
    }
}

/// Closes every descriptor from `first` on.
pub(crate) fn close_from(first: RawFd) {
    // SAFETY: callers keep nothing above `first`; old kernels lack the call and lose nothing but tidiness,
    // since all our descriptors are close-on-exec.
    unsafe {
        libc::syscall(
            libc::SYS_close_range,
            first as libc::c_uint,
            libc::c_uint::MAX,
            0,
        )
    };
}

/// Takes the descriptor that the parent left at `fd`.
pub(crate) fn inherited(fd: RawFd) -> OwnedFd {
    // SAFETY: the protocol of the hidden roles says that `fd` is open and that nobody else owns it.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// Waits for the process to end; `false` when `timeout` passed first.
pub(crate) fn wait_end(pid: Pid, timeout: Duration) -> io::Result<bool> {
    // SAFETY: the descriptor is fresh and ours; `poll` gets one valid entry.
    unsafe {
        let fd = check(libc::syscall(libc::SYS_pidfd_open, pid, 0) as libc::c_int)?;
        let fd = OwnedFd::from_raw_fd(fd);
        let mut entry = libc::pollfd {
            fd: fd.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        loop {
            match check(libc::poll(
                &raw mut entry,
                1,
                timeout.as_millis() as libc::c_int,
            )) {
                Ok(ready) => return Ok(ready > 0),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Changes a file's owner.
pub(crate) fn change_owner(path: &Path, uid: u32) -> io::Result<()> {
    std::os::unix::fs::chown(path, Some(uid), Some(uid))
}

/// Stops this process's whole thread group: "I am done".
pub(crate) fn stop_self() {
    // SAFETY: plain system calls. Not `raise`: that would go through code that a candidate may reach.
    unsafe {
        libc::syscall(
            libc::SYS_kill,
            libc::syscall(libc::SYS_getpid),
            libc::SIGSTOP,
        )
    };
}

/// The name of a signal, for people.
pub(crate) fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGSEGV => "SIGSEGV (touched memory it does not own)",
        libc::SIGBUS => "SIGBUS (touched memory that does not exist)",
        libc::SIGFPE => "SIGFPE (integer division by zero)",
        libc::SIGILL => "SIGILL (an instruction this CPU lacks)",
        libc::SIGABRT => "SIGABRT (abort or failed assertion)",
        libc::SIGSYS => "SIGSYS (a forbidden system call)",
        libc::SIGKILL => "SIGKILL",
        libc::SIGXCPU => "SIGXCPU (used up its processor time)",
        libc::SIGXFSZ => "SIGXFSZ (wrote a file)",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGTERM => "SIGTERM",
        libc::SIGSTOP => "SIGSTOP",
        _ => "a signal",
    }
}

/// Runs `start` with the signals blocked that are caught here, so that threads it starts never get them.
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

/// Whether this process's libraries, the mathematics among them, have a symbol.
pub(crate) fn symbol_exists(name: &str) -> bool {
    static MATHEMATICS: std::sync::Once = std::sync::Once::new();
    // SAFETY: trusted system libraries; names are C strings.
    unsafe {
        MATHEMATICS.call_once(|| {
            libc::dlopen(c"libm.so.6".as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL);
        });
        CString::new(name)
            .is_ok_and(|name| !libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()).is_null())
    }
}

/// A pipe: (read end, write end).
pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: two fresh descriptors, ours alone.
    unsafe {
        check(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC))?;
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
