//! The training data: examples in batches of about equally many tokens.

use hotloop_flow::random::{Random, seed};

use crate::pack::Sequence;
use crate::text::Turn;

/// The training data and its batches.
pub struct Lessons {
    /// Examples for training.
    pub examples: Vec<Sequence>,
    /// The origin of each example, such as `chats.jsonl:12`.
    pub origins: Vec<String>,
    /// Examples for evaluation.
    pub held_out: Vec<Sequence>,
    /// Approximate number of tokens per step.
    pub batch_tokens: usize,
    /// The most examples per step.
    pub batch_examples: usize,
    /// After how many evaluations without a better loss on held-out examples the tuning ends;
    /// `None` for never.
    pub patience: Option<u32>,
    /// Number of passes over the examples.
    pub epochs: u32,
    /// Seed of the order.
    pub seed: u64,
}

impl Lessons {
    /// The steps of the whole tuning.
    pub fn steps(&self) -> u64 {
        (0..self.epochs)
            .map(|epoch| self.batches(epoch).len() as u64)
            .sum()
    }

    /// The examples of each step in an epoch.
    pub(super) fn batches(&self, epoch: u32) -> Vec<Vec<usize>> {
        let mut order: Vec<usize> = (0..self.examples.len()).collect();
        Random::new(seed(self.seed, &[u64::from(epoch)])).shuffle(&mut order);
        let mut batches = vec![Vec::new()];
        let mut tokens = 0;
        for index in order {
            let length = self.examples[index].tokens.len();
            let count = batches.last().map_or(0, Vec::len);
            let is_full = tokens + length > self.batch_tokens || count >= self.batch_examples;
            if is_full && count > 0 {
                batches.push(Vec::new());
                tokens = 0;
            }
            tokens += length;
            if let Some(batch) = batches.last_mut() {
                batch.push(index);
            }
        }
        batches
    }
}

/// A question and its answer as a chat.
pub fn pair(question: &str, answer: &str) -> Vec<Turn> {
    let turn = |role, content: &str| Turn {
        role,
        content: content.to_owned(),
    };
    vec![turn("user", question), turn("assistant", answer)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_seen_once_an_epoch_in_batches_that_fit() {
        let example = |length: usize| Sequence {
            tokens: vec![1; length],
            scored: vec![true; length],
        };
        let examples: Vec<Sequence> = (1..=50).map(example).collect();
        let origins = vec![String::new(); examples.len()];
        let lessons = Lessons {
            examples,
            origins,
            held_out: Vec::new(),
            batch_tokens: 100,
            batch_examples: usize::MAX,
            patience: None,
            epochs: 2,
            seed: 3,
        };
        for epoch in 0..2 {
            let batches = lessons.batches(epoch);
            let mut seen: Vec<usize> = batches.iter().flatten().copied().collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..50).collect::<Vec<_>>());
            let tokens = |batch: &Vec<usize>| batch.iter().map(|index| index + 1).sum::<usize>();
            assert!(
                batches
                    .iter()
                    .all(|batch| !batch.is_empty() && tokens(batch) <= 100)
            );
        }
        let by_four = Lessons {
            batch_tokens: usize::MAX,
            batch_examples: 4,
            ..lessons
        };
        let sizes: Vec<usize> = by_four.batches(0).iter().map(Vec::len).collect();
        assert_eq!(sizes, [vec![4; 12], vec![2]].concat());
        let lessons = by_four;
        assert_ne!(
            lessons.batches(0),
            lessons.batches(1),
            "each epoch has an order of its own"
        );
    }
}
