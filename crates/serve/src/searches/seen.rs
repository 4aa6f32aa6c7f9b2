//! The names of answers that came before.

use std::collections::{HashSet, VecDeque};

use blake3::Hash;

/// The most answers that are remembered so that none is taken in twice.
const REMEMBERED: usize = 200_000;

/// Answers that were taken in already, since a request may be sent again. Hashes stand for names,
/// which may be long.
#[derive(Default)]
pub(super) struct Seen {
    keys: HashSet<Hash>,
    order: VecDeque<Hash>,
}

impl Seen {
    pub(super) fn has(&self, key: &Hash) -> bool {
        self.keys.contains(key)
    }

    pub(super) fn mark(&mut self, key: Hash) {
        if !self.keys.insert(key) {
            return;
        }
        self.order.push_back(key);
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.keys.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_new_once() {
        let mut seen = Seen::default();
        let key = |name: &str| blake3::hash(name.as_bytes());
        assert!(!seen.has(&key("a")));
        seen.mark(key("a"));
        seen.mark(key("a"));
        assert!(seen.has(&key("a")) && seen.order.len() == 1);
        for number in 0..REMEMBERED {
            seen.mark(key(&number.to_string()));
        }
        assert!(!seen.has(&key("a")));
        assert!(seen.keys.len() <= REMEMBERED && seen.order.len() <= REMEMBERED);
    }
}
