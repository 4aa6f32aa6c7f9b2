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

mod cache;
mod confine;
mod cores;
mod cpu;
mod estimate;
mod inputs;
pub mod lint;
mod local;
pub mod role;
pub mod sandbox;
mod scratch;
mod settings;
pub mod survey;
mod sys;
pub mod tasks;

pub use local::{LocalBench, open};
pub use settings::Settings;
