//! The available memory of this machine, and whether backward uses it for activations.

mod cgroup;

/// What happens to a layer's activations between forward and backward.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recompute {
    /// They are kept. This saves a forward pass and needs tens of times the memory.
    Off,
    /// They are recomputed layer by layer. Only each layer's input is kept.
    On,
    /// They are kept if they need at most half of the free memory. The results are the same either
    /// way.
    Auto,
}

/// Memory that is available without swapping and within the limits of this process's control
/// groups; `None` if unknown.
pub fn available_bytes() -> Option<u64> {
    let facts = fs_err::read_to_string("/proc/meminfo").ok()?;
    let line = facts
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let machine = line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024;
    Some(cgroup::free_bytes().map_or(machine, |group| group.min(machine)))
}
