//! The candidate's process as the supervisor sees it: started, let run, frozen, ended.

use std::io::{Read, Seek, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::cpu::memory::{Mapping, PAGE};
use crate::cpu::runner::{self, Plan, RunnerSpec};
use crate::cpu::supervisor::failure::{Failure, machine};
use crate::cpu::supervisor::limit::Limit;
use crate::cpu::supervisor::watch::Watch;
use crate::role::names::RUNNER;
use crate::sandbox::rights::OwnThreads;
use crate::sys::{self, Change, Pid, Usage};

/// The stack of a runner and of each of its threads, wherever the bench was started: threads
/// reserve it, within a limit on address space, and a candidate that needs more should not do
/// better elsewhere.
const STACK_BYTES: u64 = 8 << 20;
/// Memory besides its buffers that a candidate may hold and still be a victim when the machine's
/// runs out: no honest one comes near. On a small machine a smaller part of it does the harm.
const MODEST_BYTES: u64 = 1 << 30;
const MODEST_SHARE: u64 = 8;
const MODEST_LEAST: u64 = 64 << 20;

/// A running candidate. Dropping it kills and reaps it.
pub(crate) struct Child {
    pid: Pid,
    alive: bool,
    /// Usage up to which a kill counts as a kill from outside.
    modest: Usage,
    plan: Mapping,
    cores: Vec<usize>,
    /// Whether it makes threads by hand.
    roams: bool,
    /// Threads that it had when they were pinned, if they are.
    pinned: Option<usize>,
    /// Who traces it, if it is watched.
    watch: Option<Watch>,
}

/// Files that the runner gets, besides its plan.
pub(crate) struct RunnerFiles<'a> {
    pub(crate) inputs: &'a OwnedFd,
    pub(crate) outputs: &'a OwnedFd,
}

impl Child {
    /// Starts a runner on `cores` and waits for its first stop: confined, loaded, ready.
    pub(crate) fn start(
        spec: &RunnerSpec,
        files: &RunnerFiles<'_>,
        environment: &[(String, String)],
        cores: &[usize],
        limit_s: f64,
    ) -> Result<Self, Failure> {
        let spec_file =
            text_file(&serde_json::to_string(spec).map_err(|e| Failure::Machine(e.to_string()))?)
                .map_err(machine("runner's spec"))?;
        let plan_file = sys::memory_file("plan", PAGE).map_err(machine("plan"))?;
        let plan = Mapping::new(&plan_file, PAGE).map_err(machine("plan"))?;
        sys::seal(&plan_file, true).map_err(machine("plan"))?;
        let plan_readonly = sys::reopen_readonly(&plan_file).map_err(machine("plan"))?;
        // A pipe, not a file: the runner must still be able to complain when it may write no file.
        let (report, report_end) = sys::pipe().map_err(machine("report"))?;
        let inherited = [
            (spec_file.as_raw_fd(), runner::SPEC_FD),
            (files.inputs.as_raw_fd(), runner::INPUTS_FD),
            (files.outputs.as_raw_fd(), runner::OUTPUTS_FD),
            (plan_readonly.as_raw_fd(), runner::PLAN_FD),
            (report_end.as_raw_fd(), runner::REPORT_FD),
        ];
        // Loading is not the candidate's time: its own limit comes with the first run.
        let limit_s = limit_s + 5.0;
        let pid = spawn(&inherited, environment, cores).map_err(machine("starting a runner"))?;
        drop(report_end);
        let buffer_bytes = (spec.layout.input_bytes + spec.layout.output_bytes) as u64;
        let modest = Usage {
            processor_s: spec.limits.cpu_s as f64,
            peak_bytes: buffer_bytes + modest_bytes(sys::available_bytes()),
        };
        let (cores, roams) = (cores.to_vec(), spec.own_threads == OwnThreads::Used);
        let mut child = Self {
            pid,
            alive: true,
            modest,
            plan,
            cores,
            roams,
            pinned: None,
            watch: None,
        };
        match child.wait(Limit::start(pid, &child.cores, limit_s)) {
            Ok(_) => {}
            Err(Failure::Crashed(_)) if !spec.object.exists() => {
                return Err(Failure::Machine(format!(
                    "{} has vanished",
                    spec.object.display()
                )));
            }
            Err(Failure::Crashed(how)) => return Err(explain_start(&how, report)),
            Err(Failure::TimedOut(_)) => {
                drop(child); // only then its report ends
                return Err(explain_start("did not finish", report));
            }
            Err(other) => return Err(other),
        }
        Ok(child)
    }

