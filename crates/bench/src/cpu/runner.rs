//! The untrusted side: a process that becomes the candidate.
//!
//! It is trusted until it loads the candidate's object. It holds no clock, no reference,
//! no secret and no channel for results but the notes of `draws.rs`: it stops itself when a run is
//! done, and what "done" means is for the supervisor to see.
#![expect(
    unsafe_code,
    reason = "loads and calls foreign code; that is its purpose"
)]

use std::ffi::{CStr, CString, c_void};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cpu::drawing::{Batch, Drawing};
use crate::cpu::layout::{Layout, Place, Region};
use crate::cpu::memory::{self, PAGE};
use crate::sandbox::limits::Limits;
use crate::sandbox::rights::{OwnThreads, Stacks};
use crate::sandbox::{calls, files, namespaces};
use crate::sys;

/// Descriptors that the supervisor leaves open for the runner.
pub(crate) const SPEC_FD: i32 = 3;
pub(crate) const INPUTS_FD: i32 = 4;
pub(crate) const OUTPUTS_FD: i32 = 5;
pub(crate) const PLAN_FD: i32 = 6;
pub(crate) const REPORT_FD: i32 = 7;

/// The exit status of a runner that could not load the candidate. It only chooses words: any
/// candidate can exit with it.
pub(crate) const NOT_LOADED: i32 = 97;
/// The exit status of a runner that fails otherwise. What happened, its report says.
const FAILED: i32 = 1;

/// What a runner reports before it loads the candidate. From here on the candidate is to blame for
/// whatever ends the process, unless the runner reports one more thing: that it cannot close the
/// last doors. Until then nothing of the candidate runs, since no object may have code that runs
/// when it is loaded. Afterwards there is nothing left to report by.
pub(crate) const LOADING: &str = "loading";

/// What a runner must know before it locks itself in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RunnerSpec {
    /// The candidate's shared object, by absolute path.
    pub(crate) object: PathBuf,
    /// Libraries that are loaded while files can still be opened, in this order.
    pub(crate) libraries: Vec<PathBuf>,
    /// Threads of the OpenMP pool, started before system calls are filtered.
    pub(crate) threads: u32,
    /// What stacks are for once all is loaded.
    pub(crate) stacks: Stacks,
    /// Threads that the candidate makes by hand; for the supervisor's pinning, too.
    pub(crate) own_threads: OwnThreads,
    /// Whether the supervisor watches it or another process of the same candidate, for which it
    /// must be allowed to look at it. Both are alike, so that neither can tell.
    pub(crate) watched: bool,
    /// The buffers.
    pub(crate) layout: Layout,
    /// The user to become, when started by root.
    pub(crate) user: Option<u32>,
    /// The process that started it, and without which it must not go on.
    pub(crate) supervisor: sys::Pid,
    /// Whether to close files by Landlock.
    pub(crate) landlock: bool,
    /// Whether to enter namespaces.
    pub(crate) namespaces: bool,
    /// Resource limits.
    pub(crate) limits: Limits,
}

/// Which calls the next run makes; the supervisor writes it while the runner is stopped.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Plan {
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// For draws where the processor has none.
    pub(crate) seed: u64,
}

type Call = unsafe extern "C" fn(*const *mut c_void);
type StartTeam = unsafe extern "C" fn(extern "C" fn(*mut c_void), *mut c_void, u32, u32);

/// The role: never returns unless it fails before the first stop.
pub(crate) fn run() -> i32 {
    // Closes every other descriptor that was open when hotloop started.
    sys::close_from(REPORT_FD + 1);
    let mut report = File::from(sys::inherited(REPORT_FD));
    match prepare() {
        Ok((spec, plan, sets, drawing)) => {
            if report.write_all(LOADING.as_bytes()).is_err() {
                return FAILED;
            }
            let Some(call) = load_candidate(&spec.object) else {
                return NOT_LOADED;
            };
            if let Err(why) = calls::close_last_doors(spec.stacks) {
                // The start of the report was written, so there is room for the rest.
                drop(report.write_all(why.as_bytes()));
                return FAILED;
            }
            drop(report);
            run_plans(plan, &sets, drawing, call)
        }
        Err(why) => {
            // If even the report cannot be written, its absence still says that nothing was loaded.
            drop(report.write_all(why.as_bytes()));
            FAILED
        }
    }
}

