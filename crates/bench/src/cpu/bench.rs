//! The bench for C candidates on this machine: its jobs and replies.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hotloop_flow::{Bench, BenchError, Job, JobId, MachineFacts, Remedy, Reply};

use crate::cores;
use crate::cpu::machine::Machine;
use crate::cpu::prepared::Preparations;
use crate::cpu::profile;
use crate::cpu::queues::Shared;
use crate::cpu::workers::{run_clock, run_examiner};
use crate::ledger::{Finished, Ledger};
use crate::settings::Settings;
use crate::sys;

/// The bench for C: candidates run on CPUs of this machine.
pub(crate) struct CpuBench {
    shared: Arc<Shared>,
    replies: Receiver<Finished>,
    ledger: Ledger,
    threads: Vec<JoinHandle<()>>,
}

impl CpuBench {
    /// Prepares this machine and starts its threads.
    pub(crate) fn start(settings: Settings) -> Result<Self, BenchError> {
        let machine = Machine::prepare(settings)?;
        let (threads, slots) = (
            machine.settings.how.threads as usize,
            machine.settings.slots as usize,
        );
        if slots * threads > machine.cores.len() {
            return Err(BenchError::user(format!(
                "{slots} slots of {threads} threads need {} cores, but only {} may be used",
                slots * threads,
                machine.cores.len()
            ))
            .hint("use fewer slots or fewer threads")
            .remedies(&[Remedy::Slots, Remedy::Threads]));
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
        // If a later start fails, dropping this ends the threads that have started.
        let mut bench = Self {
            shared,
            replies,
            ledger: Ledger::default(),
            threads: Vec::new(),
        };
        for index in 0..examiners {
            let core = examiner_cores[index % examiner_cores.len()];
            let (shared, sender) = (Arc::clone(&bench.shared), sender.clone());
            bench.threads.push(sys::spawn(move || {
                run_examiner(&shared, &sender, core, index as u32);
            })?);
        }
        for (index, cores) in slot_cores.into_iter().enumerate() {
            let (shared, sender) = (Arc::clone(&bench.shared), sender.clone());
            bench.threads.push(sys::spawn(move || {
                run_clock(&shared, &sender, cores, index as u32);
            })?);
        }
        Ok(bench)
    }

    /// Jobs whose replies have not been taken yet.
    pub(crate) fn pending(&self) -> usize {
        self.ledger.pending()
    }
}

impl Bench for CpuBench {
    fn submit(&mut self, jobs: Vec<Job>) -> Result<(), BenchError> {
        let mut queues = self.shared.lock();
        for job in jobs {
            if let Some(key) = self.ledger.enter(&job) {
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
            if let Some(reply) = self.ledger.take() {
                return Ok(Some(reply));
            }
            match self
                .replies
                .recv_timeout(deadline.saturating_duration_since(Instant::now()))
            {
                Ok(finished) => self.ledger.finish(&finished),
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(BenchError::machine("the bench's threads have ended"));
                }
            }
        }
    }

    fn cancel(&mut self, ids: &[JobId]) {
        let unwanted = self.ledger.cancel(ids);
        self.shared.lock().cancelled.extend(unwanted);
    }

    fn profile(&mut self, job: &Job) -> Result<Option<String>, BenchError> {
        // As examiners do: where timing and other work take turns, this waits for its turn.
        let quiet = self.shared.quiet.as_ref();
        let _turn = quiet.map(|quiet| quiet.read().unwrap_or_else(PoisonError::into_inner));
        profile::of(&self.shared.machine, job)
    }

    fn facts(&self) -> MachineFacts {
        self.shared.machine.facts.clone()
    }
}

impl Drop for CpuBench {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked has already reported it.
            drop(thread.join());
        }
    }
}
