//! The bench of this machine: sends each job to the bench of its task's language.

use std::time::Duration;

use hotloop_flow::{Bench, BenchError, Job, JobId, MachineFacts, Reply};

use crate::cpu::bench::CpuBench;
use crate::settings::Settings;

/// A bench on this machine.
pub struct LocalBench {
    cpu: CpuBench,
}

impl LocalBench {
    /// Prepares this machine and starts the threads that judge.
    pub fn start(settings: Settings) -> Result<Self, BenchError> {
        Ok(Self {
            cpu: CpuBench::start(settings)?,
        })
    }

    /// Jobs whose replies have not been taken yet.
    pub fn pending(&self) -> usize {
        self.cpu.pending()
    }
}

/// Opens the bench of this machine.
pub fn open(settings: Settings) -> Result<Box<dyn Bench>, BenchError> {
    Ok(Box::new(LocalBench::start(settings)?))
}

impl Bench for LocalBench {
    fn submit(&mut self, jobs: Vec<Job>) -> Result<(), BenchError> {
        // All jobs are checked first, so that no batch is submitted in part.
        jobs.iter().try_for_each(Job::check)?;
        self.cpu.submit(jobs)
    }

    fn next(&mut self, timeout: Duration) -> Result<Option<Reply>, BenchError> {
        self.cpu.next(timeout)
    }

    fn cancel(&mut self, ids: &[JobId]) {
        self.cpu.cancel(ids);
    }

    fn facts(&self) -> MachineFacts {
        self.cpu.facts()
    }
}