    /// Pins every thread that it has now or will have.
    pub(crate) fn keep_threads_apart(&mut self) -> Result<(), Failure> {
        self.pin_threads().map_err(machine("pinning threads"))
    }

    /// Gives every thread a core of its own, as far as they go round: frozen threads all wake at
    /// once, and two that wake on one core stay there for milliseconds.
    ///
    /// A candidate that makes threads by hand keeps all cores for its main thread, since threads
    /// are born onto the cores of their maker.
    fn pin_threads(&mut self) -> std::io::Result<()> {
        let cores = &self.cores;
        let mut threads: Vec<Pid> = std::fs::read_dir(format!("/proc/{}/task", self.pid))?
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .collect();
        threads.sort_unstable();
        let mut pinned = 0;
        for (index, thread) in threads.iter().enumerate() {
            let own = [cores[index % cores.len()]];
            let to = if index == 0 && self.roams {
                cores.as_slice()
            } else {
                &own
            };
            pinned += usize::from(pin_if_there(*thread, to)?);
        }
        self.pinned = Some(pinned);
        Ok(())
    }

    /// Lets it make the calls of `plan` and returns the seconds until its whole
    /// thread group was frozen again.
    pub(crate) fn run(&mut self, plan: Plan, limit_s: f64) -> Result<f64, Failure> {
        match sys::was_continued(self.pid) {
            Ok(false) => {}
            Ok(true) => {
                return Err(Failure::Machine(
                    "the frozen candidate was continued from outside".into(),
                ));
            }
            // One that is frozen cannot end by itself.
            Err(error) if error.raw_os_error() == Some(libc::ECHILD) => {
                return Err(Failure::Machine(
                    "the frozen candidate was killed from outside".into(),
                ));
            }
            Err(error) => return Err(machine("looking at the candidate")(error)),
        }
        self.write(plan);
        let limit = Limit::start(self.pid, &self.cores, limit_s);
        let begin = sys::now();
        sys::signal(self.pid, libc::SIGCONT).map_err(machine("continuing the candidate"))?;
        let end = self.wait(limit)?;
        let seconds = end - begin;
        if self.pinned.is_some_and(|pinned| self.threads() > pinned) {
            self.keep_threads_apart()?;
        }
        Ok(seconds)
    }

    fn write(&mut self, plan: Plan) {
        let mut bytes = [0; size_of::<Plan>()];
        bytes[..4].copy_from_slice(&plan.first.to_ne_bytes());
        bytes[4..8].copy_from_slice(&plan.count.to_ne_bytes());
        bytes[8..].copy_from_slice(&plan.seed.to_ne_bytes());
        self.plan.slice_mut(0, bytes.len()).copy_from_slice(&bytes);
    }

    /// Has all later runs watched.
    pub(crate) fn watch(&mut self, object: &Path) -> Result<(), Failure> {
        let object = object.to_string_lossy();
        self.alive = false; // the watch ends and reaps it
        self.watch = Some(Watch::attach(self.pid, &self.cores, &object)?);
        Ok(())
    }

    /// Lets `watch` look at it while it makes the calls of `plan`.
    pub(crate) fn run_watched<T>(
        &mut self,
        plan: Plan,
        watch: impl FnOnce(&mut Watch) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.write(plan);
        match &mut self.watch {
            Some(watched) => watch(watched),
            None => Err(Failure::Machine("nobody watches the candidate".into())),
        }
    }

