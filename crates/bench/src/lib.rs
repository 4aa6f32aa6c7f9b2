//! Judges a candidate on a machine: screen, compile, sandbox, verify, measure.
//!
//! ```text
//! candidate -> screen -> compile -> verify -> time -> verdict
//!              (examiners, in parallel)      (clocks, alone on their cores)
//! ```
//!
//! A supervisor process owns inputs, clock, reference and verdict. The candidate runs in a
//! confined process that holds nothing worth stealing. "Done" means that its whole thread
//! group is frozen. Inputs are fresh and unpredictable, and every timed run is verified.
//!
//! The bench starts its own executable again for these processes. So a program that judges must
//! call [`role::play_if_asked`] before anything else:
//!
//! ```no_run
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use hotloop_bench::{Settings, open, role, tasks};
//! use hotloop_flow::{Candidate, Job, JobId};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     role::play_if_asked();
//!     let mut bench = open(Settings::new(std::env::current_exe()?))?;
//!     let task = Arc::new(tasks::load("matmul")?);
//!     let candidate = Candidate::from_source(task.seed.as_bytes(), &task)?;
//!     bench.submit(vec![Job { id: JobId(0), task, candidate, stage: None }])?;
//!     while let Some(reply) = bench.next(Duration::from_secs(60))? {
//!         println!("{}", reply.judged?.verdict.label());
//!     }
//!     Ok(())
//! }
//! ```
//!
//! Rooms: `cpu` judges C on CPUs, `gpu` judges CUDA on GPUs, and `torch` plans answers to problems
//! written for torch and has `gpu` judge them. The others know no language: `sandbox` and `confine` keep processes in,
//! `compiling` runs compilers on what candidates wrote, `role` says which process is which, `sys`
//! wraps system calls, `inputs` draws numbers, `estimate` makes one time of many samples, `tasks`
//! and `lint` load and check tasks, `survey` describes the machine.

mod cache;
mod compiling;
mod confine;
mod cores;
mod cpu;
mod estimate;
#[doc(hidden)]
pub mod gpu;
mod inputs;
mod kept;
mod ledger;
pub mod lint;
mod local;
pub mod role;
pub mod sandbox;
mod scratch;
mod settings;
pub mod survey;
mod sys;
pub mod tasks;
pub mod torch;

pub use local::{LocalBench, open};
pub use settings::Settings;
