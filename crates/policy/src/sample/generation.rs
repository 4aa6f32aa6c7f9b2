//! How completions are drawn and ended.

use std::sync::atomic::{AtomicBool, Ordering};

use super::choose::Draw;

/// What ends completions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// These tokens.
    pub tokens: Vec<u32>,
    /// These texts.
    pub texts: Vec<String>,
    /// The maximum number of tokens.
    pub max_tokens: usize,
}

impl Stop {
    /// The text before the first stop text.
    pub fn cut<'a>(&self, text: &'a str) -> &'a str {
        let end = self
            .texts
            .iter()
            .filter_map(|stop| text.find(stop.as_str()))
            .min();
        &text[..end.unwrap_or(text.len())]
    }
}

/// How completions are drawn and ended.
pub struct Generation<'a> {
    /// How tokens are drawn.
    pub draw: Draw,
    /// What ends a completion.
    pub stop: Stop,
    /// Completion number n uses seed + n.
    pub seed: u64,
    /// Completions decoded at the same time.
    pub slots: usize,
    /// Tokens to text, for stop texts.
    pub decode: &'a (dyn Fn(&[u32]) -> String + Sync),
    /// Once set, all completions end where they are, and their caller discards them.
    pub halt: &'a AtomicBool,
}

/// A halt flag that is never set.
pub static NEVER: AtomicBool = AtomicBool::new(false);

impl Generation<'_> {
    /// Whether someone asked to stop.
    pub(crate) fn halted(&self) -> bool {
        self.halt.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_cut_before_the_first_stop() {
        let stop = Stop {
            tokens: Vec::new(),
            texts: vec!["three".into(), " two".into()],
            max_tokens: 1,
        };
        assert_eq!(stop.cut("one two three"), "one");
        assert_eq!(stop.cut("one"), "one");
    }
}
