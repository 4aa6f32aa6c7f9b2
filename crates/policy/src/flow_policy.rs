//! The engine as a `hotloop_flow::Policy`.

use std::path::Path;

use hotloop_flow::policy::{
    Capabilities, Chat, Completion, Ending, Policy, PolicyError, Sampling, Speaker, Updated,
    WeightedTokens,
};

use crate::engine::{Completed, Engine, EngineError, Learning, Wish};
use crate::sample::{self, Draw};
use crate::save::SaveError;
use crate::text::Turn;
use crate::train::{Rollout, TrainError};

/// The engine as the run sees it.
pub struct EnginePolicy {
    engine: Engine,
}

impl EnginePolicy {
    /// Around an engine.
    pub fn new(engine: Engine) -> Self {
        Self { engine }
    }

    /// The engine inside.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The engine inside, to be changed.
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

fn completion(completed: Completed, text: String) -> Completion {
    Completion {
        text,
        prompt_tokens: completed.prompt,
        tokens: completed.answer.tokens,
        logprobs: completed.answer.logprobs,
        ending: match completed.ending {
            sample::Ending::Stop => Ending::Stop,
            sample::Ending::Length => Ending::Length,
        },
    }
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
        EngineError::Train(TrainError::Stopped) => PolicyError::Stopped,
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
        let draw = Draw {
            temperature: sampling.temperature as f32,
            top_k: sampling.top_k as usize,
            top_p: sampling.top_p as f32,
            min_p: sampling.min_p as f32,
        };
        let prompts = chats
            .iter()
            .map(|chat| self.engine.prompt(&turns(chat), &chat.begun));
        let prompts = prompts.collect::<Result<Vec<_>, _>>().map_err(failed)?;
        let wish = Wish {
            count: count as usize,
            draw,
            stop: sampling.stop.clone(),
            max_tokens: sampling.max_tokens as usize,
            seed: sampling.seed,
        };
        let answers = self.engine.answer(&prompts, &wish).map_err(failed)?;
        let complete = |(number, completed): (usize, Completed)| {
            let whole = chats[number / count as usize].begun.is_empty();
            let text = if whole {
                self.engine.text().opening(&completed.text)
            } else {
                &completed.text
            };
            let text = text.to_owned();
            completion(completed, text)
        };
        Ok(answers.into_iter().enumerate().map(complete).collect())
    }

    fn update(&mut self, batch: &[WeightedTokens]) -> Result<Updated, PolicyError> {
        let rollout = |weighted: &WeightedTokens| Rollout {
            prompt: weighted.prompt_tokens.clone(),
            answer: weighted.tokens.clone(),
            logprobs: weighted.logprobs.clone(),
            advantage: weighted.advantage as f32,
        };
        let temperature = batch.first().map_or(1.0, |first| first.temperature);
        if batch
            .iter()
            .any(|weighted| weighted.temperature.to_bits() != temperature.to_bits())
        {
            let why = "the answers of one update were drawn at different temperatures";
            return Err(PolicyError::Failed(why.to_owned()));
        }
        let batch: Vec<Rollout> = batch.iter().map(rollout).collect();
        let update = self
            .engine
            .reinforce(&batch, temperature as f32)
            .map_err(failed)?;
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
