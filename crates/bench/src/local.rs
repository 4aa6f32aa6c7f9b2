//! The bench of this machine: sends each job to the bench of its task's language.

use std::time::{Duration, Instant};

use hotloop_flow::{Bench, BenchError, Job, JobId, Language, MachineFacts, Reply};

use crate::cpu::bench::CpuBench;
use crate::gpu::bench::GpuBench;
use crate::settings::Settings;

/// How long one bench is waited for while another may reply, too.
const GLANCE: Duration = Duration::from_millis(2);

/// A bench on this machine. It prepares for a language when the settings name it or a job needs it.
pub struct LocalBench {
    settings: Settings,
    cpu: Option<CpuBench>,
    gpu: Option<GpuBench>,
}

impl LocalBench {
    /// Prepares this machine and starts the threads that judge.
    pub fn start(settings: Settings) -> Result<Self, BenchError> {
        let languages = settings.languages.clone();
        let mut bench = Self {
            settings,
            cpu: None,
            gpu: None,
        };
        for language in languages {
            bench.open(language)?;
        }
        Ok(bench)
    }

    /// Jobs whose replies have not been taken yet.
    pub fn pending(&self) -> usize {
        let cpu = self.cpu.as_ref().map_or(0, CpuBench::pending);
        cpu + self.gpu.as_ref().map_or(0, GpuBench::pending)
    }

    /// The bench for a language, which is started now if necessary.
    fn open(&mut self, language: Language) -> Result<&mut dyn Bench, BenchError> {
        let settings = &self.settings;
        match language {
            Language::C => {
                if self.cpu.is_none() {
                    self.cpu = Some(CpuBench::start(settings.clone())?);
                }
                Ok(self.cpu.as_mut().expect("it was just started"))
            }
            Language::Cuda => {
                if self.gpu.is_none() {
                    self.gpu = Some(GpuBench::start(settings.clone())?);
                }
                Ok(self.gpu.as_mut().expect("it was just started"))
            }
            Language::Torch => Err(BenchError::user(format!(
                "candidates in {language} cannot be judged by this version"
            ))),
        }
    }

    fn opened(&self, language: Language) -> Option<&dyn Bench> {
        match language {
            Language::C => self.cpu.as_ref().map(|bench| bench as &dyn Bench),
            Language::Cuda => self.gpu.as_ref().map(|bench| bench as &dyn Bench),
            Language::Torch => None,
        }
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
        let language = |job: &Job| job.task.spec.language;
        for job in &jobs {
            self.open(language(job))?;
        }
        let mut left = jobs;
        while let Some(first) = left.first().map(language) {
            let (these, others) = left.into_iter().partition(|job| language(job) == first);
            self.open(first)?.submit(these)?;
            left = others;
        }
        Ok(())
    }

    fn next(&mut self, timeout: Duration) -> Result<Option<Reply>, BenchError> {
        let deadline = Instant::now() + timeout;
        let owes = |pending: usize| pending > 0;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let reply = match (&mut self.cpu, &mut self.gpu) {
                (Some(cpu), Some(gpu)) if owes(cpu.pending()) && owes(gpu.pending()) => {
                    match gpu.next(Duration::ZERO)? {
                        None => cpu.next(left.min(GLANCE))?,
                        reply => reply,
                    }
                }
                (_, Some(gpu)) if owes(gpu.pending()) => return gpu.next(left),
                (Some(cpu), _) => return cpu.next(left),
                (None, Some(gpu)) => return gpu.next(left),
                (None, None) => {
                    // Nothing was submitted, and a caller that asks again and again must not spin.
                    std::thread::sleep(left);
                    None
                }
            };
            if reply.is_some() || Instant::now() >= deadline {
                return Ok(reply);
            }
        }
    }

    fn cancel(&mut self, ids: &[JobId]) {
        if let Some(cpu) = &mut self.cpu {
            cpu.cancel(ids);
        }
        if let Some(gpu) = &mut self.gpu {
            gpu.cancel(ids);
        }
    }

    fn profile(&mut self, job: &Job) -> Result<Option<String>, BenchError> {
        job.check()?;
        self.open(job.task.spec.language)?.profile(job)
    }

    fn facts(&self) -> MachineFacts {
        let first = self.settings.languages.first();
        let bench = first.and_then(|language| self.opened(*language));
        bench.map(Bench::facts).unwrap_or_default()
    }

    fn facts_of(&self, language: Language) -> MachineFacts {
        self.opened(language)
            .map_or_else(|| self.facts(), Bench::facts)
    }
}
