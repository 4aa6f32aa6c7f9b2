//! This process itself: its user, cores, priority, limits and libraries.
#![expect(
    unsafe_code,
    reason = "system calls; every wrapper checks its return value"
)]

use std::ffi::CString;
use std::io;
use std::ops::Range;
use std::thread::JoinHandle;

use hotloop_flow::BenchError;

use crate::sys::call::{Pid, check};

/// The parent process; another one if the original parent has ended.
pub(crate) fn parent() -> Pid {
    // SAFETY: cannot fail.
    unsafe { libc::getppid() }
}

/// Kills this process when the thread that started it ends.
pub(crate) fn die_with_parent() -> io::Result<()> {
    // SAFETY: a plain system call.
    check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) }).map(drop)
}

/// Raises the priority of this thread and of everything that it starts from now on. Without the
/// permission nothing changes.
pub(crate) fn go_first() {
    // SAFETY: a plain system call.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) };
}

/// Makes `folder` the one for temporary files, and the current one. Only for processes with one
/// thread.
pub(crate) fn work_in(folder: &std::path::Path) -> io::Result<()> {
    // SAFETY: no other thread could read the environment meanwhile.
    unsafe { std::env::set_var("TMPDIR", folder) };
    std::env::set_current_dir(folder)
}

/// Permanently gives up gaining privileges by exec, which Landlock and seccomp require.
pub(crate) fn no_new_privileges() -> io::Result<()> {
    // SAFETY: a plain system call.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }).map(drop)
}

/// Shows this process's memory and `/proc` files to others of its user, or hides them.
pub(crate) fn let_others_look(may: bool) -> io::Result<()> {
    // SAFETY: a plain system call.
    check(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, libc::c_ulong::from(may)) }).map(drop)
}

/// Whether this process is root.
pub(crate) fn is_root() -> bool {
    // SAFETY: cannot fail.
    unsafe { libc::geteuid() == 0 }
}

/// Permanently becomes `uid` without groups and capabilities.
pub(crate) fn become_user(uid: u32) -> io::Result<()> {
    // SAFETY: plain system calls. Groups come first, while changing them is still allowed.
    unsafe {
        check(libc::setgroups(0, std::ptr::null()))?;
        check(libc::setresgid(uid, uid, uid))?;
        check(libc::setresuid(uid, uid, uid))?;
    }
    Ok(())
}

/// Enters new namespaces.
pub(crate) fn unshare(flags: i32) -> io::Result<()> {
    // SAFETY: a plain system call.
    check(unsafe { libc::unshare(flags) }).map(drop)
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
    // SAFETY: an all-zero set is valid, and CPU_SET's bound below checks indices.
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

/// Sets both limits of a resource, up to the hard limit.
pub(crate) fn limit_within(resource: libc::__rlimit_resource_t, value: u64) -> io::Result<()> {
    let mut now = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `now` outlives the call.
    check(unsafe { libc::getrlimit(resource, &raw mut now) })?;
    limit(resource, value.min(now.rlim_max))
}

/// Whether this process's libraries, including the math library, have a symbol.
pub(crate) fn symbol_exists(name: &str) -> bool {
    static MATHEMATICS: std::sync::Once = std::sync::Once::new();
    // SAFETY: trusted system libraries, and names are C strings.
    unsafe {
        MATHEMATICS.call_once(|| {
            libc::dlopen(c"libm.so.6".as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL);
        });
        CString::new(name)
            .is_ok_and(|name| !libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()).is_null())
    }
}

/// Starts a thread. If the machine has no thread left, that is its failure.
pub(crate) fn spawn(work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, BenchError> {
    let started = std::thread::Builder::new().spawn(work);
    started.map_err(|error| {
        BenchError::machine(format!(
            "a thread of the bench could not be started: {error}"
        ))
    })
}

/// Gives the program that this process becomes the same addresses each time, and no counter of
/// time.
pub(crate) fn become_predictable() -> io::Result<()> {
    // SAFETY: a plain system call.
    check(unsafe { libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) })?;
    no_time_stamps()
}

/// Takes the processor's counter of time from this thread and from those that it starts.
pub(crate) fn no_time_stamps() -> io::Result<()> {
    // SAFETY: a plain system call.
    check(unsafe { libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_SIGSEGV) }).map(drop)
}

/// Where the kernel shows this process the time, and what it needs to work out the time.
pub(crate) fn clock_pages() -> io::Result<Vec<Range<usize>>> {
    let map = std::fs::read_to_string("/proc/self/maps")?;
    Ok(map.lines().filter_map(clock_page).collect())
}

/// One line of a memory map, such as `7ffe-7fff r--p 00000000 00:00 0 [vvar]`.
fn clock_page(line: &str) -> Option<Range<usize>> {
    let (range, name) = (line.split(' ').next()?, line.split(' ').next_back()?);
    let (start, end) = range.split_once('-')?;
    let address = |hex| usize::from_str_radix(hex, 16).ok();
    name.starts_with("[vvar")
        .then_some(address(start)?..address(end)?)
}

/// Unmaps pages of the kernel. A later call that reads the time there ends the process.
///
/// # Safety
/// Nothing of this program asks for the time any more.
pub(crate) unsafe fn unmap(pages: Range<usize>) -> io::Result<()> {
    // SAFETY: guaranteed by the caller; no object of this program lies in these pages.
    check(unsafe { libc::munmap(pages.start as *mut libc::c_void, pages.len()) }).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_clocks_pages_are_found() {
        let line = "7ffe1000-7ffe5000 r--p 00000000 00:00 0                          [vvar]";
        assert_eq!(clock_page(line), Some(0x7ffe_1000..0x7ffe_5000));
        assert_eq!(clock_page(&line.replace("[vvar]", "[vdso]")), None);
        assert_eq!(clock_page("7ffe1000-7ffe5000 rw-p 00000000 00:00 0 "), None);
        assert!(!clock_pages().unwrap().is_empty());
    }
}
