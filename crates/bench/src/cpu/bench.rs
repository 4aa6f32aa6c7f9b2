//! The bench on this machine: examiners in parallel, clocks on cores of their own.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hotloop_flow::bench::Seconds;
use hotloop_flow::verdict::Measured;
use hotloop_flow::{Bench, BenchError, Job, JobId, Judgement, Label, MachineFacts, Reply, Verdict};

use crate::cores;
use crate::cpu::clock::Clock;
use crate::cpu::examine::{Examination, Examined, examine};
use crate::cpu::machine::Machine;
use crate::cpu::prepared::Preparations;
use crate::cpu::roof::Roof;
use crate::cpu::slot::Slot;
use crate::settings::{Estimator, Settings};
use crate::sys;

/// The pause before candidates are timed again that met no quiet.
const RETRY_AFTER: Duration = Duration::from_millis(200);

/// A bench on this machine.
pub struct LocalBench {
    shared: Arc<Shared>,
    replies: Receiver<Finished>,
    /// Submitted jobs by content: identical candidates share one judgement.
    waiting: HashMap<Key, Vec<(JobId, Instant)>>,
    ready: VecDeque<Reply>,
    threads: Vec<JoinHandle<()>>,
}

/// A judged candidate, and when its verdict was reached: not when somebody asked for it.
type Finished = (Key, Instant, Result<Judgement, BenchError>);

/// What makes two jobs the same.
type Key = (String, String, Option<u8>);

struct Shared {
    machine: Machine,
    preparations: Preparations,
    queues: Mutex<Queues>,
    changed: Condvar,
    /// Read by those who examine, written by those who time, on machines where the two disturb each other.
    quiet: Option<RwLock<()>>,
}

#[derive(Default)]
struct Queues {
    submitted: VecDeque<(Key, Job)>,
    examined: VecDeque<Waiting>,
    cancelled: HashSet<Key>,
    closed: bool,
}

impl Queues {
    /// The next candidate to be timed. None of them is once the bench closes: nobody would hear of it.
    fn next_examined(&mut self) -> Option<Waiting> {
        while !self.closed {
            let waiting = self.examined.pop_front()?;
            if !self.cancelled.remove(&waiting.key) {
                return Some(waiting);
            }
        }
        None
    }
}

/// A candidate that waits for the clock.
struct Waiting {
    key: Key,
    job: Job,
    examined: Examined,
    /// What earlier tries gave, on a machine that was not quiet.
    tries: u32,
    steadiest: Option<Verdict>,
    run_s: f64,
}

impl LocalBench {
    /// Prepares this machine and starts its threads.
    pub fn start(settings: Settings) -> Result<Self, BenchError> {
        let machine = Machine::prepare(settings)?;
        let (threads, slots) = (
            machine.settings.threads as usize,
            machine.settings.slots as usize,
        );
        if slots * threads > machine.cores.len() {
            return Err(BenchError::new(format!(
                "{slots} slots of {threads} threads need {} cores, but only {} may be used",
                slots * threads,
                machine.cores.len()
            ))
            .hint("use fewer --slots or --threads"));
        }
        let (slot_cores, examiner_cores, take_turns) =
            cores::divide(&machine.cores, slots, threads);
        let wanted = machine.settings.jobs as usize;
        let examiners = if wanted > 0 {
            wanted
        } else {
            examiner_cores.len()
        };
        let shared = Arc::new(Shared {
            machine,
            preparations: Preparations::default(),
            queues: Mutex::default(),
            changed: Condvar::new(),
            quiet: take_turns.then(RwLock::default),
        });
        let (sender, replies) = channel();
        // Dropped on the way out, it ends the threads that could be started.
        let mut bench = Self {
            shared,
            replies,
            waiting: HashMap::new(),
            ready: VecDeque::new(),
            threads: Vec::new(),
        };
        for index in 0..examiners {
            let core = examiner_cores[index % examiner_cores.len()];
            let (shared, sender) = (Arc::clone(&bench.shared), sender.clone());
            bench.threads.push(sys::spawn(move || {
                run_examiner(&shared, &sender, core, index as u32)
            })?);
        }
        for (index, cores) in slot_cores.into_iter().enumerate() {
            let (shared, sender) = (Arc::clone(&bench.shared), sender.clone());
            bench.threads.push(sys::spawn(move || {
                run_clock(&shared, &sender, cores, index as u32)
            })?);
        }
        Ok(bench)
    }

    /// Jobs whose replies have not been taken yet.
    pub fn pending(&self) -> usize {
        self.ready.len() + self.waiting.values().map(Vec::len).sum::<usize>()
    }

    fn finish(&mut self, key: &Key, at: Instant, judged: &Result<Judgement, BenchError>) {
        for (id, since) in self.waiting.remove(key).unwrap_or_default() {
            let mut judged = judged.clone();
            if let Ok(judgement) = &mut judged {
                judgement.seconds.total = at.saturating_duration_since(since).as_secs_f64();
            }
            self.ready.push_back(Reply { id, judged });
        }
    }
}