    /// Waits for the whole group to stop: when that was.
    fn wait(&mut self, mut limit: Limit) -> Result<f64, Failure> {
        loop {
            match sys::wait_change(self.pid).map_err(machine("waiting for the candidate"))? {
                Change::Stopped(libc::SIGSTOP) => {
                    return Ok(sys::now());
                }
                Change::Stopped(signal) => {
                    return Err(Failure::Crashed(format!(
                        "stopped itself by {}",
                        sys::signal_name(signal)
                    )));
                }
                Change::Exited(status) => {
                    self.alive = false;
                    return Err(Failure::Crashed(exit_words(status)));
                }
                Change::Killed(signal, usage) => {
                    self.alive = false;
                    return Err(ended_by(signal, usage, self.modest));
                }
                Change::Interrupted => limit.check()?,
            }
        }
    }

    /// Threads that it has now.
    pub(crate) fn threads(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/task", self.pid)).map_or(0, Iterator::count)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.alive {
            // It is ours and not reaped, so the number cannot name another process.
            drop(sys::signal(self.pid, libc::SIGKILL));
            sys::reap(self.pid);
        }
    }
}

/// Pins a thread unless it has gone, and says which: one that was joined may leave a little later.
fn pin_if_there(thread: Pid, cores: &[usize]) -> std::io::Result<bool> {
    match sys::pin(thread, cores) {
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(false),
        pinned => pinned.map(|()| true),
    }
}

/// What a runner that never stopped has to say. Its exit status decides nothing: once the candidate
/// is loaded, that is the candidate's to choose.
fn explain_start(how: &str, report: OwnedFd) -> Failure {
    let mut said = String::new();
    let read = std::fs::File::from(report).read_to_string(&mut said);
    if read.is_err() || said != runner::LOADING {
        let said = said.strip_prefix(runner::LOADING).unwrap_or(&said);
        let said = if said.is_empty() { how } else { said };
        return Failure::Machine(format!("the sandbox could not be set up: {said}"));
    }
    if how == exit_words(runner::NOT_LOADED) {
        return Failure::Crashed("the object could not be loaded".into());
    }
    Failure::Crashed(format!("{how} while loading"))
}

/// Memory besides its buffers that a candidate may hold and still be a victim, where so much is
/// there.
fn modest_bytes(available: u64) -> u64 {
    (available / MODEST_SHARE).clamp(MODEST_LEAST, MODEST_BYTES)
}

/// What the end by a signal means. A candidate cannot send itself SIGKILL: that comes from the
/// kernel, when memory runs out or a candidate goes on after SIGXCPU, or from someone else on this
/// machine.
fn ended_by(signal: i32, usage: Usage, modest: Usage) -> Failure {
    if signal != libc::SIGKILL {
        return Failure::Crashed(format!("ended by {}", sys::signal_name(signal)));
    }
    if usage.processor_s >= modest.processor_s {
        return Failure::Crashed(format!("ended by {}", sys::signal_name(libc::SIGXCPU)));
    }
    if usage.peak_bytes > modest.peak_bytes {
        return Failure::Crashed(format!(
            "killed while it held {} MB of memory",
            usage.peak_bytes >> 20
        ));
    }
    Failure::Killed
}

fn exit_words(status: i32) -> String {
    format!("exited with status {status}")
}

fn text_file(text: &str) -> std::io::Result<OwnedFd> {
    let file = sys::memory_file("spec", 0)?;
    let mut file = std::fs::File::from(file);
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(file.into())
}

