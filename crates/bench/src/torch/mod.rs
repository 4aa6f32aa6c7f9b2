//! Problems of `KernelBench`: plans for answers to them, without torch and without a GPU, and what
//! the real torch takes.
//!
//! ```text
//! problem -> interpreter (jail) + stand-in for torch -> shapes of inputs, parameters, outputs
//! answer  -> interpreter (jail) + stand-in for torch ─┐ asks over one line for builds, memory, calls
//!            extensions -> g++ (confined) -> program  │
//!            calls      -> program (jail) -> events  ─┴> plan, checked
//!            device half -> NVRTC (confined), where there is one
//! ```
//!
//! A file of CUDA is recorded as candidates of CUDA tasks are; its `solve` stands for `forward`.
//!
//! The stand-in knows shapes and no numbers. A plan is data: the worst that an answer's Python can
//! do, even with the whole interpreter in its hands, is to ask for what an honest answer may ask
//! for.
//!
//! A plan is no judgement: nothing has run on a GPU, and no result was compared. A [`Judge`] has
//! plans run by the GPU bench, and compared with what the real torch says is right.
//!
//! The real torch runs problems only: a [`Worker`] measures how long it takes and how exact it is.

mod answer;
mod bench;
mod counterpart;
mod element;
mod file;
mod flow;
mod judge;
mod making;
mod message;
mod plan;
mod planner;
mod python;
mod request;
mod runnable;
mod session;
mod sources;
mod stand_in;
#[doc(hidden)]
pub mod trial;
mod variables;
pub(crate) mod worker;

pub use answer::Answer;
pub use bench::ModuleBench;
pub use file::prototype;
pub use judge::{Judge, Judged, Judging};
pub use message::{Facts, Input, Shape};
pub use plan::{At, Compiled, Data, Launch, Memory, ModulePlan, Origin, Output, Step};
pub use planner::{Outcome, Planner};
pub use worker::{Asked, Baselines, Measured, Precision, Times, TorchPython, Worker, WorkerFacts};
