//! A judge where kernels are compiled without any confinement: on the emulator of a GPU.
//!
//! This is no interface: tests use it.

use std::path::{Path, PathBuf};

use hotloop_flow::BenchError;

use super::judge::{Judge, Judging};
use super::plan::ModulePlan;
use super::planner::Planner;
use super::runnable::Runnable;
use super::worker::TorchPython;
use crate::gpu::examine::{Examiner, Options, TorchSite};
use crate::gpu::image::Image;
use crate::gpu::trial::nvrtc;
use crate::gpu::trusted;
use crate::settings::Settings;

/// Any architecture: the emulator has none.
const ARCHITECTURE: &str = "sm_90";

/// Opens the emulated GPU; torch computes on the CPU. `roles` plays the hidden roles.
pub fn judge(roles: PathBuf, python: &Path) -> Result<Judge, BenchError> {
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
            python: python.clone(),
            device: "cpu".to_owned(),
        }),
    })?;
    let how = Judging {
        with_compiled: false,
        limit_s: 5.0,
        runs: 0,
    };
    Ok(Judge::of(planner, examiner, python, (how, images)))
}

fn images(plan: &ModulePlan, runnable: &Runnable) -> Result<Vec<Image>, BenchError> {
    let image = |extension: &usize| {
        let device = &plan.devices[*extension];
        let names: Vec<&str> = device.names.iter().map(String::as_str).collect();
        nvrtc::compile(&device.source, &names, ARCHITECTURE).map_err(BenchError::machine)
    };
    runnable.extensions.iter().map(image).collect()
}
