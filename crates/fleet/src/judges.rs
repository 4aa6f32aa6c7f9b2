//! What judges on a worker's machine.

use std::path::PathBuf;

use hotloop_bench::{LocalBench, Settings};
use hotloop_flow::how::Compiler;
use hotloop_flow::{Bench, BenchError, Device, How, Language, MachineFacts};

use crate::wire::{Terms, WorkerNoise};

/// What a worker needs from its machine.
pub trait Judges {
    /// The machine, for each compiler that candidates can be built with.
    fn machine(&self) -> Result<Vec<(Compiler, MachineFacts)>, BenchError>;
    /// The machine as it judges candidates in CUDA; `None` without a GPU for them.
    fn cuda(&self) -> Option<MachineFacts> {
        None
    }
    /// How steady the machine is now.
    fn noise(&self) -> Result<WorkerNoise, BenchError>;
    /// Starts a bench with these terms and slots.
    fn start(&self, terms: &Terms, slots: u32) -> Result<Box<dyn Bench>, BenchError>;
}

/// The bench of this machine.
pub struct RealJudges {
    base: Settings,
}

impl RealJudges {
    /// `roles` is the executable that plays the bench's hidden roles.
    pub fn new(roles: PathBuf) -> Self {
        Self {
            base: Settings::new(roles),
        }
    }
}

/// How often the peak is measured to see how steady it is.
const PEAKS: usize = 3;

impl Judges for RealJudges {
    fn machine(&self) -> Result<Vec<(Compiler, MachineFacts)>, BenchError> {
        let mut found = Vec::new();
        let mut problem = None;
        for compiler in [Compiler::Gcc, Compiler::Clang] {
            let how = How {
                compiler,
                ..self.base.how
            };
            match LocalBench::start(Settings {
                how,
                ..self.base.clone()
            }) {
                Ok(bench) => found.push((compiler, bench.facts())),
                Err(error) => problem = problem.or(Some(error)),
            }
        }
        match (found.is_empty(), problem) {
            (true, Some(problem)) => Err(problem),
            _ => Ok(found),
        }
    }

    fn cuda(&self) -> Option<MachineFacts> {
        let settings = Settings {
            languages: vec![Language::Cuda],
            ..self.base.clone()
        };
        let facts = LocalBench::start(settings).ok()?.facts();
        matches!(facts.device, Device::Gpu { .. }).then_some(facts)
    }

    fn noise(&self) -> Result<WorkerNoise, BenchError> {
        let noise = hotloop_bench::survey::noise(self.base.clone(), PEAKS)?;
        Ok(WorkerNoise {
            calm: noise.calm,
            peak_cv: noise.peak_cv,
            peak_gflops: noise.peak_flops / 1e9,
        })
    }

    fn start(&self, terms: &Terms, slots: u32) -> Result<Box<dyn Bench>, BenchError> {
        Ok(Box::new(LocalBench::start(
            terms.settings(&self.base, slots),
        )?))
    }
}
