//! Tries examiner and runner with plans made by hand, where nothing splits and records sources yet.
//!
//! This is no interface: tests and a program that is sent to machines with a GPU use it.

mod cases;
mod draft;
pub(crate) mod nvrtc;
mod task;

use std::path::PathBuf;
use std::time::Instant;

use hotloop_flow::{BenchError, How, Verdict};

use crate::gpu::examine::{Examiner, Options};
use crate::gpu::trusted;
use crate::inputs::Fresh;

pub use task::TaskTrial;

/// An examiner and candidates.
pub struct Trial {
    examiner: Examiner,
    architecture: String,
    fresh: Fresh,
    small: bool,
}

impl Trial {
    /// Opens the GPU. `roles` plays the hidden roles. `small` shrinks every problem.
    pub fn open(roles: PathBuf, seccomp: bool, small: bool) -> Result<Self, BenchError> {
        let architecture = std::env::var("HOTLOOP_TRIAL_ARCH").unwrap_or("sm_90".into());
        let trusted = nvrtc::compile(trusted::SOURCE, &trusted::NAMES, &architecture)
            .map_err(BenchError::machine)?;
        let options = Options {
            roles,
            trusted,
            seccomp,
            spares: 2,
            torch: None,
        };
        let fresh = Fresh::from_system().map_err(|error| BenchError::machine(error.to_string()))?;
        Ok(Self {
            examiner: Examiner::start(options)?,
            architecture,
            fresh,
            small,
        })
    }

    /// The GPU, in words.
    pub fn facts(&self) -> String {
        format!("{:?}", self.examiner.facts())
    }

    /// The names of all candidates.
    pub fn names() -> Vec<&'static str> {
        cases::CASES.iter().map(|case| case.name).collect()
    }

    /// What is expected of a candidate.
    pub fn expected(name: &str) -> &'static str {
        cases::find(name).expect
    }

    /// Judges a candidate; the seconds are those of the examiner alone.
    pub fn judge(&mut self, name: &str) -> Result<(Verdict, f64), BenchError> {
        let case = cases::find(name);
        let compile = |text: &str, names: &[&str]| {
            nvrtc::compile(text, names, &self.architecture).map_err(BenchError::machine)
        };
        let mut work = cases::work(case, self.small, &mut self.fresh, How::default());
        let device = cases::device_half(&work.1);
        work.0.reference.image = compile(&device, &cases::kernels_of(&work.0.reference))?;
        work.0.candidate = compile(case.device, case.kernels)?;
        let since = Instant::now();
        let answer = self.examiner.judge(&work.0)?;
        Ok((answer.into(), since.elapsed().as_secs_f64()))
    }
}