fn run_plans(
    plan: *const Plan,
    sets: &[Vec<*mut c_void>],
    mut drawing: Option<Drawing>,
    call: Call,
) -> ! {
    loop {
        sys::stop_self();
        // SAFETY: the plan page stays mapped; the supervisor writes it only while we are stopped.
        let Plan { first, count, seed } = unsafe { plan.read_volatile() };
        let sets = &sets[first as usize..(first + count) as usize];
        // SAFETY: the shim reads one pointer per argument, which is what the layout holds.
        // Whatever else the candidate does is confined by now.
        match &mut drawing {
            Some(drawing) => unsafe {
                drawing.run(
                    Batch {
                        first: first as usize,
                        seed,
                    },
                    sets,
                    call,
                );
            },
            None => sets.iter().for_each(|set| unsafe { call(set.as_ptr()) }),
        }
    }
}

type Prepared = (
    RunnerSpec,
    *const Plan,
    Vec<Vec<*mut c_void>>,
    Option<Drawing>,
);

fn prepare() -> Result<Prepared, String> {
    let spec = read_spec()?;
    let plan_page = memory::map_guarded(&sys::inherited(PLAN_FD), 0, PAGE, false)
        .map_err(|e| format!("plan: {e}"))?;
    let (sets, drawing) = map_sets(&spec.layout)?;
    allow_matrix_unit();
    let clock_pages = sys::clock_pages().map_err(|error| format!("memory map: {error}"))?;
    // Rust's report of a stack that is too deep; candidates have no handlers.
    sys::forget_fault_handlers();
    // When memory runs out, the candidate goes first and not its judge. Where that cannot be said,
    // it is not.
    drop(std::fs::write("/proc/self/oom_score_adj", "1000"));
    let fail = |what: &'static str| move |error: std::io::Error| format!("{what}: {error}");
    if let Some(user) = spec.user {
        sys::become_user(user).map_err(fail("dropping root"))?;
    }
    if spec.namespaces {
        namespaces::enter().map_err(fail("namespaces"))?;
    }
    // Only now: a library may start threads, and a process with threads may not enter namespaces.
    for library in &spec.libraries {
        load_library(library)?;
    }
    initialise_openmp();
    // Changing the user forgets it, so only now.
    sys::die_with_parent().map_err(fail("parent death signal"))?;
    if sys::parent() != spec.supervisor {
        return Err("the supervisor is gone".into());
    }
    sys::let_others_look(spec.watched).map_err(fail("dumpable"))?;
    spec.limits.apply().map_err(fail("limits"))?;
    sys::no_new_privileges().map_err(fail("no new privileges"))?;
    if spec.landlock {
        // Before the pool starts: Landlock binds a thread and those it starts, not its siblings.
        let open = files::OpenFiles {
            read: vec![spec.object.clone()],
            ..files::OpenFiles::default()
        };
        files::confine(&open)?;
    }
    start_pool(spec.threads)?;
    // A clock would tell that it is watched. With a team, a thread that counts would tell, too.
    let has_no_clock = spec.watched && spec.threads < 2;
    if has_no_clock {
        sys::no_time_stamps().map_err(fail("time stamps"))?;
        for pages in clock_pages {
            // SAFETY: a runner has no use for the time. A kernel may have sealed these pages: then
            // a candidate can read them, where time goes by in ticks of milliseconds.
            drop(unsafe { sys::unmap(pages) });
        }
    }
    calls::confine_candidate(std::process::id() as sys::Pid, spec.own_threads)?;
    if has_no_clock {
        calls::close_clocks()?;
    }
    Ok((spec, plan_page.cast(), sets, drawing))
}

fn read_spec() -> Result<RunnerSpec, String> {
    let mut text = String::new();
    File::from(sys::inherited(SPEC_FD))
        .read_to_string(&mut text)
        .map_err(|error| format!("spec: {error}"))?;
    serde_json::from_str(text.trim_end_matches('\0')).map_err(|error| format!("spec: {error}"))
}

