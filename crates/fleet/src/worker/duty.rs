//! The settings of a worker.

use std::time::Duration;

use crate::{Access, Log};

/// The settings of a worker.
pub struct Duty {
    /// How to reach the server.
    pub access: Access,
    /// Number of candidates timed at the same time; 0 means one.
    pub slots: u32,
    /// Logical cores such as `0-3,8`; by default all that the process may use.
    pub cores: Option<String>,
    /// Whether other workers may use the same cores.
    pub share_cores: bool,
    /// A worker that is silent for this long loses its group to another.
    pub lease: Duration,
    /// Maximum number of deliveries of a group.
    pub deliveries: u32,
    /// The worker takes no jobs below this share of calm probes.
    pub calm: f64,
    /// How long a worker may take to finish its jobs after it was asked to stop.
    pub grace: Duration,
    /// How long to wait for the server at the start.
    pub patience: Duration,
    /// Where notices go.
    pub log: Log,
}
