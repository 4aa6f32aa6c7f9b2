//! The cores that a worker owns. No two workers of a machine time on the same core.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use hotloop_flow::{BenchError, Remedy};

/// How long to retry a taken core. A starting process holds its parent's locks until it calls
/// `exec`, so a core that was just released may look taken for a moment.
const PATIENCE: Duration = Duration::from_millis(500);

/// Cores that nobody else takes while this lives.
pub(crate) struct Owned {
    #[expect(dead_code, reason = "the lock lives as long as the file is open")]
    locks: Vec<File>,
}

/// Reads a list such as `0-3,8`.
pub(crate) fn parse(text: &str) -> Option<Vec<usize>> {
    let mut cores = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if last < first || last > 65_535 {
            return None;
        }
        cores.extend(first..=last);
    }
    cores.sort_unstable();
    cores.dedup();
    Some(cores)
}

/// Takes `cores`, or returns the owner of one of them. `shared` takes them even if others own them.
pub(crate) fn own(cores: &[usize], shared: bool) -> Result<Owned, BenchError> {
    if shared {
        return Ok(Owned { locks: Vec::new() });
    }
    let folder = folder()?;
    let mut locks = Vec::new();
    for core in cores {
        let path = folder.join(core.to_string());
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|error| BenchError::machine(format!("{}: {error}", path.display())))?;
        if !comes_free(&file) {
            return Err(BenchError::user(format!(
                "another worker of this machine owns core {core}"
            ))
            .hint("give each worker cores of its own, or let them share and disturb each other")
            .remedies(&[Remedy::Cores, Remedy::ShareCores]));
        }
        locks.push(file);
    }
    Ok(Owned { locks })
}

/// Locks `file`, unless another process holds it for longer than a moment.
fn comes_free(file: &File) -> bool {
    let asked = Instant::now();
    loop {
        if file.try_lock().is_ok() {
            return true;
        }
        if asked.elapsed() > PATIENCE {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// This user's folder, which is the same for all workers, whatever their environment is.
fn folder() -> Result<PathBuf, BenchError> {
    let user = std::fs::metadata("/proc/self").map_or(0, |me| me.uid());
    let folder = PathBuf::from(format!("/tmp/hotloop-cores-{user}"));
    fs_err::create_dir_all(&folder).map_err(|error| BenchError::machine(error.to_string()))?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cores_are_read_or_refused() {
        assert_eq!(parse("0-2,8,1"), Some(vec![0, 1, 2, 8]));
        for bad in ["", "a", "3-1", "1,", "0-99999999"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_core_has_one_owner() {
        // Core numbers beyond any machine, so that the test conflicts with no real worker.
        let cores = [60_000 + std::process::id() as usize % 5000];
        let first = own(&cores, false).unwrap();
        assert!(own(&cores, false).is_err_and(|error| error.remedies.contains(&Remedy::Cores)));
        assert!(own(&cores, true).is_ok());
        drop(first);
        assert!(own(&cores, false).is_ok());
    }

    #[test]
    fn a_process_that_is_just_being_started_keeps_no_core() {
        let cores = [65_000 + std::process::id() as usize % 500];
        std::thread::scope(|threads| {
            let starts = threads.spawn(|| {
                for _ in 0..200 {
                    std::process::Command::new("true").status().unwrap();
                }
            });
            while !starts.is_finished() {
                assert!(own(&cores, false).is_ok());
            }
        });
    }
}