impl Bench for LocalBench {
    fn submit(&mut self, jobs: Vec<Job>) -> Result<(), BenchError> {
        let mut queues = self.shared.lock();
        for job in jobs {
            let key = (
                job.task.hash.clone(),
                job.candidate.hash.clone(),
                job.stage.map(hotloop_flow::Stage::number),
            );
            let entry = self.waiting.entry(key.clone()).or_default();
            entry.push((job.id, Instant::now()));
            if entry.len() == 1 {
                queues.cancelled.remove(&key);
                queues.submitted.push_back((key, job));
            }
        }
        self.shared.changed.notify_all();
        Ok(())
    }

    fn next(&mut self, timeout: Duration) -> Result<Option<Reply>, BenchError> {
        let deadline = Instant::now() + timeout;
        loop {
            if let Some(reply) = self.ready.pop_front() {
                return Ok(Some(reply));
            }
            match self
                .replies
                .recv_timeout(deadline.saturating_duration_since(Instant::now()))
            {
                Ok((key, at, judged)) => self.finish(&key, at, &judged),
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(BenchError::new("the bench's threads have ended"));
                }
            }
        }
    }

    fn cancel(&mut self, ids: &[JobId]) {
        self.ready.retain(|reply| !ids.contains(&reply.id));
        let mut queues = self.shared.lock();
        for (key, jobs) in &mut self.waiting {
            jobs.retain(|(id, _)| !ids.contains(id));
            if jobs.is_empty() {
                queues.cancelled.insert(key.clone());
            }
        }
        self.waiting.retain(|_, jobs| !jobs.is_empty());
    }

    fn facts(&self) -> MachineFacts {
        self.shared.machine.facts.clone()
    }
}