#[expect(
    unsafe_code,
    reason = "prepares descriptors and cores between fork and exec"
)]
fn spawn(
    inherited: &[(i32, i32); 5],
    environment: &[(String, String)],
    cores: &[usize],
) -> std::io::Result<Pid> {
    let (inherited, cores) = (*inherited, cores.to_vec());
    let mut command = Command::new("/proc/self/exe");
    command
        .arg(RUNNER)
        .env_clear()
        .envs(environment.iter().map(|(name, value)| (name, value)))
        // The kernel would tell a thread by memory that it was interrupted.
        .env("GLIBC_TUNABLES", "glibc.pthread.rseq=0")
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let prepare = move || {
        // Targets may collide with sources: lift all sources above them first.
        let mut lifted = [0; 5];
        for (high, (source, _)) in lifted.iter_mut().zip(inherited) {
            // SAFETY: plain system call on an open descriptor.
            *high = unsafe { libc::fcntl(source, libc::F_DUPFD_CLOEXEC, 32) };
            if *high < 0 {
                return Err(std::io::Error::last_os_error());
            }
        }
        for (high, (_, target)) in lifted.iter().zip(inherited) {
            sys::inherit_as(*high, target)?;
        }
        // Before the runner starts: its C library reads the limit once.
        sys::limit_within(libc::RLIMIT_STACK, STACK_BYTES)?;
        sys::pin(0, &cores)
    };
    // SAFETY: only async-signal-safe calls in there.
    let child = unsafe { command.pre_exec(prepare) }.spawn()?;
    Ok(child.id() as Pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_has_gone_needs_no_core() {
        let cores = sys::affinity(0).unwrap();
        assert!(
            !pin_if_there(Pid::MAX, &cores).unwrap(),
            "no machine has so many"
        );
        assert!(pin_if_there(0, &cores).unwrap());
        assert!(
            pin_if_there(0, &[]).is_err(),
            "a thread that is there and cannot be pinned"
        );
    }

    #[test]
    fn a_kill_from_outside_is_no_verdict_unless_the_candidate_asked_for_it() {
        let modest = Usage {
            processor_s: 80.0,
            peak_bytes: 2 << 30,
        };
        let ended = |signal, processor_s, peak_bytes| {
            ended_by(
                signal,
                Usage {
                    processor_s,
                    peak_bytes,
                },
                modest,
            )
        };
        assert!(matches!(
            ended(libc::SIGKILL, 79.0, 1 << 30),
            Failure::Killed
        ));
        assert!(matches!(
            ended(libc::SIGSEGV, 0.1, 1 << 20),
            Failure::Crashed(_)
        ));
        let greedy = ended(libc::SIGKILL, 1.0, 3 << 30);
        assert_eq!(
            greedy,
            Failure::Crashed("killed while it held 3072 MB of memory".into())
        );
        let endless = ended(libc::SIGKILL, 81.0, 1 << 20);
        assert_eq!(
            endless,
            Failure::Crashed("ended by SIGXCPU (used up its processor time)".into())
        );
    }

    #[test]
    fn a_small_machine_is_harmed_by_less() {
        assert_eq!(modest_bytes(u64::MAX), 1 << 30);
        assert_eq!(modest_bytes(2 << 30), 256 << 20);
        assert_eq!(modest_bytes(0), 64 << 20);
    }

    fn explained(how: &str, said: &str) -> Failure {
        let (report, end) = sys::pipe().unwrap();
        std::fs::File::from(end).write_all(said.as_bytes()).unwrap();
        explain_start(how, report)
    }

    #[test]
    fn a_filter_that_cannot_be_installed_is_the_machines_fault() {
        let said = format!("{}no room for a filter", runner::LOADING);
        assert_eq!(
            explained("exited with status 1", &said),
            Failure::Machine("the sandbox could not be set up: no room for a filter".into())
        );
    }

    #[test]
    fn what_ends_before_the_candidate_is_loaded_is_the_machines() {
        let no_pool = explained("exited with status 1", "");
        assert_eq!(
            no_pool,
            Failure::Machine("the sandbox could not be set up: exited with status 1".into())
        );
        assert!(matches!(
            explained("did not finish", ""),
            Failure::Machine(_)
        ));
        assert!(matches!(
            explained("exited with status 1", "limits: no"),
            Failure::Machine(_)
        ));
        for status in 0..256 {
            let ended = explained(&exit_words(status), runner::LOADING);
            assert!(matches!(ended, Failure::Crashed(_)), "{status}");
        }
        assert_eq!(
            explained("ended by SIGSYS", runner::LOADING),
            Failure::Crashed("ended by SIGSYS while loading".into())
        );
    }
}
