//! What to say where workers are missing.

use crate::wire::{Beat, State};

/// Who lacks workers looks here.
pub(super) const LOOK: &str = "look at the fleet's workers, or start some";

/// Why the first of them that is in quarantine is there.
pub(super) fn quarantine(beats: &[Beat]) -> String {
    let why = beats.iter().find_map(|beat| match &beat.state {
        State::Quarantined(why) => Some(format!(" ({} is in quarantine: {why})", beat.worker)),
        _ => None,
    });
    why.unwrap_or_default()
}
