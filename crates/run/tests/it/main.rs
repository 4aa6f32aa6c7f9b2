//! Whole runs with a fake policy and a fake bench.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod ablations;
mod discovery;
mod experiments;
mod fake;
mod kills;
mod mistakes;
mod pauses;
mod practised;
mod reports;
mod resume;
mod reviewer;
mod runs;
mod stages;
mod standstill;
mod timeless;
mod uncounted;
mod winners;
