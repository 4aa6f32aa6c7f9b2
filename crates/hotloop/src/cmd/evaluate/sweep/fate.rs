//! What became of one answer.

use hotloop_flow::fast::{Over, Scored};
use hotloop_flow::{ErrorKind, Label, Reward};
use serde::Serialize;

use super::answers::Answer;
use crate::cmd::bench::module::{Came, Failed, worth};

/// An answer and its verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Fate {
    pub(super) policy: String,
    pub(super) task: String,
    /// The answer's number for the policy and problem, from 0.
    pub(super) number: u32,
    /// Tokens that were written, if they are known.
    pub(super) tokens: Option<usize>,
    /// Seconds that the policy took to write it.
    pub(super) writing_s: f64,
    /// Nothing if the machine failed, or if it was not judged yet.
    pub(super) verdict: Option<Label>,
    /// Why it is not correct, or has no verdict.
    pub(super) why: Option<String>,
    /// Seconds of one call: the median.
    pub(super) seconds: Option<f64>,
    pub(super) eager_s: Option<f64>,
    pub(super) compiled_s: Option<f64>,
    /// How many times as fast as both, if it is correct.
    pub(super) over_eager: Option<f64>,
    pub(super) over_compiled: Option<f64>,
    /// What it earns, if a reward was asked for and it has one.
    pub(super) reward: Option<f64>,
    /// Whose fault it is that there is no verdict.
    #[serde(skip)]
    pub(super) failed: Option<ErrorKind>,
}

impl Fate {
    /// An answer that has not been judged.
    pub(super) fn open(answer: &Answer) -> Self {
        Self {
            policy: answer.policy.clone(),
            task: answer.task.clone(),
            number: answer.number,
            tokens: answer.tokens,
            writing_s: answer.seconds,
            verdict: None,
            why: Some("it was not judged yet".to_owned()),
            seconds: None,
            eager_s: None,
            compiled_s: None,
            over_eager: None,
            over_compiled: None,
            reward: None,
            failed: None,
        }
    }

    /// An answer in which there is no code.
    pub(super) fn malformed(answer: &Answer, why: String, reward: Option<Reward>) -> Self {
        Self {
            verdict: Some(Label::Malformed),
            why: Some(why),
            reward: reward.and_then(worth::of_none),
            ..Self::open(answer)
        }
    }

    /// An answer that was judged.
    pub(super) fn of(answer: &Answer, came: &Came, reward: Option<Reward>) -> Self {
        let open = Self::open(answer);
        match came {
            Ok(record) => Self {
                verdict: Some(record.verdict),
                why: record.why.clone(),
                seconds: record.seconds,
                eager_s: record.eager_s,
                compiled_s: record.compiled_s,
                over_eager: record.over_eager,
                over_compiled: record.over_compiled,
                reward: reward.and_then(|reward| worth::earned(reward, record)),
                ..open
            },
            Err(Failed { kind, why }) => Self {
                why: Some(why.clone()),
                failed: Some(*kind),
                ..open
            },
        }
    }

    /// For scores, if there is a verdict.
    pub(super) fn scored(&self) -> Option<Scored> {
        Some(Scored {
            label: self.verdict?,
            over: Over {
                eager: self.over_eager,
                compiled: self.over_compiled,
            },
        })
    }
}
