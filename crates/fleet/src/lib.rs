//! One bench over many machines.
//!
//! ```text
//! run -> FleetBench ==jobs==> NATS JetStream ==> worker -> bench of that machine
//!                   <=verdicts==             <==
//! ```
//!
//! The NATS server provides queue, lease, redelivery, delivery counts and deduplication. Slurm, a
//! list of hosts or a command decides where and when workers run. This crate does the rest: which
//! jobs form a message, what a reply must look like, and what starts what.
//!
//! Jobs run at least once, and each gets exactly one verdict. A machine that fails gives an error,
//! never a verdict. tokio and async-nats stay inside, and the public trait is synchronous.

mod access;
mod bench;
pub mod config;
mod cores;
mod judges;
pub mod keeper;
mod link;
mod nodes;
mod rehearsal;
mod reminder;
mod runtime;
pub mod server;
mod site;
pub mod status;
mod wire;
mod worker;

pub use access::Access;
pub use bench::{FleetBench, Opening};
pub use config::Config;
pub use judges::{Judges, RealJudges};
pub use nodes::NodeState;
pub use rehearsal::{RehearsalBench, RehearsalJudges};
pub use wire::{Beat, State, WorkerNoise};
pub use worker::{Duty, work};

/// Receives notices for people with their remedies. This crate does not print.
pub type Log = std::sync::Arc<dyn Fn(&str, &[hotloop_flow::Remedy]) + Send + Sync>;
