//! Makes a prompt from a task, a stage and a parent.
//!
//! [`Prose`] writes chats for language models. Policies with another input language implement
//! [`Render`] themselves.

mod role;
mod wording;

use crate::language;
use crate::machine::Device;
use crate::policy::{Chat, Message, Speaker};
use crate::stage::Stage;
use crate::task::Task;
use crate::verdict::Verdict;

pub use role::Role;
pub use wording::{Wording, WordingError};

/// Maximum size of a detail in bytes, because a compiler may print more than fits in a prompt.
const DETAIL_BYTES: usize = 1500;
/// A longer parent is cut, because the answer needs room, too.
const PARENT_BYTES: usize = 16 << 10;
/// Programs beside the parent get less room each.
const BESIDE_BYTES: usize = 6 << 10;

/// The code that a prompt starts from.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    pub source: &'a str,
    /// Its verdict; unknown for a seed that was not judged.
    pub verdict: Option<&'a Verdict>,
}

/// The choices that determine a prompt.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    pub task: &'a Task,
    /// Why.
    pub role: Role,
    /// The stage whose rules the answer must follow; `None` for fixed prompts.
    pub stage: Option<Stage>,
    /// The number of the fixed prompt, from 0. It wraps around.
    pub variant: usize,
    /// The parent; `None` for fixed prompts.
    pub parent: Option<Shown<'a>>,
    /// Other programs with their speeds, slowest first, for comparison.
    pub beside: &'a [Shown<'a>],
    /// What compiler and models of the processor say about the parent.
    pub profile: Option<&'a str>,
}

/// Renders a prompt in the input language of a policy.
pub trait Render {
    /// The prompt.
    fn chat(&self, ask: &Ask<'_>) -> Chat;
}

/// Prompts in English.
#[derive(Debug, Clone)]
pub struct Prose {
    /// The texts of prompts.
    pub wording: Wording,
    /// Whether to begin the answer with code fence, includes, signature and opening brace. Small
    /// models then write valid code far more often.
    pub begin: bool,
    /// The device that candidates run on.
    pub device: Device,
}

impl Render for Prose {
    fn chat(&self, ask: &Ask<'_>) -> Chat {
        let mut parts = vec![ask.task.prompt.trim().to_owned()];
        let spec = &ask.task.spec;
        let rules = ask.stage.and_then(|stage| spec.stages.get(stage).ok());
        let asked = match rules {
            Some(rules) => Some(self.wording.stage(rules)),
            None => self.wording.fixed(spec.language, ask.variant),
        };
        parts.extend(asked.map(str::to_owned));
        parts.extend(language::machine_hint(spec.language, &self.device, rules));
        let fence = spec.language.fence();
        let code =
            |source: &str, bytes| format!("```{fence}\n{}\n```", clipped(source.trim(), bytes));
        if !ask.beside.is_empty() {
            parts.push(self.wording.contrast().to_owned());
        }
        for shown in ask.beside {
            parts.extend(shown.verdict.map(told));
            parts.push(code(shown.source, BESIDE_BYTES));
        }
        if let Some(parent) = &ask.parent {
            parts.push(self.wording.role(ask.role).to_owned());
            parts.push(code(parent.source, PARENT_BYTES));
            parts.extend(parent.verdict.map(told));
            parts.extend(ask.profile.map(|profile| self.wording.profile(profile)));
        }
        let message = |role, content| Message { role, content };
        Chat {
            messages: vec![
                message(
                    Speaker::System,
                    self.wording.system(spec.language).to_owned(),
                ),
                message(Speaker::User, parts.join("\n\n")),
            ],
            begun: if self.begin {
                let (name, interface) = (&spec.name, &spec.interface);
                let beginning = language::beginning(spec.language, name, interface, rules);
                format!("```{fence}\n{beginning}")
            } else {
                String::new()
            },
        }
    }
}

/// The parent's verdict as a sentence with its detail.
fn told(verdict: &Verdict) -> String {
    let detail = verdict.detail();
    let detail = clipped(detail.trim(), DETAIL_BYTES);
    match verdict {
        Verdict::Correct(measured) => {
            let share = measured
                .peak_fraction()
                .map(|share| format!(", {:.0} % of the machine's peak", share * 100.0));
            let roof = measured
                .roof_fraction()
                .map(|share| format!(", {:.0} % of the machine's limit", share * 100.0));
            match measured.gflops() {
                Some(gflops) => format!(
                    "It is correct and reaches {gflops:.1} GFLOPS{}.",
                    share.unwrap_or_default()
                ),
                None => format!(
                    "It is correct and takes {:.1} µs per call{}.",
                    measured.seconds * 1e6,
                    roof.unwrap_or_default()
                ),
            }
        }
        Verdict::NotCompiled { .. } => format!("The compiler rejected it:\n\n```\n{detail}\n```"),
        Verdict::Refused { .. } => format!("It breaks a rule: {detail}"),
        Verdict::TimedOut { .. } => format!("It took too long: {detail}"),
        Verdict::Crashed { .. } => format!("It crashed: {detail}"),
        Verdict::Wrong(mismatch) if mismatch.error.is_finite() => {
            format!(
                "It computes something wrong: {detail} (relative error {:.1e})",
                mismatch.error
            )
        }
        Verdict::Wrong(_) => format!("It computes something wrong: {detail}"),
        Verdict::Malformed { .. } => format!("It could not be read: {detail}"),
        Verdict::Suspect { .. } => format!("It is too fast to be believed: {detail}"),
    }
}

/// At most `bytes` of a text, cut between characters and marked.
fn clipped(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let end = (0..=bytes)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    format!("{}\n[...]", &text[..end])
}

#[cfg(test)]
mod tests;
