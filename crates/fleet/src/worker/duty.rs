//! What a worker is to do.

use std::time::Duration;

use crate::{Access, Log};

/// What a worker is to do.
pub struct Duty {
    /// How to reach the server.
    pub access: Access,
    /// Candidates timed side by side; 0 means one.
    pub slots: u32,
    /// Logical cores as in `0-3,8`; all that the process may use, if none are named.
    pub cores: Option<String>,
    /// Whether cores may be another worker's too.
    pub share_cores: bool,
    /// A worker that is silent for so long loses its group to another.
    pub lease: Duration,
    /// Times that a group is given to a worker.
    pub deliveries: u32,
    /// Below this share of calm probes the worker takes nothing.
    pub calm: f64,
    /// How long a worker that is asked to stop may finish what it has.
    pub grace: Duration,
    /// How long the server may be missing at the start.
    pub patience: Duration,
    /// Where notices go.
    pub log: Log,
}
