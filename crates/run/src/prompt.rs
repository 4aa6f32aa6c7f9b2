//! Renders a prompt from its entry in the journal.

use std::path::Path;

use hotloop_flow::policy::Chat;
use hotloop_flow::prompt::{Ask, Shown};
use hotloop_flow::{Render, Verdict};

use crate::event::Asked;
use crate::plan::Plan;
use crate::state::RunState;
use crate::store::{self, StoreError};

/// Everything that rendering a prompt needs.
pub(crate) struct Prompts<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) state: &'a RunState,
    pub(crate) render: &'a dyn Render,
    /// Where the candidates are kept.
    pub(crate) directory: &'a Path,
}

impl Prompts<'_> {
    /// Renders the prompt as it was when the first `known` steps had finished.
    pub(crate) fn chat(&self, asked: &Asked, known: u64) -> Result<Chat, StoreError> {
        let name = asked.task.as_deref();
        let task = self.plan.task_of(name);
        let seed_verdict = self.state.seed_of(name).map(|seed| &seed.verdict);
        let stored = match &asked.parent {
            Some(hash) => Some((
                store::source(self.directory, hash)?,
                self.state.verdict(asked, known),
            )),
            // A fixed prompt starts from nothing; the search starts from the seed.
            None => asked.stage.map(|_| (task.seed.clone(), seed_verdict)),
        };
        let parent = stored.as_ref().map(|(source, verdict)| Shown {
            source,
            verdict: *verdict,
        });
        let beside: Vec<(String, Option<&Verdict>)> = asked
            .beside
            .iter()
            .map(|hash| {
                let source = store::source(self.directory, hash)?;
                Ok((source, self.state.correct(hash)))
            })
            .collect::<Result<_, StoreError>>()?;
        let beside: Vec<Shown<'_>> = beside
            .iter()
            .map(|(source, verdict)| Shown {
                source,
                verdict: *verdict,
            })
            .collect();
        let profile = asked.parent.as_ref().filter(|_| asked.wants_profile());
        let profile = profile.and_then(|hash| self.state.profiles.get(hash));
        let ask = Ask {
            task,
            role: asked.role,
            stage: asked.stage,
            variant: asked.variant,
            parent,
            beside: &beside,
            profile: profile.map(String::as_str).filter(|text| !text.is_empty()),
        };
        Ok(self.render.chat(&ask))
    }
}
