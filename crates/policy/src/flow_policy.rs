//! The engine as a `hotloop_flow::Policy`.

use std::path::Path;

use hotloop_flow::policy::{
    Capabilities, Chat, Completion, Policy, PolicyError, Sampling, Speaker, Updated, WeightedTokens,
};

use crate::engine::{Engine, EngineError, Learning};
use crate::save::SaveError;
use crate::text::Turn;
use crate::train::TrainError;

/// The engine as the run sees it.
pub struct EnginePolicy {
    engine: Engine,
}

impl EnginePolicy {
    /// Wraps an engine.
    pub fn new(engine: Engine) -> Self {
        Self { engine }
    }

    /// The engine inside.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The engine inside, mutable.
    pub fn engine_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }
}

fn turns(chat: &Chat) -> Vec<Turn> {
    let role = |speaker| match speaker {
        Speaker::System => "system",
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
    };
    chat.messages
        .iter()
        .map(|message| Turn {
            role: role(message.role),
            content: message.content.clone(),
        })
        .collect()
}

fn failed(error: EngineError) -> PolicyError {
    match error {
        EngineError::ContextExceeded {
            prompt,
            answer,
            context,
        } => PolicyError::ContextExceeded {
            prompt: prompt as u32,
            answer: answer as u32,
            context: context as u32,
        },
        EngineError::LearnsNothing => PolicyError::Unsupported("update"),
        EngineError::Stopped | EngineError::Train(TrainError::Stopped) => PolicyError::Stopped,
        EngineError::NotFinite | EngineError::Train(TrainError::NotFinite { .. }) => {
            PolicyError::Diverged(error.to_string())
        }
        EngineError::Template(_)
        | EngineError::EmptyPrompt(_)
        | EngineError::UnknownToken { .. } => PolicyError::Unanswerable(error.to_string()),
        EngineError::Save(SaveError { ref source, .. }) => PolicyError::File {
            what: error.to_string(),
            kind: source.kind(),
        },
        other => PolicyError::Failed(other.to_string()),
    }
}

impl Policy for EnginePolicy {
    fn sample(
        &mut self,
        chats: &[Chat],
        count: u32,
        sampling: &Sampling,
    ) -> Result<Vec<Completion>, PolicyError> {
        let prompts = chats
            .iter()
            .map(|chat| self.engine.prompt(&turns(chat), &chat.begun));
        let prompts = prompts.collect::<Result<Vec<_>, _>>().map_err(failed)?;
        let count = count as usize;
        let mut completions = self
            .engine
            .complete(&prompts, count, sampling)
            .map_err(failed)?;
        for (number, completion) in completions.iter_mut().enumerate() {
            if chats[number / count].begun.is_empty() {
                completion.text = self.engine.text().opening(&completion.text).to_owned();
            }
        }
        Ok(completions)
    }

    fn update(&mut self, batch: &[WeightedTokens]) -> Result<Updated, PolicyError> {
        let update = self.engine.reinforce(batch).map_err(failed)?;
        Ok(Updated {
            loss: update.loss,
            gradient_norm: update.gradient_norm,
            kl: self.engine.has_reference().then_some(update.kl),
            clipped: update.clipped,
            entropy: update.entropy,
            sampler_gap: update.sampler_gap,
        })
    }

    fn save(&self, directory: &Path) -> Result<(), PolicyError> {
        self.engine.save(directory).map_err(failed)
    }

    fn load(&mut self, directory: &Path) -> Result<(), PolicyError> {
        self.engine.resume(directory).map_err(failed)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            model: self.engine.name().to_owned(),
            learns: self.engine.settings().learning != Learning::None,
            logprobs: true,
            context: self.engine.context() as u32,
        }
    }
}
