//! A completion as it grows, and when it ends.

use hotloop_flow::policy::{Completion, Ending};

use super::choose::Chosen;
use super::generation::{Generation, Stop};

/// A growing completion: the chosen tokens, including the one that ends it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Growing {
    pub(crate) tokens: Vec<u32>,
    /// One logprob per token.
    pub(crate) logprobs: Vec<f32>,
}

impl Growing {
    /// Adds a token, and returns why the completion ends with it, if it does.
    pub(crate) fn push(
        &mut self,
        chosen: Chosen,
        stop: &Stop,
        decode: &dyn Fn(&[u32]) -> String,
    ) -> Option<Ending> {
        self.tokens.push(chosen.token);
        self.logprobs.push(chosen.logprob);
        if stop.tokens.contains(&chosen.token) || self.ends_in(&stop.texts, decode) {
            return Some(Ending::Stop);
        }
        (self.tokens.len() >= stop.max_tokens).then_some(Ending::Length)
    }

    /// Whether the last token completed a stop text. Only the tail is decoded. A token has at least
    /// one byte, so the longest stop text spans at most as many tokens as it has bytes.
    fn ends_in(&self, texts: &[String], decode: &dyn Fn(&[u32]) -> String) -> bool {
        let Some(longest) = texts.iter().map(String::len).max() else {
            return false;
        };
        let tail = decode(&self.tokens[self.tokens.len().saturating_sub(longest + 1)..]);
        texts.iter().any(|text| tail.contains(text.as_str()))
    }

    /// The finished completion of a prompt. Its text ends before a stop text.
    pub(crate) fn finish(self, prompt: &[u32], ending: Ending, how: &Generation) -> Completion {
        let text = match &self.tokens[..] {
            [] => String::new(),
            tokens => (how.decode)(tokens),
        };
        Completion {
            text: how.stop.cut(&text).to_owned(),
            prompt_tokens: prompt.to_vec(),
            tokens: self.tokens,
            logprobs: self.logprobs,
            ending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(tokens: &[u32]) -> String {
        tokens
            .iter()
            .map(|token| char::from_u32(*token).unwrap())
            .collect()
    }

    fn run(text: &str, stop: &Stop) -> (String, Option<Ending>) {
        let mut growing = Growing::default();
        for letter in text.chars() {
            let chosen = Chosen {
                token: letter as u32,
                logprob: -1.0,
            };
            if let Some(ending) = growing.push(chosen, stop, &decode) {
                return (decode(&growing.tokens), Some(ending));
            }
        }
        (decode(&growing.tokens), None)
    }

    #[test]
    fn answers_end_by_token_text_or_length() {
        let stop = Stop {
            tokens: vec![u32::from('#')],
            texts: vec!["end".into(), "\n\n".into()],
            max_tokens: 9,
        };
        assert_eq!(run("ab#cd", &stop), ("ab#".into(), Some(Ending::Stop)));
        assert_eq!(
            run("the end is", &stop),
            ("the end".into(), Some(Ending::Stop))
        );
        assert_eq!(run("a\n\nb", &stop), ("a\n\n".into(), Some(Ending::Stop)));
        assert_eq!(
            run("abcdefghijk", &stop),
            ("abcdefghi".into(), Some(Ending::Length))
        );
        assert_eq!(run("en", &stop), ("en".into(), None));
    }
}
