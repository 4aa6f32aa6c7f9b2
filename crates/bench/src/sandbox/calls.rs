//! seccomp: which system calls a confined process may still make.
#![expect(unsafe_code, reason = "two probing system calls")]

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use crate::sandbox::rights::{OwnThreads, Stacks};
use crate::sys::Pid;

mod gpu_runner;
mod interpreter;
mod recorder;
mod warm_compiler;

pub(crate) use gpu_runner::confine_gpu_runner;
pub(crate) use interpreter::confine_interpreter;
pub(crate) use recorder::confine_recorder;
pub(crate) use warm_compiler::confine_warm_compiler;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Calls that a candidate needs as it runs: memory, threads, time, printing. `docs/bench.md` says
/// why, call by call.
const RUNNING: [i64; 30] = [
    libc::SYS_brk,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_clone3,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_getcpu,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_gettid,
    libc::SYS_gettimeofday,
    libc::SYS_ioctl,
    libc::SYS_mbind,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_munmap,
    libc::SYS_nanosleep,
    libc::SYS_prctl,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigprocmask,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_sigaltstack,
    libc::SYS_sysinfo,
    libc::SYS_write,
];

/// Calls that loading needs, and no candidate: they find and read its object, and close the doors
/// behind it. Afterwards they fail. They do not kill, because honest libraries try them: `printf`
/// asks what it writes to, and `sysconf` reads files that count cores. A handler of signals would
/// tell a candidate that its process was continued, or that it may not ask for the time. `mremap`
/// would move code to where nobody expects any; `realloc` copies instead.
const LOADING: [i64; 11] = [
    libc::SYS_close,
    libc::SYS_fcntl,
    libc::SYS_fstat,
    libc::SYS_lseek,
    libc::SYS_mremap,
    libc::SYS_newfstatat,
    libc::SYS_openat,
    libc::SYS_pread64,
    libc::SYS_read,
    libc::SYS_rt_sigaction,
    libc::SYS_seccomp, // filters can only take away more
];

/// Advice on memory that honest allocators and candidates give. Other advice punches holes into the
/// buffers, shares pages with other processes, or takes them offline.
const ADVICE: [i32; 11] = [
    libc::MADV_NORMAL,
    libc::MADV_RANDOM,
    libc::MADV_SEQUENTIAL,
    libc::MADV_WILLNEED,
    libc::MADV_DONTNEED,
    libc::MADV_FREE,
    libc::MADV_HUGEPAGE,
    libc::MADV_NOHUGEPAGE,
    libc::MADV_POPULATE_READ,
    libc::MADV_POPULATE_WRITE,
    libc::MADV_COLLAPSE,
];

/// Calls that honest libraries try and can do without: they fail instead of killing.
const FAILING: [(i64, i32); 6] = [
    (libc::SYS_clone3, libc::ENOSYS), // glibc falls back to clone, whose flags can be seen
    (libc::SYS_ioctl, libc::ENOTTY),  // printf asks whether it writes to a terminal
    (libc::SYS_mbind, libc::ENOSYS),  // OpenBLAS asks where its memory should be
    (libc::SYS_prctl, libc::EPERM),
    (libc::SYS_rseq, libc::ENOSYS), // its memory would tell that the thread was interrupted
    (libc::SYS_sched_setaffinity, libc::EPERM), // cores are given from outside
];

/// Calls that the compiler never needs and that would reach beyond its folder.
const DENIED_TO_COMPILER: [i64; 16] = [
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_bpf,
    libc::SYS_mount,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_keyctl,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_perf_event_open,
    libc::SYS_setsid, // nothing leaves the process group that the time limit kills
];

/// What a new thread must not ask for: in its own namespace a candidate has every capability, and
/// nobody watches a thread that is not traced.
const NOT_FOR_THREADS: i32 = libc::CLONE_UNTRACED
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET;

/// Landlock's version, asked by system call.
pub(crate) fn landlock_version() -> Option<u32> {
    // SAFETY: a null ruleset with flag 1 only asks for the version.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<u8>(),
            0,
            1,
        )
    };
    u32::try_from(version).ok().filter(|version| *version > 0)
}

/// Whether filters that kill the process can be installed.
pub(crate) fn is_available() -> bool {
    let kill_process: u32 = 0x8000_0000;
    let get_action_available = 2;
    // SAFETY: the action outlives the call.
    unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            get_action_available,
            0,
            &raw const kill_process,
        ) == 0
    }
}

fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<Vec<SeccompRule>, String> {
    let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Qword, operator, value)
        .map_err(explain)?;
    Ok(vec![SeccompRule::new(vec![condition]).map_err(explain)?])
}

/// Rules that hold where an argument has a value.
fn argument_is(argument: u8, value: u64) -> Result<Vec<SeccompRule>, String> {
    condition(argument, SeccompCmpOp::Eq, value)
}

/// A candidate may signal itself, but only its supervisor lets it go on once it has stopped, and
/// what ends by SIGKILL was killed from outside.
fn signals_itself(pid: Pid, signal: u8) -> Result<Vec<SeccompRule>, String> {
    let itself = SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, pid as u64)
        .map_err(explain)?;
    let not = |number: i32| {
        SeccompCondition::new(
            signal,
            SeccompCmpArgLen::Dword,
            SeccompCmpOp::Ne,
            number as u64,
        )
        .map_err(explain)
    };
    Ok(vec![
        SeccompRule::new(vec![itself, not(libc::SIGCONT)?, not(libc::SIGKILL)?])
            .map_err(explain)?,
    ])
}

/// A process that nobody supervises may end itself by `abort` only. One that stops itself waits for
/// ever, and one that asks itself to end looks as if somebody outside had.
fn aborts(pid: Pid) -> Result<Vec<SeccompRule>, String> {
    let is = |argument, length, value: u64| {
        SeccompCondition::new(argument, length, SeccompCmpOp::Eq, value).map_err(explain)
    };
    let (itself, abort) = (
        is(0, SeccompCmpArgLen::Qword, pid as u64)?,
        is(2, SeccompCmpArgLen::Dword, libc::SIGABRT as u64)?,
    );
    Ok(vec![
        SeccompRule::new(vec![itself, abort]).map_err(explain)?,
    ])
}

/// Advice on memory that is none but a candidate's own.
fn plain_advice() -> Result<Vec<SeccompRule>, String> {
    let advice = ADVICE.iter().map(|advice| argument_is(2, *advice as u64));
    Ok(advice.collect::<Result<Vec<_>, String>>()?.concat())
}

#[expect(clippy::needless_pass_by_value, reason = "shaped for map_err")]
fn explain(error: seccompiler::BackendError) -> String {
    format!("seccomp: {error}")
}

fn install(rules: Rules, matched: SeccompAction, otherwise: SeccompAction) -> Result<(), String> {
    let filter =
        SeccompFilter::new(rules, otherwise, matched, TargetArch::x86_64).map_err(explain)?;
    let program: BpfProgram = filter.try_into().map_err(explain)?;
    let (set_mode_filter, all_threads) = (1, 1);
    let program = FilterProgram {
        length: program.len() as u16,
        filter: program.as_ptr(),
    };
    // SAFETY: the program outlives the call. Called by hand because the crate also calls `prctl`,
    // which the first of our filters already takes away.
    let status = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            set_mode_filter,
            all_threads,
            &raw const program,
        )
    };
    if status == 0 {
        Ok(())
    } else {
        Err(format!("seccomp: {}", std::io::Error::last_os_error()))
    }
}

/// The kernel's `sock_fprog`.
#[repr(C)]
struct FilterProgram {
    length: u16,
    filter: *const seccompiler::sock_filter,
}

/// Leaves this process, all threads included, only what a candidate needs.
pub(crate) fn confine_candidate(pid: Pid, own_threads: OwnThreads) -> Result<(), String> {
    let free = RUNNING.iter().chain(&LOADING);
    let mut rules: Rules = free.map(|call| (*call, vec![])).collect();
    let threads_only = (libc::CLONE_VM | libc::CLONE_THREAD) as u64;
    let looked_at = threads_only | NOT_FOR_THREADS as u64;
    // Whose stage forbids threads gets none, by whatever name or address it finds the way to them.
    if own_threads != OwnThreads::Forbidden {
        rules.insert(
            libc::SYS_clone,
            condition(0, SeccompCmpOp::MaskedEq(looked_at), threads_only)?,
        );
    }
    // The signal, of which the kernel reads 32 bits, is the second or the third argument.
    for (call, signal) in [(libc::SYS_kill, 1), (libc::SYS_tgkill, 2)] {
        rules.insert(call, signals_itself(pid, signal)?);
    }
    // Rust asks before closing.
    rules.insert(libc::SYS_fcntl, argument_is(1, libc::F_GETFD as u64)?);
    rules.insert(libc::SYS_prlimit64, argument_is(2, 0)?); // reading limits only
    rules.insert(libc::SYS_madvise, plain_advice()?);
    for (call, errno) in FAILING {
        install(
            [(call, vec![])].into(),
            SeccompAction::Errno(errno as u32),
            SeccompAction::Allow,
        )?;
    }
    install(rules, SeccompAction::Allow, SeccompAction::KillProcess)
}

