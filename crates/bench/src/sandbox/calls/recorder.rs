//! The system calls of a host half whose launches are recorded.

use seccompiler::{SeccompAction, SeccompCmpOp};

use super::{Rules, aborts, argument_is, condition, install, plain_advice};
use crate::sys::Pid;

/// Calls that a program needs which computes in memory and writes to descriptors that it has. The
/// last one starts it.
const RECORDING: [i64; 21] = [
    libc::SYS_arch_prctl,
    libc::SYS_brk,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_getpid,
    libc::SYS_getrandom, // how the C library begins
    libc::SYS_gettid,
    libc::SYS_lseek,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_set_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_execve,
];

/// Leaves a host half what it needs to be recorded: no file, no thread, no process, no new code.
pub(crate) fn confine_recorder(pid: Pid) -> Result<(), String> {
    let mut rules: Rules = RECORDING.iter().map(|call| (*call, vec![])).collect();
    let executable = libc::PROT_EXEC as u64;
    for call in [libc::SYS_mmap, libc::SYS_mprotect] {
        rules.insert(call, condition(2, SeccompCmpOp::MaskedEq(executable), 0)?);
    }
    rules.insert(libc::SYS_tgkill, aborts(pid)?);
    rules.insert(libc::SYS_madvise, plain_advice()?);
    rules.insert(libc::SYS_prlimit64, argument_is(2, 0)?); // reading limits only
    // What a static program asks as it starts and prints, and can do without.
    let failing = [
        (libc::SYS_readlink, libc::ENOENT),
        (libc::SYS_readlinkat, libc::ENOENT),
        (libc::SYS_fstat, libc::EBADF),
        (libc::SYS_newfstatat, libc::EBADF),
        (libc::SYS_ioctl, libc::ENOTTY),
        (libc::SYS_prctl, libc::EPERM),
    ];
    for (call, errno) in failing {
        rules.insert(call, vec![]);
        install(
            [(call, vec![])].into(),
            SeccompAction::Errno(errno as u32),
            SeccompAction::Allow,
        )?;
    }
    install(rules, SeccompAction::Allow, SeccompAction::KillProcess)
}
