//! What a supervisor keeps between requests: its cores, random numbers and probes.

use crate::cpu::crew::Crew;
use crate::cpu::prober::Prober;
use crate::cpu::supervisor::protocol::CORES;
use crate::inputs::Fresh;
use crate::sys;

/// What a supervisor keeps between requests.
pub(super) struct Instruments {
    pub(super) cores: Vec<usize>,
    pub(super) crew: Crew,
    pub(super) fresh: Fresh,
    prober: Option<Prober>,
}

impl Instruments {
    pub(super) fn new() -> std::io::Result<Self> {
        sys::die_with_parent()?;
        sys::catch_alarms()?;
        sys::count_continues()?;
        // Inputs and outputs are memory files, and one that is too large is the machine's failure.
        sys::outlive_file_limit()?;
        let cores: Vec<usize> = std::env::var(CORES)
            .unwrap_or_default()
            .split(',')
            .filter_map(|core| core.parse().ok())
            .collect();
        let cores = if cores.is_empty() {
            sys::affinity(0)?
        } else {
            cores
        };
        // On the candidate's first core, fresh inputs are already in its cache.
        sys::pin(0, &cores[..1])?;
        // A process that wakes up on a busy core keeps it for milliseconds, and a team waits for
        // its slowest thread.
        sys::go_first();
        Ok(Self {
            crew: Crew::new(&cores),
            cores,
            fresh: Fresh::from_system()?,
            prober: None,
        })
    }

    /// Probes all cores now, relative to their floor.
    pub(super) fn probe(&mut self, memory: bool) -> f64 {
        self.prober
            .get_or_insert_with(|| Prober::new(&self.crew))
            .probe(&self.crew, memory)
    }
}
