//! The users that candidates run as when hotloop is root.

/// The unprivileged user that slot `index` becomes when hotloop is root. Each slot has
/// its own, so that the thread limit, which counts per user, does not mix slots.
pub(crate) fn unprivileged_user(index: u32) -> u32 {
    // Above the range of people and packages, below the range of dynamic users.
    64_100 + index % 400
}
