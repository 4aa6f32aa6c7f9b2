//! What a machine says of a candidate: screen, compile, sandbox, verify, measure.
//!
//! ```text
//! candidate -> screen -> compile -> verify -> time -> verdict
//!              (examiners, in parallel)      (clocks, alone on their cores)
//! ```
//!
//! A supervisor process owns inputs, clock, reference and verdict; the candidate runs in a
//! confined process that holds nothing worth stealing. "Done" means that its whole thread
//! group is frozen; inputs are fresh and unpredictable, and every timed run is verified.

mod blas;
mod cache;
mod clock;
mod compile;
mod confine;
mod cores;
mod draws;
mod estimate;
mod examine;
mod executable;
mod inputs;
mod layout;
mod local;
mod machine;
mod memory;
mod prepared;
pub mod role;
mod roof;
mod runner;
pub mod sandbox;
mod scratch;
mod screen;
mod settings;
mod shim;
mod slot;
mod supervisor;
pub mod survey;
mod symbols;
mod sys;
pub mod tasks;
mod times;
mod toolchain;
mod trusted;
mod verify;

pub use local::{LocalBench, measure_roof};
pub use settings::{Check, Estimator, Settings};
