//! A reviewer that answers as a function of what it is asked.

use std::path::Path;

use hotloop_flow::policy::{Capabilities, Chat, Completion, Ending, Updated};
use hotloop_flow::{Policy, PolicyError, Sampling, WeightedTokens};

/// Answers by the last message and the sampling temperature, and counts how often it is asked.
#[derive(Debug, Clone)]
pub(crate) struct FakeReviewer {
    pub(crate) answer: fn(&str, f64) -> String,
    pub(crate) asked: usize,
    /// Fails when it is asked this often.
    pub(crate) fails_at: Option<usize>,
}

impl FakeReviewer {
    pub(crate) fn new(answer: fn(&str, f64) -> String) -> Self {
        Self {
            answer,
            asked: 0,
            fails_at: None,
        }
    }
}

impl Policy for FakeReviewer {
    fn sample(
        &mut self,
        chats: &[Chat],
        count: u32,
        sampling: &Sampling,
    ) -> Result<Vec<Completion>, PolicyError> {
        assert_eq!(count, 1, "one opinion at a time");
        let mut answers = Vec::new();
        for chat in chats {
            self.asked += 1;
            if self.fails_at.is_some_and(|at| self.asked >= at) {
                return Err(PolicyError::Failed("the endpoint is away".to_owned()));
            }
            let asked = &chat.messages.last().unwrap().content;
            answers.push(Completion {
                text: (self.answer)(asked, sampling.temperature),
                prompt_tokens: Vec::new(),
                tokens: Vec::new(),
                logprobs: Vec::new(),
                ending: Ending::Stop,
            });
        }
        Ok(answers)
    }

    fn update(&mut self, _: &[WeightedTokens]) -> Result<Updated, PolicyError> {
        panic!("a reviewer never learns")
    }

    fn save(&self, _: &Path) -> Result<(), PolicyError> {
        panic!("a reviewer is never saved")
    }

    fn load(&mut self, _: &Path) -> Result<(), PolicyError> {
        panic!("a reviewer is never loaded")
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            model: "reviewer".to_owned(),
            learns: false,
            logprobs: false,
            context: 4096,
        }
    }
}
