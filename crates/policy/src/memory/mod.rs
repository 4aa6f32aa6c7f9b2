//! How much memory this machine has to give, and whether a backward pass spends it.

mod cgroup;

/// What happens to a layer's inner values between forward and backward.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recompute {
    /// Kept: a forward pass less, and tens of times the memory.
    Off,
    /// Computed again, layer by layer: only each layer's input is kept.
    On,
    /// Kept if they take no more than half of the memory that is free. The numbers are the same
    /// either way.
    Auto,
}

/// Memory that can be had without swapping, and without going beyond what the control groups of
/// this process may have; none where the system does not say.
pub fn available_bytes() -> Option<u64> {
    let facts = fs_err::read_to_string("/proc/meminfo").ok()?;
    let line = facts
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let machine = line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024;
    Some(cgroup::free_bytes().map_or(machine, |group| group.min(machine)))
}
