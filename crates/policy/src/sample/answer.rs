//! An answer as it grows, and when it ends.

use super::choose::Chosen;

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The policy ended it, by a token or by a stop text.
    Stop,
    /// The token limit ended it.
    Length,
}

/// What ends answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// These tokens.
    pub tokens: Vec<u32>,
    /// These texts.
    pub texts: Vec<String>,
    /// So many tokens.
    pub max_tokens: usize,
}

/// An answer: tokens as they were chosen, those that ended it included.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// The tokens.
    pub tokens: Vec<u32>,
    /// One logprob a token.
    pub logprobs: Vec<f32>,
}

impl Answer {
    /// Takes one more token, and tells whether the answer has ended by it.
    pub fn push(
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

    /// Whether a stop text has just been completed. Only the tail is decoded: a token is at least one byte,
    /// so the longest stop text lies within as many tokens as it has bytes.
    fn ends_in(&self, texts: &[String], decode: &dyn Fn(&[u32]) -> String) -> bool {
        let Some(longest) = texts.iter().map(String::len).max() else {
            return false;
        };
        let tail = decode(&self.tokens[self.tokens.len().saturating_sub(longest + 1)..]);
        texts.iter().any(|text| tail.contains(text.as_str()))
    }
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
        let mut answer = Answer::default();
        for letter in text.chars() {
            let chosen = Chosen {
                token: letter as u32,
                logprob: -1.0,
            };
            if let Some(ending) = answer.push(chosen, stop, &decode) {
                return (decode(&answer.tokens), Some(ending));
            }
        }
        (decode(&answer.tokens), None)
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
