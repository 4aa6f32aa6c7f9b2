//! How much memory there is to take.

use std::path::Path;

/// Bytes that a process could take now: those that the machine has left, or all that the narrowest
/// of its control groups allows. Without a word from the kernel there is no end to them.
pub(crate) fn available_bytes() -> u64 {
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = limit_files(&groups)
        .into_iter()
        .filter_map(|file| std::fs::read_to_string(file).ok()?.trim().parse().ok());
    limits
        .chain(left_on_machine(&meminfo))
        .min()
        .unwrap_or(u64::MAX)
}

fn left_on_machine(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

/// The files that say how much memory the control groups of a process allow, those around them
/// included. A container sees its own at the root.
fn limit_files(groups: &str) -> Vec<std::path::PathBuf> {
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"));
    let own = Path::new(own.unwrap_or_default());
    let root = Path::new("/sys/fs/cgroup");
    let mut files: Vec<_> = own
        .ancestors()
        .map(|group| root.join(group).join("memory.max"))
        .collect();
    files.push(root.join("memory/memory.limit_in_bytes"));
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_words_are_read() {
        let meminfo = "MemTotal:       24000 kB\nMemAvailable:   23 kB\n";
        assert_eq!(left_on_machine(meminfo), Some(23 << 10));
        assert_eq!(left_on_machine("MemTotal: 5 kB\n"), None);
        let files = limit_files("0::/user.slice/job\n");
        let names: Vec<_> = files
            .iter()
            .map(|file| file.display().to_string())
            .collect();
        assert_eq!(
            names,
            [
                "/sys/fs/cgroup/user.slice/job/memory.max",
                "/sys/fs/cgroup/user.slice/memory.max",
                "/sys/fs/cgroup/memory.max",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes"
            ]
        );
        assert!(available_bytes() > 0);
    }
}
