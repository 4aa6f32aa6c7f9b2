//! The system calls of a compiler that is already loaded and compiles in memory.

use seccompiler::{SeccompAction, SeccompCmpOp};

use super::{Rules, aborts, condition, install};
use crate::sys::Pid;

/// Calls that a compiler needs which was loaded and warmed before, and compiles in memory: it reads
/// headers, and writes its result and a temporary file.
const COMPILING: [i64; 37] = [
    libc::SYS_brk,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_close,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_fcntl,
    libc::SYS_fstat,
    libc::SYS_ftruncate,
    libc::SYS_futex,
    libc::SYS_getcwd,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_gettid,
    libc::SYS_gettimeofday,
    libc::SYS_lseek,
    libc::SYS_lstat,
    libc::SYS_madvise,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_newfstatat,
    libc::SYS_open,
    libc::SYS_openat,
    libc::SYS_pread64,
    libc::SYS_read,
    libc::SYS_restart_syscall,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_sigaltstack,
    libc::SYS_stat,
    libc::SYS_sysinfo,
    libc::SYS_unlink,
    libc::SYS_write,
];

/// Leaves a compiler that works in memory what it needs: no process, no thread, no new code. Which
/// files it may write, Landlock says. Other calls fail. It may ask for longer limits, and is told
/// that it has them.
pub(crate) fn confine_warm_compiler(pid: Pid) -> Result<(), String> {
    let mut rules: Rules = COMPILING.iter().map(|call| (*call, vec![])).collect();
    let none_of = |argument, bits: i32| condition(argument, SeccompCmpOp::MaskedEq(bits as u64), 0);
    for call in [libc::SYS_mmap, libc::SYS_mprotect] {
        rules.insert(call, none_of(2, libc::PROT_EXEC)?);
    }
    rules.insert(libc::SYS_tgkill, aborts(pid)?);
    let told = [
        (libc::SYS_prlimit64, condition(2, SeccompCmpOp::Ne, 0)?),
        (libc::SYS_setrlimit, vec![]),
    ];
    install(told.into(), SeccompAction::Errno(0), SeccompAction::Allow)?;
    // The filter above has answered already.
    rules.insert(libc::SYS_prlimit64, vec![]);
    rules.insert(libc::SYS_setrlimit, vec![]);
    install(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM as u32),
    )
}
