//! From a task, a stage and a parent to the prompt: what a policy is asked.
//!
//! [`Prose`] writes chats for language models. Policies with a language of their own
//! bring another [`Render`].

mod wording;

use serde::{Deserialize, Serialize};

use crate::policy::{Chat, Message, Speaker};
use crate::stage::Stage;
use crate::task::Task;
use crate::verdict::Verdict;

pub use wording::{Wording, WordingError};

/// A compiler may say more than a prompt should hold.
const DETAIL_BYTES: usize = 1500;
/// A parent longer than this is cut: the answer needs room too.
const PARENT_BYTES: usize = 16 << 10;

/// Why a parent is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Begin from the seed, or from nothing but a fixed prompt.
    Explore,
    /// Take a fast one to the next stage.
    Deepen,
    /// Vary a middling one at its stage.
    Improve,
    /// Correct one that failed.
    Repair,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 4] = [Self::Explore, Self::Deepen, Self::Improve, Self::Repair];

    /// The name as JSON and people write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Explore => "explore",
            Self::Deepen => "deepen",
            Self::Improve => "improve",
            Self::Repair => "repair",
        }
    }
}

/// What a prompt shows of the code that it starts from.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// Its source.
    pub source: &'a str,
    /// How it fared; unknown for a seed that was not judged.
    pub verdict: Option<&'a Verdict>,
}

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// The task.
    pub task: &'a Task,
    /// Why.
    pub role: Role,
    /// The stage whose rules the answer must keep; none for fixed prompts.
    pub stage: Option<Stage>,
    /// Which of the fixed prompts, counted from 0 and without end.
    pub variant: usize,
    /// The parent; none for fixed prompts.
    pub parent: Option<Shown<'a>>,
}

/// Puts what is asked into words, or into whatever a policy reads.
pub trait Render {
    /// The prompt.
    fn chat(&self, ask: &Ask<'_>) -> Chat;
}

/// Prompts in English.
#[derive(Debug, Clone)]
pub struct Prose {
    /// What is said.
    pub wording: Wording,
    /// Begin the answer: code fence, includes, signature and its opening brace. Small
    /// models then write valid code far more often.
    pub begin: bool,
    /// The machine's widest vectors, as [`crate::MachineFacts::simd`] names them.
    pub simd: String,
}

impl Render for Prose {
    fn chat(&self, ask: &Ask<'_>) -> Chat {
        let mut parts = vec![ask.task.prompt.trim().to_owned()];
        match ask.stage {
            Some(stage) => parts.extend(self.wording.stage(stage).map(str::to_owned)),
            None => parts.extend(self.wording.fixed(ask.variant).map(str::to_owned)),
        }
        parts.extend(self.vectors(ask.stage));
        if let Some(parent) = &ask.parent {
            parts.push(self.wording.role(ask.role).to_owned());
            parts.push(format!(
                "```c\n{}\n```",
                clipped(parent.source.trim(), PARENT_BYTES)
            ));
            parts.extend(parent.verdict.map(told));
        }
        let message = |role, content| Message { role, content };
        Chat {
            messages: vec![
                message(Speaker::System, self.wording.system().to_owned()),
                message(Speaker::User, parts.join("\n\n")),
            ],
            begun: if self.begin {
                begun(ask.task, ask.stage)
            } else {
                String::new()
            },
        }
    }
}

impl Prose {
    /// Intrinsics that the machine lacks are a crash; models guess AVX-512.
    fn vectors(&self, stage: Option<Stage>) -> Option<String> {
        if !wants_vectors(stage) {
            return None;
        }
        let sentence = match self.simd.as_str() {
            "avx512" => "The machine has AVX-512: `__m512d` holds 8 doubles.",
            "avx2" => "The machine has AVX2 and FMA but no AVX-512: `__m256d` holds 4 doubles.",
            "sse2" => "The machine has SSE2 only: `__m128d` holds 2 doubles.",
            _ => return None,
        };
        Some(sentence.to_owned())
    }
}

fn wants_vectors(stage: Option<Stage>) -> bool {
    stage.is_none_or(|stage| stage >= Stage::Simd)
}

/// The beginning of every right answer. Including a header is no use of it, but a stage
/// that forbids a technique should not suggest it either.
fn begun(task: &Task, stage: Option<Stage>) -> String {
    let mut text = String::from("```c\n");
    if wants_vectors(stage) {
        text.push_str("#include <immintrin.h>\n");
    }
    if stage.is_none_or(|stage| stage >= Stage::Openmp) {
        text.push_str("#include <omp.h>\n");
    }
    text.push_str(&task.signature());
    text.push_str(" {\n");
    text
}

/// How the parent fared, in a sentence and its detail.
fn told(verdict: &Verdict) -> String {
    let detail = verdict.detail();
    let detail = clipped(detail.trim(), DETAIL_BYTES);
    match verdict {
        Verdict::Correct(measured) => {
            let share = measured
                .peak_fraction()
                .map(|share| format!(", {:.0} % of the machine's peak", share * 100.0));
            match measured.gflops() {
                Some(gflops) => format!(
                    "It is correct and reaches {gflops:.1} GFLOPS{}.",
                    share.unwrap_or_default()
                ),
                None => format!(
                    "It is correct and takes {:.1} µs per call.",
                    measured.seconds * 1e6
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

/// At most `bytes` of a text, cut between characters, with a mark where it was cut.
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
