//! A prompt in the words of a run, with the answer to be learned: what warm starts are made of.

use hotloop_flow::policy::{Chat, Message, Speaker};
use hotloop_flow::prompt::{Ask, Prose, Shown, Wording};
use hotloop_flow::{Language, Render, Role, Stage, Task};

/// The words in which runs ask a language model on this machine.
pub(super) fn prose() -> Prose {
    Prose {
        wording: Wording::default(),
        begin: true,
        simd: hotloop_bench::survey::simd().to_owned(),
    }
}

/// A task, and the words that runs ask for it in.
pub(super) struct Lesson<'a> {
    pub(super) prose: &'a Prose,
    pub(super) task: &'a Task,
}

impl Lesson<'_> {
    /// What a stage asks of `shown`.
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
        })
    }

    /// The same with `source` as its answer.
    pub(super) fn answered(&self, stage: Stage, role: Role, shown: &str, source: &str) -> Chat {
        answer(self.asked(stage, role, shown), source)
    }
}

/// A prompt with `source` as its answer.
pub(super) fn answer(mut asked: Chat, source: &str) -> Chat {
    let content = format!("```{}\n{}\n```", Language::C.fence(), source.trim_end());
    asked.messages.push(Message {
        role: Speaker::Assistant,
        content,
    });
    asked
}
