//! Memory that the control groups of this process allow. In a container this is less than the
//! machine has.

/// The files in which a version of control groups reports memory.
struct Files {
    root: &'static str,
    limit: &'static str,
    used: &'static str,
    /// The key for page cache, which the kernel reclaims when memory is short.
    given_up: &'static str,
}

const V1: Files = Files {
    root: "/sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    given_up: "total_inactive_file",
};
const V2: Files = Files {
    root: "/sys/fs/cgroup",
    limit: "memory.max",
    used: "memory.current",
    given_up: "inactive_file",
};

/// The smallest remaining memory of any group around this process; `None` without a limit.
pub(super) fn free_bytes() -> Option<u64> {
    let groups = fs_err::read_to_string("/proc/self/cgroup").ok()?;
    free_in(&groups, &|path| fs_err::read_to_string(path).ok())
}

/// The same for a list of groups, with files read by `read`.
fn free_in(groups: &str, read: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
    let of_line = |line: &str| {
        let mut parts = line.splitn(3, ':');
        let (number, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let is_v1 = controllers
            .split(',')
            .any(|controller| controller == "memory");
        let is_v2 = number == "0" && controllers.is_empty();
        let files = if is_v1 { V1 } else { V2 };
        (is_v1 || is_v2)
            .then(|| files.least_free(path, read))
            .flatten()
    };
    groups.lines().filter_map(of_line).min()
}

impl Files {
    /// The smallest remaining memory of the group at `path` and the groups around it.
    fn least_free(&self, path: &str, read: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
        let mut path = path.trim_end_matches('/');
        let mut least = self.free(path, read);
        // A container sees its own group as the root, whatever its path is.
        while let Some((around, _)) = path.rsplit_once('/') {
            path = around;
            least = least.into_iter().chain(self.free(path, read)).min();
        }
        least
    }

    /// The remaining memory of one group. Without a limit version 2 writes `max`, and version 1 a
    /// huge number.
    fn free(&self, path: &str, read: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
        let file = |name: &str| read(&format!("{}{path}/{name}", self.root));
        let number = |name: &str| file(name)?.trim().parse::<u64>().ok();
        let (limit, used) = (number(self.limit)?, number(self.used)?);
        let facts = file("memory.stat").unwrap_or_default();
        let given_up = facts
            .lines()
            .find_map(|line| line.strip_prefix(self.given_up)?.trim().parse::<u64>().ok());
        Some(limit.saturating_sub(used.saturating_sub(given_up.unwrap_or(0))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free(groups: &str, files: &[(&str, &str)]) -> Option<u64> {
        let read = |path: &str| {
            files
                .iter()
                .find(|(name, _)| *name == path)
                .map(|(_, text)| (*text).to_owned())
        };
        free_in(groups, &read)
    }

    #[test]
    fn the_tightest_group_around_a_process_counts() {
        let files = [
            ("/sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("/sys/fs/cgroup/a/b/memory.current", "10\n"),
            ("/sys/fs/cgroup/a/memory.max", "1000\n"),
            ("/sys/fs/cgroup/a/memory.current", "700\n"),
            (
                "/sys/fs/cgroup/a/memory.stat",
                "anon 5\ninactive_file 100\nactive_file 7\n",
            ),
            ("/sys/fs/cgroup/memory.max", "5000\n"),
            ("/sys/fs/cgroup/memory.current", "100\n"),
        ];
        assert_eq!(free("0::/a/b\n", &files), Some(400));
        assert_eq!(free("0::/\n", &files), Some(4900));
        assert_eq!(free("0::/elsewhere/in/a/host\n", &files), Some(4900));
        assert_eq!(free("0::/a/b\n", &files[..2]), None);
        assert_eq!(
            free(
                "0::/a\n",
                &[files[2], ("/sys/fs/cgroup/a/memory.current", "1200")]
            ),
            Some(0)
        );
    }

    #[test]
    fn version_one_is_read_by_its_own_names() {
        let files = [
            ("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "900\n"),
            ("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "300\n"),
            (
                "/sys/fs/cgroup/memory/memory.limit_in_bytes",
                "9223372036854771712\n",
            ),
            ("/sys/fs/cgroup/memory/memory.usage_in_bytes", "800\n"),
        ];
        assert_eq!(
            free("5:cpu,cpuacct:/job\n4:memory:/job\n0::/job\n", &files),
            Some(600)
        );
        assert_eq!(free("5:cpu,cpuacct:/job\n", &files), None);
        assert_eq!(free("", &files), None);
    }
}