/// Closes the last doors, once the candidate's object is loaded: no file is opened, read or asked
/// for any more, no filter is added, no memory is shared, and none becomes executable. Shared
/// memory stays when its pages are given back, so that nobody would see how much a candidate holds.
/// Where stacks are executable it still can: the C library makes those of new threads so too.
pub(crate) fn close_last_doors(stacks: Stacks) -> Result<(), String> {
    let mut rules: Rules = LOADING.iter().map(|call| (*call, vec![])).collect();
    let has = |argument: u8, bit: i32| {
        let bit = bit as u64;
        condition(argument, SeccompCmpOp::MaskedEq(bit), bit)
    };
    let mut maps = has(3, libc::MAP_SHARED)?;
    if stacks == Stacks::Plain {
        maps.extend(has(2, libc::PROT_EXEC)?);
        rules.insert(libc::SYS_mprotect, has(2, libc::PROT_EXEC)?);
    }
    rules.insert(libc::SYS_mmap, maps);
    install(
        rules,
        SeccompAction::Errno(libc::EACCES as u32),
        SeccompAction::Allow,
    )
}

/// Takes away the calls by which a thread on its own could tell that it is interrupted: those that
/// tell the time; those that wait for a time, or for a signal that it sends itself; and those that
/// stop early when they are interrupted.
pub(crate) fn close_clocks() -> Result<(), String> {
    let mut rules: Rules = [
        libc::SYS_clock_gettime,
        libc::SYS_gettimeofday,
        libc::SYS_nanosleep,
        libc::SYS_clock_nanosleep,
        // Without a wait for a time there is nothing to restart.
        libc::SYS_restart_syscall,
    ]
    .map(|call| (call, vec![]))
    .into();
    // Other operations have a number where these have the time.
    let operations = [
        libc::FUTEX_WAIT,
        libc::FUTEX_WAIT_BITSET,
        libc::FUTEX_LOCK_PI,
        libc::FUTEX_LOCK_PI2,
        libc::FUTEX_WAIT_REQUEUE_PI,
    ];
    let timed = operations.map(|operation| {
        let flags = libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME;
        let without_flags = SeccompCmpOp::MaskedEq(u64::from(!flags as u32));
        SeccompRule::new(vec![
            SeccompCondition::new(1, SeccompCmpArgLen::Dword, without_flags, operation as u64)?,
            SeccompCondition::new(3, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?,
        ])
    });
    let timed: Result<Vec<SeccompRule>, _> = timed.into_iter().collect();
    rules.insert(libc::SYS_futex, timed.map_err(explain)?);
    // More than the kernel draws in one go can be interrupted.
    let drawn_at_once = 256;
    rules.insert(
        libc::SYS_getrandom,
        condition(1, SeccompCmpOp::Gt, drawn_at_once)?,
    );
    install(rules, SeccompAction::KillProcess, SeccompAction::Allow)?;
    signals_to_stop_only()
}

/// Leaves a process only the signals that end a run and that end the process. Each of the others
/// would have to be looked at by whoever watches it.
fn signals_to_stop_only() -> Result<(), String> {
    let mut rules = Rules::new();
    for (call, argument) in [(libc::SYS_kill, 1), (libc::SYS_tgkill, 2)] {
        let other = |number: i32| {
            SeccompCondition::new(
                argument,
                SeccompCmpArgLen::Dword,
                SeccompCmpOp::Ne,
                number as u64,
            )
            .map_err(explain)
        };
        let rule = SeccompRule::new(vec![other(libc::SIGSTOP)?, other(libc::SIGABRT)?]);
        rules.insert(call, vec![rule.map_err(explain)?]);
    }
    install(rules, SeccompAction::KillProcess, SeccompAction::Allow)
}

/// Takes from the compiler what it never needs.
pub(crate) fn confine_compiler() -> Result<(), String> {
    let rules = DENIED_TO_COMPILER
        .iter()
        .map(|call| (*call, vec![]))
        .collect();
    install(
        rules,
        SeccompAction::Errno(libc::EPERM as u32),
        SeccompAction::Allow,
    )
}