fn map_sets(layout: &Layout) -> Result<(Vec<Vec<*mut c_void>>, Option<Drawing>), String> {
    let inputs = sys::inherited(INPUTS_FD);
    let outputs = sys::inherited(OUTPUTS_FD);
    let map = |place: &Place| {
        let file: (&OwnedFd, bool) = match place.region {
            Region::Inputs => (&inputs, false),
            Region::Outputs => (&outputs, true),
        };
        let pages =
            memory::map_guarded(file.0, place.offset, place.span, file.1).map_err(|error| {
                format!(
                    "buffer at {} of descriptor {}: {error}",
                    place.offset,
                    file.0.as_raw_fd()
                )
            })?;
        // SAFETY: the lead lies within the pages just mapped.
        Ok::<*mut c_void, String>(unsafe { pages.add(place.lead) }.cast())
    };
    let sets = layout
        .sets
        .iter()
        .map(|set| set.places.iter().map(map).collect())
        .collect::<Result<_, String>>()?;
    let notes = layout
        .notes
        .map(|(offset, span)| memory::map_guarded(&outputs, offset, span, true))
        .transpose();
    let notes = notes.map_err(|error| format!("notes: {error}"))?;
    Ok((sets, notes.map(|told| Drawing::new(layout, told.cast()))))
}

/// Has the OpenMP runtime set itself up while files can still be made. LLVM's registers itself
/// in shared memory; nobody needs that entry, and a killed process would leave it behind.
fn initialise_openmp() {
    // SAFETY: the name is a C string; the symbol's type is OpenMP's.
    unsafe {
        let symbol = libc::dlsym(libc::RTLD_DEFAULT, c"omp_get_max_threads".as_ptr());
        if !symbol.is_null() {
            std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> i32>(symbol)();
        }
        let (pid, user) = (libc::getpid(), libc::getuid());
        // Absent with GNU's runtime.
        drop(std::fs::remove_file(format!(
            "/dev/shm/__KMP_REGISTERED_LIB_{pid}_{user}"
        )));
    }
}

/// Starts the OpenMP threads now: later, a library that pins its threads would be refused.
/// Both runtimes answer to GNU's name for it.
fn start_pool(threads: u32) -> Result<(), String> {
    extern "C" fn nothing(_: *mut c_void) {}
    if threads < 2 {
        return Ok(());
    }
    // SAFETY: the name is a C string.
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"GOMP_parallel".as_ptr()) };
    if symbol.is_null() {
        return Err("the OpenMP runtime has no GOMP_parallel".into());
    }
    // SAFETY: this is its documented type.
    unsafe {
        std::mem::transmute::<*mut c_void, StartTeam>(symbol)(
            nothing,
            std::ptr::null_mut(),
            threads,
            0,
        );
    };
    Ok(())
}

/// AMX registers must be asked for, by a call that candidates may not make.
fn allow_matrix_unit() {
    const ARCH_REQ_XCOMP_PERM: i32 = 0x1023;
    const TILE_DATA: i32 = 18;
    // SAFETY: plain system call; a CPU without the unit refuses, which is fine.
    unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, TILE_DATA) };
}

fn last_load_error() -> String {
    // SAFETY: dlerror returns null or a C string that lives until the next dl call.
    unsafe {
        let text = libc::dlerror();
        if text.is_null() {
            String::new()
        } else {
            CStr::from_ptr(text).to_string_lossy().into_owned()
        }
    }
}

fn load_library(path: &Path) -> Result<(), String> {
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
    // SAFETY: a trusted library.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
    if handle.is_null() {
        Err(last_load_error())
    } else {
        Ok(())
    }
}

fn load_candidate(object: &Path) -> Option<Call> {
    let name = CString::new(object.as_os_str().as_bytes()).ok()?;
    // SAFETY: from here on the process is the candidate's; the sandbox holds it.
    unsafe {
        let handle = libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        let symbol = if handle.is_null() {
            handle
        } else {
            libc::dlsym(handle, c"hotloop_call".as_ptr())
        };
        (!symbol.is_null()).then(|| std::mem::transmute::<*mut c_void, Call>(symbol))
    }
}
