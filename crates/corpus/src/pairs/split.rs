//! Which benchmarks are held out. Records of one benchmark share code and comments, so a benchmark
//! is never on both sides, whatever suites have it.

use std::collections::{BTreeMap, BTreeSet};

use super::record::Record;

/// Marks the records of benchmarks that are held out: about `percent` of all records, and at least
/// one benchmark if there are two and anything is to be held out.
pub(super) fn hold_out(records: &mut [Record], seed: u64, percent: usize) -> Vec<String> {
    let key = |record: &Record| record.benchmark.to_lowercase();
    let mut sizes: BTreeMap<String, usize> = BTreeMap::new();
    for record in records.iter() {
        *sizes.entry(key(record)).or_default() += 1;
    }
    let mut order: Vec<(&String, &usize)> = sizes.iter().collect();
    order.sort_by_key(|(name, _)| *blake3::hash(format!("{seed}:{name}").as_bytes()).as_bytes());
    let wanted = records.len() * percent / 100;
    let mut held: BTreeSet<String> = BTreeSet::new();
    let mut count = 0;
    for (name, size) in order {
        let first = held.is_empty() && percent > 0;
        if held.len() + 1 < sizes.len() && (first || count + size <= wanted) {
            held.insert(name.clone());
            count += size;
        }
    }
    for record in records {
        record.held_out = held.contains(&key(record));
    }
    held.into_iter().collect()
}
