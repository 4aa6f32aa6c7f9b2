//! Groups in the work queue, and the events that listeners report.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use async_nats::jetstream::message::Acker;
use hotloop_flow::BenchError;

use crate::wire::GroupReply;

/// The header that names a group's jobs.
pub(super) const IDS: &str = "Hotloop-Jobs";

/// Groups in the work queue, by their place in the stream, with the ids of their jobs.
#[derive(Clone, Default)]
pub(super) struct Outstanding(Arc<Mutex<Groups>>);

#[derive(Default)]
pub(super) struct Groups {
    pub(super) by_sequence: BTreeMap<u64, Vec<String>>,
    /// When the last reply came.
    pub(super) heard: Option<Instant>,
}

impl Outstanding {
    pub(super) fn lock(&self) -> MutexGuard<'_, Groups> {
        // A plain map stays consistent, whatever a panicking thread was doing.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn holds(&self, id: &str) -> bool {
        self.lock()
            .by_sequence
            .values()
            .any(|ids| ids.iter().any(|one| one == id))
    }
}

/// An event from the listeners.
pub(super) enum Event {
    /// A worker's answer, and when it came.
    Reply(GroupReply, Arc<Acker>, Instant),
    /// A group was delivered too often.
    Lost { sequence: u64, deliveries: u64 },
    /// A group has left the queue, and no reply came.
    Gone { sequence: u64 },
    /// The fleet has become unusable.
    Over(BenchError),
}