impl Drop for LocalBench {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked has already said so.
            drop(thread.join());
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queues> {
        // The queues stay sound whatever a panicking thread was doing.
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for what `take` gives; `None` when the bench closes.
    fn wait<T>(&self, mut take: impl FnMut(&mut Queues) -> Option<T>) -> Option<T> {
        let mut queues = self.lock();
        loop {
            if queues.closed {
                return None;
            }
            if let Some(taken) = take(&mut queues) {
                return Some(taken);
            }
            queues = self
                .changed
                .wait(queues)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

type Replies = Sender<Finished>;

/// What `work` gives. A mistake of ours must not cost the job its reply, nor the bench its thread.
fn guarded<T>(what: &str, work: impl FnOnce() -> Result<T, BenchError>) -> Result<T, BenchError> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(BenchError::new(format!(
            "{what} a candidate failed: a mistake in hotloop"
        )))
    })
}

fn run_examiner(shared: &Shared, replies: &Replies, core: usize, index: u32) {
    let machine = &shared.machine;
    // Compilers inherit it; a core that went away is no reason to stop.
    drop(sys::pin(0, &[core]));
    let user = machine.user(index);
    let mut slot = Slot::new(
        &machine.settings.roles,
        vec![core],
        machine.openblas.as_ref().and_then(|b| b.forced.clone()),
    );
    let next = |queues: &mut Queues| queues.submitted.pop_front();
    while let Some((key, job)) = shared.wait(next) {
        if shared.lock().cancelled.remove(&key) {
            continue;
        }
        let begin = sys::now();
        let examination = {
            let _calm = shared
                .quiet
                .as_ref()
                .map(|quiet| quiet.read().unwrap_or_else(PoisonError::into_inner));
            guarded("examining", || {
                examine(machine, &shared.preparations, &mut slot, user, &job)
            })
        };
        let judged = match examination {
            Ok(Examination::Passed(examined)) => {
                let waiting = Waiting {
                    key,
                    job,
                    examined,
                    tries: 0,
                    steadiest: None,
                    run_s: 0.0,
                };
                shared.lock().examined.push_back(waiting);
                shared.changed.notify_all();
                continue;
            }
            Ok(Examination::Failed(verdict, compile)) => {
                Ok(judgement(verdict, compile, sys::now() - begin - compile))
            }
            Err(error) => Err(error),
        };
        if replies.send((key, Instant::now(), judged)).is_err() {
            return;
        }
    }
}

fn run_clock(shared: &Shared, replies: &Replies, cores: Vec<usize>, index: u32) {
    let machine = &shared.machine;
    drop(sys::pin(0, &cores));
    // Users of clocks follow those of examiners, so that no two share a thread limit.
    let user = machine.user(200 + index);
    let forced = machine
        .openblas
        .as_ref()
        .and_then(|blas| blas.forced.clone());
    let mut clock = Clock::new(Slot::new(&machine.settings.roles, cores, forced), user);
    while shared
        .wait(|queues| (!queues.examined.is_empty()).then_some(()))
        .is_some()
    {
        let again = {
            let _alone = shared
                .quiet
                .as_ref()
                .map(|quiet| quiet.write().unwrap_or_else(PoisonError::into_inner));
            match time_all(shared, replies, &mut clock) {
                Some(again) => again,
                None => return,
            }
        };
        if !again.is_empty() {
            // Let the busy spell pass, and the examiners work meanwhile.
            std::thread::sleep(RETRY_AFTER);
            shared.lock().examined.extend(again);
        }
    }
}

/// Times all that wait under one lease, since taking it costs the others a pause. Returns those
/// that are to be timed again because the machine was not quiet; `None` when nobody listens.
fn time_all(shared: &Shared, replies: &Replies, clock: &mut Clock) -> Option<Vec<Waiting>> {
    let mut again = Vec::new();
    loop {
        let Some(mut waiting) = shared.lock().next_examined() else {
            return Some(again);
        };
        let begin = sys::now();
        let timed = guarded("timing", || {
            clock.time(&shared.machine, &waiting.job, &waiting.examined)
        });
        waiting.run_s += sys::now() - begin;
        waiting.tries += 1;
        let judged = match timed {
            Ok(verdict) => {
                let verdict = steadier(waiting.steadiest.take(), verdict);
                if is_unquiet(&verdict, &shared.machine.settings)
                    && waiting.tries < shared.machine.settings.rounds
                {
                    waiting.steadiest = Some(verdict);
                    again.push(waiting);
                    continue;
                }
                Ok(judgement(
                    verdict,
                    waiting.examined.compile_s,
                    waiting.run_s,
                ))
            }
            Err(error) => Err(error),
        };
        if replies.send((waiting.key, Instant::now(), judged)).is_err() {
            return None;
        }
    }
}

/// Whether a timing should be tried again when the machine may be quieter.
fn is_unquiet(verdict: &Verdict, settings: &Settings) -> bool {
    let gated = settings.estimator == Estimator::Gated;
    gated
        && verdict.label() == Label::Correct
        && verdict
            .measured()
            .is_some_and(|measured| !measured.timing.quiet)
}

/// Of two tries the one to believe: a failure, else a quiet one, else the one that varies least.
/// Never simply the faster one, which would make luck a reward.
fn steadier(before: Option<Verdict>, now: Verdict) -> Verdict {
    let Some(before) = before else { return now };
    match (before.measured(), now.measured()) {
        (Some(then), Some(new)) if now.label() == Label::Correct => {
            let rank = |measured: &Measured| (!measured.timing.quiet, measured.timing.cv);
            if rank(then) < rank(new) { before } else { now }
        }
        (Some(_) | None, _) => now,
    }
}

fn judgement(verdict: Verdict, compile: f64, run: f64) -> Judgement {
    Judgement {
        verdict: verdict.shortened(),
        seconds: Seconds {
            compile,
            run,
            total: 0.0,
        },
    }
}

/// Measures null round trip and arithmetic peak once, for `doctor`.
pub fn measure_roof(settings: Settings) -> Result<(f64, f64), BenchError> {
    let machine = Machine::prepare(settings)?;
    let (slots, _, _) = cores::divide(&machine.cores, 1, machine.settings.threads as usize);
    let mut slot = Slot::new(
        &machine.settings.roles,
        slots.into_iter().next().unwrap_or_default(),
        None,
    );
    let roof = Roof::measure(&machine, &mut slot, machine.user(0))?;
    Ok((roof.null_s, roof.peak_flops))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(name: &str) -> Waiting {
        let task = Arc::new(crate::tasks::load("transpose").unwrap());
        let candidate = hotloop_flow::Candidate::from_source(task.seed.as_bytes(), &task).unwrap();
        let nowhere = std::path::PathBuf::new;
        let prepared = crate::cpu::prepared::Prepared {
            shim: nowhere(),
            trusted: nowhere(),
            baseline: None,
        };
        let (object, prepared) = (nowhere(), Arc::new(prepared));
        Waiting {
            key: (name.to_owned(), String::new(), None),
            job: Job {
                id: JobId(0),
                task,
                candidate,
                stage: None,
            },
            examined: Examined {
                object,
                _folder: None,
                prepared,
                compile_s: 0.0,
                own_threads: crate::sandbox::rights::OwnThreads::Unused,
            },
            tries: 0,
            steadiest: None,
            run_s: 0.0,
        }
    }

    #[test]
    fn nothing_is_timed_that_was_cancelled_or_that_nobody_will_hear_of() {
        let mut queues = Queues::default();
        queues
            .examined
            .extend(["first", "second", "third", "fourth"].map(waiting));
        queues.cancelled.insert(waiting("second").key);
        let mut next = |closed: bool| {
            queues.closed = closed;
            queues.next_examined().map(|waiting| waiting.key.0)
        };
        assert_eq!(next(false).as_deref(), Some("first"));
        assert_eq!(next(false).as_deref(), Some("third"));
        assert_eq!(next(true), None, "the fourth is left where it is");
    }
}
