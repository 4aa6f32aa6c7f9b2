//! Facts about this machine that take long to find out, kept in the cache between processes.
//!
//! A fact is kept together with the files that it was learned from, and learned again as soon as
//! one of them has changed.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::cache::Cache;

/// A fact, and the files that it was learned from. A file that was missing counts, too.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Learned<T> {
    pub(crate) fact: T,
    pub(crate) from: Vec<PathBuf>,
}

#[derive(Serialize, Deserialize)]
struct Entry<T> {
    #[serde(flatten)]
    learned: Learned<T>,
    /// What the files were then, in their order.
    states: Vec<Option<State>>,
}

/// What tells that a file is another one: seconds and nanoseconds of its last change, length,
/// inode.
type State = (i64, i64, u64, u64);

fn states(files: &[PathBuf]) -> Vec<Option<State>> {
    let state = |path: &PathBuf| {
        let data = path.metadata().ok()?;
        Some((data.mtime(), data.mtime_nsec(), data.len(), data.ino()))
    };
    files.iter().map(state).collect()
}

/// The fact `name`, from the cache if it still holds there, else from `learn`.
pub(crate) fn fact<T, E>(
    cache: &Cache,
    name: &str,
    learn: impl FnOnce() -> Result<Learned<T>, E>,
) -> Result<T, E>
where
    T: Serialize + DeserializeOwned,
{
    let name = format!("fact-{name}.json");
    let known = std::fs::read(cache.path(&name))
        .ok()
        .and_then(|bytes| serde_json::from_slice::<Entry<T>>(&bytes).ok())
        .filter(|entry| states(&entry.learned.from) == entry.states);
    if let Some(entry) = known {
        return Ok(entry.learned.fact);
    }
    let learned = learn()?;
    let entry = Entry {
        states: states(&learned.from),
        learned,
    };
    if let Ok(bytes) = serde_json::to_vec(&entry) {
        // A cache that cannot be written only costs time.
        drop(cache.replace(&name, &bytes));
    }
    Ok(entry.learned.fact)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn a_fact_is_learned_again_when_its_file_changes_appears_or_goes() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        let file = folder.path().join("compiler");
        let learned = Cell::new(0);
        let ask = || {
            fact(&cache, "compiler", || {
                learned.set(learned.get() + 1);
                Ok::<_, Infallible>(Learned {
                    fact: learned.get(),
                    from: vec![file.clone()],
                })
            })
            .unwrap()
        };
        assert_eq!((ask(), ask()), (1, 1), "a missing file stays missing");
        std::fs::write(&file, "first").unwrap();
        assert_eq!((ask(), ask()), (2, 2));
        std::fs::write(&file, "second").unwrap();
        assert_eq!((ask(), ask()), (3, 3));
        std::fs::remove_file(&file).unwrap();
        assert_eq!(ask(), 4);
        std::fs::write(cache.path("fact-compiler.json"), "{}").unwrap();
        assert_eq!(ask(), 5, "what cannot be read is not believed");
    }
}
