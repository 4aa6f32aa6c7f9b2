//! Messages about missing workers.

use crate::wire::{Beat, State};

/// The hint if workers are missing.
pub(super) const LOOK: &str = "look at the fleet's workers, or start some";

/// Why the first quarantined worker is in quarantine.
pub(super) fn quarantine(beats: &[Beat]) -> String {
    let why = beats.iter().find_map(|beat| match &beat.state {
        State::Quarantined(why) => Some(format!(" ({} is in quarantine: {why})", beat.worker)),
        _ => None,
    });
    why.unwrap_or_default()
}
