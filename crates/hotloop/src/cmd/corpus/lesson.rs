//! A run's prompt with the answer to learn. Warm starts train on these.

use hotloop_flow::policy::{Chat, Message, Speaker};
use hotloop_flow::prompt::{Ask, Prose, Shown, Wording};
use hotloop_flow::{Device, Language, Render, Role, Stage, Task};

/// The prompts of runs with a language model on this machine.
pub(super) fn prose() -> Prose {
    Prose {
        wording: Wording::default(),
        begin: true,
        device: Device::with_vectors(hotloop_bench::survey::simd()),
    }
}

/// A task, and how runs word its prompts.
pub(super) struct Lesson<'a> {
    pub(super) prose: &'a Prose,
    pub(super) task: &'a Task,
}

impl Lesson<'_> {
    /// The prompt of a stage that shows `shown`.
    pub(super) fn asked(&self, stage: Stage, role: Role, shown: &str) -> Chat {
        let parent = Some(Shown {
            source: shown,
            verdict: None,
        });
        self.prose.chat(&Ask {
            task: self.task,
            role,
            stage: Some(stage),
            variant: 0,
            parent,
            beside: &[],
            profile: None,
        })
    }

    /// The same with `source` as its answer.
    pub(super) fn answered(&self, stage: Stage, role: Role, shown: &str, source: &str) -> Chat {
        let asked = self.asked(stage, role, shown);
        answer(asked, self.task.spec.language, source)
    }
}

/// A prompt with `source` as its answer.
pub(super) fn answer(mut asked: Chat, language: Language, source: &str) -> Chat {
    let content = format!("```{}\n{}\n```", language.fence(), source.trim_end());
    asked.messages.push(Message {
        role: Speaker::Assistant,
        content,
    });
    asked
}
