//! Judges answers where kernels are compiled without any confinement: on the emulator of a GPU.
//!
//! This is no interface: tests use it.

use std::path::{Path, PathBuf};

use hotloop_flow::BenchError;

use super::judge::{Judged, Judging, work};
use super::planner::{Outcome, Planner};
use super::runnable::runnable;
use super::worker::TorchPython;
use crate::gpu::examine::{Examiner, Options, TorchSite};
use crate::gpu::image::Image;
use crate::gpu::trial::nvrtc;
use crate::gpu::trusted;
use crate::settings::Settings;

/// Any architecture: the emulator has none.
const ARCHITECTURE: &str = "sm_90";

/// A planner and an examiner whose torch computes on the CPU.
pub struct Trial {
    planner: Planner,
    examiner: Examiner,
}

impl Trial {
    /// Opens the emulated GPU. `roles` plays the hidden roles.
    pub fn open(roles: PathBuf, python: &Path) -> Result<Self, BenchError> {
        let python = TorchPython::find(Some(python))?;
        let trusted = nvrtc::compile(trusted::SOURCE, &trusted::NAMES, ARCHITECTURE)
            .map_err(BenchError::machine)?;
        let planner = Planner::open(&Settings::new(roles.clone()))?;
        let examiner = Examiner::start(Options {
            roles,
            trusted,
            // Loading code means opening files there, which the filter forbids.
            seccomp: false,
            spares: 1,
            torch: Some(TorchSite {
                python,
                device: "cpu".to_owned(),
            }),
        })?;
        Ok(Self { planner, examiner })
    }

    /// Judges an answer to a problem.
    pub fn judge(&mut self, problem: &str, answer: &str) -> Result<Judged, BenchError> {
        let facts = self.planner.problem(problem)?.map_err(BenchError::user)?;
        let plan = match self.planner.plan(problem, &facts, answer)? {
            Outcome::Planned(plan) => plan,
            Outcome::Failed(verdict) => {
                let torch = None;
                return Ok(Judged { verdict, torch });
            }
        };
        let runnable = runnable(&plan);
        let mut images: Vec<Image> = Vec::new();
        for extension in &runnable.extensions {
            let device = &plan.devices[*extension];
            let names: Vec<&str> = device.names.iter().map(String::as_str).collect();
            let image = nvrtc::compile(&device.source, &names, ARCHITECTURE);
            images.push(image.map_err(BenchError::machine)?);
        }
        let how = Judging {
            with_compiled: false,
            limit_s: 5.0,
        };
        let judged = self
            .examiner
            .judge_module(&work(problem, runnable, images, how))?;
        Ok(Judged {
            verdict: judged.answer.into(),
            torch: judged.torch,
        })
    }
}
