//! The system calls of an interpreter that runs an answer's Python.

use seccompiler::{SeccompAction, SeccompCmpOp};

use super::{Rules, aborts, argument_is, condition, install, plain_advice};
use crate::sys::Pid;

/// Calls that an interpreter needs to start, to import modules from disk, and to talk over the
/// descriptors that it has. Which files it may read, Landlock says; the last one starts it.
const INTERPRETING: [i64; 47] = [
    libc::SYS_access,
    libc::SYS_arch_prctl,
    libc::SYS_brk,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_close,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_faccessat2,
    libc::SYS_fstat,
    libc::SYS_futex,
    libc::SYS_getcwd,
    libc::SYS_getdents64,
    libc::SYS_getegid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_gettid,
    libc::SYS_gettimeofday,
    libc::SYS_getuid,
    libc::SYS_lseek,
    libc::SYS_lstat,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_newfstatat,
    libc::SYS_pread64,
    libc::SYS_read,
    libc::SYS_readlink,
    libc::SYS_readlinkat,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_sigaltstack,
    libc::SYS_stat,
    libc::SYS_sysinfo,
    libc::SYS_write,
    libc::SYS_execve,
];

/// How no file is opened: to change or to make one, or past the cache.
const CHANGING: i32 = libc::O_WRONLY
    | libc::O_RDWR
    | libc::O_CREAT
    | libc::O_TRUNC
    | libc::O_APPEND
    | libc::O_TMPFILE
    // Past the cache a process waits for the disk, and its waiting would look like the machine's
    // fault.
    | libc::O_DIRECT;

/// What Python does with descriptors by `fcntl`. Other commands have the kernel send signals, to
/// the process itself or to another one.
const ASKED: [i32; 4] = [
    libc::F_GETFD,
    libc::F_SETFD,
    libc::F_GETFL,
    libc::F_DUPFD_CLOEXEC,
];

/// Leaves an interpreter what it needs: no thread, no process, no socket, no file that is written.
/// Other calls fail, and Python makes an exception of that.
pub(crate) fn confine_interpreter(pid: Pid) -> Result<(), String> {
    let mut rules: Rules = INTERPRETING.iter().map(|call| (*call, vec![])).collect();
    // A folder is opened with a bit of O_TMPFILE, which alone changes nothing.
    let changing = (CHANGING & !libc::O_DIRECTORY) as u64;
    let unchanged = |argument| condition(argument, SeccompCmpOp::MaskedEq(changing), 0);
    rules.insert(libc::SYS_openat, unchanged(2)?);
    rules.insert(libc::SYS_open, unchanged(1)?);
    rules.insert(
        libc::SYS_prlimit64,
        condition(2, SeccompCmpOp::Eq, 0)?, // reading limits only
    );
    rules.insert(libc::SYS_tgkill, aborts(pid)?);
    rules.insert(libc::SYS_madvise, plain_advice()?);
    let asked = ASKED.iter().map(|command| argument_is(1, *command as u64));
    rules.insert(
        libc::SYS_fcntl,
        asked.collect::<Result<Vec<_>, _>>()?.concat(),
    );
    install(
        [(libc::SYS_ioctl, vec![])].into(),
        SeccompAction::Errno(libc::ENOTTY as u32),
        SeccompAction::Allow,
    )?;
    // The filter above has answered already.
    rules.insert(libc::SYS_ioctl, vec![]);
    install(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM as u32),
    )
}
