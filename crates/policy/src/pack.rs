//! Packs sequences of different lengths end to end, without padding.

use std::ops::Range;

/// Tokens, and which of them are scored: the answer's in reinforcement learning, the assistant's in
/// supervised learning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequence {
    pub tokens: Vec<u32>,
    /// One flag per token. The first token has nothing before it and is never scored.
    pub scored: Vec<bool>,
}

impl Sequence {
    /// A prompt and its answer. The answer is scored.
    #[must_use]
    pub fn answer(prompt: &[u32], answer: &[u32]) -> Self {
        let tokens = [prompt, answer].concat();
        let scored = (0..tokens.len())
            .map(|index| index >= prompt.len())
            .collect();
        Self { tokens, scored }
    }
}

/// A token to predict, and the row that predicts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// Row of the packed batch.
    pub row: usize,
    /// The token that follows it.
    pub token: u32,
}

/// The model's score of a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// Its logprob at the given temperature.
    pub logprob: f32,
    /// Entropy of the distribution at this token.
    pub entropy: f32,
}

/// Receives each target's index and score, and returns d loss / d logprob.
pub type Coefficient<'a> = dyn FnMut(usize, Scored) -> f32 + 'a;

/// Sequences laid end to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pack {
    /// All tokens.
    pub tokens: Vec<u32>,
    /// First row of every sequence, and the number of rows at the end.
    pub starts: Vec<usize>,
    /// The tokens to predict, sequence by sequence.
    pub targets: Vec<Target>,
}

impl Pack {
    /// Packs sequences end to end. The last token of each predicts nothing but is kept, because
    /// rows are cheap and gaps are not.
    #[must_use]
    pub fn new<'a>(sequences: impl IntoIterator<Item = &'a Sequence>) -> Self {
        let mut pack = Self {
            tokens: Vec::new(),
            starts: vec![0],
            targets: Vec::new(),
        };
        for sequence in sequences {
            let first = pack.tokens.len();
            pack.tokens.extend(&sequence.tokens);
            pack.starts.push(pack.tokens.len());
            for (index, (&token, &scored)) in sequence
                .tokens
                .iter()
                .zip(&sequence.scored)
                .enumerate()
                .skip(1)
            {
                if scored {
                    pack.targets.push(Target {
                        row: first + index - 1,
                        token,
                    });
                }
            }
        }
        pack
    }

    pub fn rows(&self) -> usize {
        self.tokens.len()
    }

    /// Each row's position in its own sequence.
    pub fn positions(&self) -> impl Iterator<Item = usize> {
        self.starts.windows(2).flat_map(|pair| 0..pair[1] - pair[0])
    }
}

/// Splits sequences, in order, into runs of at most `budget` tokens. A longer sequence gets a
/// separate run.
pub fn split(lengths: &[usize], budget: usize) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut filled = 0;
    for (index, length) in lengths.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if filled + length <= budget => {
                run.end = index + 1;
                filled += length;
            }
            _ => {
                runs.push(index..index + 1);
                filled = *length;
            }
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_point_at_the_row_before_their_token() {
        let pack = Pack::new(&[
            Sequence::answer(&[5, 6], &[7, 8]),
            Sequence::answer(&[9], &[1]),
        ]);
        assert_eq!(pack.tokens, [5, 6, 7, 8, 9, 1]);
        assert_eq!(pack.starts, [0, 4, 6]);
        let targets: Vec<_> = pack
            .targets
            .iter()
            .map(|target| (target.row, target.token))
            .collect();
        assert_eq!(targets, [(1, 7), (2, 8), (4, 1)]);
        assert_eq!(pack.positions().collect::<Vec<_>>(), [0, 1, 2, 3, 0, 1]);
    }

    #[test]
    fn a_first_token_is_never_scored() {
        let pack = Pack::new(&[Sequence::answer(&[], &[3, 4])]);
        assert_eq!(pack.targets, [Target { row: 0, token: 4 }]);
    }

    #[test]
    fn runs_respect_the_budget_and_lose_nothing() {
        assert_eq!(split(&[3, 3, 3, 10, 1, 1], 6), [0..2, 2..3, 3..4, 4..6]);
        assert!(split(&[], 6).is_empty());
    }
}
