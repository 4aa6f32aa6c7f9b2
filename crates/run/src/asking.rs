//! Asks a policy, and finds candidates in its answers.

use hotloop_flow::policy::{Chat, Completion, Ending};
use hotloop_flow::prompt::{Ask, Shown};
use hotloop_flow::random::seed;
use hotloop_flow::{Candidate, Policy, PolicyError, Render, Role, Sampling, Stage, Task, Verdict};

use crate::config::Config;

/// The purpose of random numbers that draw a probe's answers.
const PROBING: u64 = 3;

/// What a policy is asked with.
pub struct Asking<'a> {
    /// How answers are drawn, the seed included.
    pub config: &'a Config,
    /// Puts prompts into the policy's language.
    pub render: &'a dyn Render,
    pub task: &'a Task,
    /// The verdict on the task's seed. Prompts quote its speed.
    pub seed: Option<&'a Verdict>,
}

/// What a policy answered.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The whole answer, including the part that the prompt began.
    pub text: String,
    /// Tokens that were drawn; 0 if an API does not report them.
    pub tokens: usize,
    /// The candidate in it, or why there is none.
    pub candidate: Result<Candidate, String>,
}

impl Asking<'_> {
    /// Draws answers to one stage's prompt. The prompt always shows the task's seed, so that two
    /// probes or two policies can be compared.
    pub fn answers(
        &self,
        policy: &mut dyn Policy,
        stage: Stage,
        count: u32,
    ) -> Result<Vec<Answer>, PolicyError> {
        let parent = Some(Shown {
            source: &self.task.seed,
            verdict: self.seed,
        });
        let ask = Ask {
            task: self.task,
            role: Role::Explore,
            stage: Some(stage),
            variant: 0,
            parent,
            beside: &[],
            profile: None,
        };
        let chat = self.render.chat(&ask);
        let seed = seed(self.config.seed, &[PROBING, u64::from(stage.number())]);
        let sampling = self.config.draw(self.config.sampling.temperature, seed);
        let completions = draw(policy, std::slice::from_ref(&chat), count, &sampling)?;
        let answer = |completion| Answer {
            candidate: extract(&chat, completion, self.task),
            text: format!("{}{}", chat.begun, completion.text),
            tokens: completion.tokens.len(),
        };
        Ok(completions.iter().map(answer).collect())
    }
}

/// Asks the policy and checks what it returns.
pub(crate) fn draw(
    policy: &mut dyn Policy,
    chats: &[Chat],
    count: u32,
    sampling: &Sampling,
) -> Result<Vec<Completion>, PolicyError> {
    let completions = policy.sample(chats, count, sampling)?;
    let wanted = chats.len() * count as usize;
    if completions.len() != wanted {
        let what = format!(
            "it returned {} instead of {wanted}",
            hotloop_flow::count(completions.len(), "answer")
        );
        return Err(PolicyError::Failed(what));
    }
    if completions
        .iter()
        .flat_map(|completion| &completion.logprobs)
        .any(|logprob| !logprob.is_finite())
    {
        return Err(PolicyError::Failed(
            "a logprob is NaN or infinite".to_owned(),
        ));
    }
    Ok(completions)
}

/// The candidate in a completion, or why there is none.
pub(crate) fn extract(
    chat: &Chat,
    completion: &Completion,
    task: &Task,
) -> Result<Candidate, String> {
    if completion.ending == Ending::Length {
        return Err("the answer was cut off at the token limit".to_owned());
    }
    let text = format!("{}{}", chat.begun, completion.text);
    Candidate::extract(&text, task).map_err(|malformed| malformed.why)
}
