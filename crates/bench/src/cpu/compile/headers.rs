//! What sets of headers make by themselves, remembered.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Sets of headers that are remembered.
const HEADER_SETS: usize = 64;

/// Hashes of the lines that a set of headers makes.
pub(super) type Lines = Arc<HashSet<u64>>;

/// The lines that sets of headers make, by the source that includes only them.
#[derive(Default)]
pub(super) struct KnownHeaders {
    lines: Mutex<HashMap<String, Lines>>,
    hasher: RandomState,
}

impl KnownHeaders {
    pub(super) fn get(&self, source: &str) -> Option<Lines> {
        self.lock().get(source).map(Arc::clone)
    }

    /// Remembers what the preprocessor made of `source`.
    pub(super) fn remember(&self, source: String, text: &str) -> Lines {
        let hashes = text
            .split_inclusive('\n')
            .map(|line| self.hasher.hash_one(line));
        let lines: Lines = Arc::new(hashes.collect());
        let mut known = self.lock();
        if known.len() >= HEADER_SETS {
            known.clear();
        }
        known.insert(source, Arc::clone(&lines));
        lines
    }

    pub(super) fn is_among(&self, lines: &Lines, line: &str) -> bool {
        lines.contains(&self.hasher.hash_one(line))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Lines>> {
        // A poisoned lock only means that another thread failed elsewhere; the map is sound.
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
