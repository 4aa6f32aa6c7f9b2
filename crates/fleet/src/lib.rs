//! One bench over many machines.
//!
//! ```text
//! run -> FleetBench ==jobs==> NATS JetStream ==> worker -> bench of that machine
//!                   <=verdicts==             <==
//! ```
//!
//! Queue, lease, redelivery, delivery counts and deduplication are the NATS server's; where and
//! when workers run is decided by Slurm, by a list of hosts or by a command. Ours is what lies
//! between: which jobs form a message, what a reply must look like, and who starts whom.
//!
//! Execution is at least once, verdicts are exactly once per job. A machine that fails gives an
//! error, never a verdict. tokio and async-nats stay inside: the trait outside is synchronous.

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

/// Where notices for people go, with what they can do; this crate does not print.
pub type Log = std::sync::Arc<dyn Fn(&str, &[hotloop_flow::Remedy]) + Send + Sync>;
