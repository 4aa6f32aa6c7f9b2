//! The prompts of the nano policy: control tokens instead of prose.
//!
//! ```text
//! <task:matmul><stage:3><role:repair><parent>CODE</parent><verdict:wrong><why:nan><answer>
//! ```
//!
//! The answer follows as canonical C and ends with
//! [`END`]. Without a parent, the part from `<parent>` to the verdict is left out. Without a
//! detail, `<why:...>` is left out.

pub use hotloop_flow::Role;
use hotloop_flow::language::c::stages;
use hotloop_flow::verdict::Verdict;
use hotloop_flow::{Label, Stage};
use serde::{Deserialize, Serialize};

use crate::canonical::canonical;
use crate::program::TASKS;

/// Ends an answer.
pub const END: &str = "<end>";
/// Fills batches.
pub const PAD: &str = "<pad>";
const PARENT: &str = "<parent>";
const PARENT_END: &str = "</parent>";
const ANSWER: &str = "<answer>";

/// A verdict's detail, as one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// A name that nothing declares.
    Undeclared,
    /// The grammar.
    Syntax,
    /// Another complaint of the compiler.
    Compiler,
    /// Elements are NaN, so some were never written.
    Nan,
    /// Far off.
    Large,
    /// A little off.
    Small,
    /// A write outside the outputs.
    Outside,
    /// The stage forbids SIMD.
    Simd,
    /// The stage forbids threads.
    Threads,
    /// The stage forbids prefetch.
    Prefetch,
}

impl Why {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Undeclared,
        Self::Syntax,
        Self::Compiler,
        Self::Nan,
        Self::Large,
        Self::Small,
        Self::Outside,
        Self::Simd,
        Self::Threads,
        Self::Prefetch,
    ];

    /// The name in JSON and in tokens.
    pub fn name(self) -> &'static str {
        match self {
            Self::Undeclared => "undeclared",
            Self::Syntax => "syntax",
            Self::Compiler => "compiler",
            Self::Nan => "nan",
            Self::Large => "large",
            Self::Small => "small",
            Self::Outside => "outside",
            Self::Simd => "simd",
            Self::Threads => "threads",
            Self::Prefetch => "prefetch",
        }
    }

    /// The control token for a verdict, if there is one.
    pub fn of(verdict: &Verdict) -> Option<Self> {
        let detail = verdict.detail();
        match verdict {
            Verdict::NotCompiled { .. } if detail.contains("undeclared") => Some(Self::Undeclared),
            Verdict::NotCompiled { .. } if detail.contains("expected") => Some(Self::Syntax),
            Verdict::NotCompiled { .. } => Some(Self::Compiler),
            Verdict::Refused { .. } if detail.contains("forbids SIMD") => Some(Self::Simd),
            Verdict::Refused { .. } if detail.contains("forbids OpenMP") => Some(Self::Threads),
            Verdict::Refused { .. } if detail.contains("forbids threads") => Some(Self::Threads),
            Verdict::Refused { .. } if detail.contains("forbids prefetch") => Some(Self::Prefetch),
            Verdict::Wrong(_) if detail.contains("outside") => Some(Self::Outside),
            Verdict::Wrong(mismatch) if !mismatch.error.is_finite() => Some(Self::Nan),
            Verdict::Wrong(mismatch) if mismatch.error > 1e-3 => Some(Self::Large),
            Verdict::Wrong(_) => Some(Self::Small),
            Verdict::Malformed { .. }
            | Verdict::Refused { .. }
            | Verdict::TimedOut { .. }
            | Verdict::Crashed { .. }
            | Verdict::Suspect { .. }
            | Verdict::Correct(_) => None,
        }
    }
}

/// The candidate that a prompt starts from.
#[derive(Debug, Clone, Copy)]
pub struct Parent<'a> {
    /// Its source in any form; it is shown in canonical form.
    pub source: &'a str,
    /// Its verdict.
    pub label: Label,
    /// The verdict's detail.
    pub why: Option<Why>,
}

/// A prompt for the nano policy.
#[derive(Debug, Clone, Copy)]
pub struct NanoPrompt<'a> {
    /// The task's name. The policy knows only [`TASKS`].
    pub task: &'a str,
    /// The stage whose techniques the answer may use.
    pub stage: Stage,
    /// What is asked for.
    pub role: Role,
    /// What to start from.
    pub parent: Option<Parent<'a>>,
}

impl NanoPrompt<'_> {
    /// The prompt as text. The answer follows it.
    pub fn render(&self) -> String {
        let mut text = format!(
            "{}{}{}",
            task_token(self.task),
            stage_token(self.stage),
            role_token(self.role)
        );
        if let Some(parent) = self.parent {
            text.extend([
                PARENT,
                &canonical(parent.source),
                PARENT_END,
                &verdict_token(parent.label),
            ]);
            text.extend(parent.why.map(why_token));
        }
        text + ANSWER
    }
}

fn task_token(task: &str) -> String {
    format!("<task:{task}>")
}

fn stage_token(stage: Stage) -> String {
    format!("<stage:{}>", stage.number())
}

fn role_token(role: Role) -> String {
    format!("<role:{}>", role.name())
}

fn verdict_token(label: Label) -> String {
    format!("<verdict:{label}>")
}

fn why_token(why: Why) -> String {
    format!("<why:{}>", why.name())
}

/// All control tokens in the order of their ids.
pub fn special_tokens() -> Vec<String> {
    let mut tokens: Vec<String> = [PAD, END, PARENT, PARENT_END, ANSWER]
        .map(str::to_owned)
        .into();
    tokens.extend(TASKS.iter().map(|(task, _)| task_token(task)));
    tokens.extend(stages::SIX.map(stage_token));
    tokens.extend(Role::ALL.map(role_token));
    tokens.extend(Label::ALL.map(verdict_token));
    tokens.extend(Why::ALL.map(why_token));
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;
    use hotloop_flow::verdict::Mismatch;

    #[test]
    fn a_prompt_is_control_tokens_and_canonical_code() {
        let parent = Parent {
            source: "void f( void ) { } // x",
            label: Label::Wrong,
            why: Some(Why::Nan),
        };
        let prompt = NanoPrompt {
            task: "matmul",
            stage: stages::SIMD,
            role: Role::Repair,
            parent: Some(parent),
        };
        assert_eq!(
            prompt.render(),
            "<task:matmul><stage:3><role:repair><parent>void f(void){\n}\n</parent><verdict:wrong><why:nan><answer>"
        );
        let bare = NanoPrompt {
            role: Role::Explore,
            parent: None,
            ..prompt
        };
        assert_eq!(
            bare.render(),
            "<task:matmul><stage:3><role:explore><answer>"
        );
    }

    #[test]
    fn control_tokens_are_distinct() {
        let tokens = special_tokens();
        let distinct: std::collections::BTreeSet<_> = tokens.iter().collect();
        assert_eq!(distinct.len(), tokens.len());
    }

    #[test]
    fn verdicts_shrink_to_a_word() {
        let compiler = |text: &str| {
            Why::of(&Verdict::NotCompiled {
                diagnostics: text.to_owned(),
            })
        };
        assert_eq!(
            compiler("error: 'je' undeclared (first use in this function)"),
            Some(Why::Undeclared)
        );
        assert_eq!(
            compiler("error: expected ';' before '}' token"),
            Some(Why::Syntax)
        );
        let wrong = |error| {
            Why::of(&Verdict::Wrong(Mismatch {
                why: "C[0] is off".into(),
                error,
                paper: false,
            }))
        };
        assert_eq!(wrong(f64::INFINITY), Some(Why::Nan));
        assert_eq!(wrong(0.5), Some(Why::Large));
        assert_eq!(wrong(1e-9), Some(Why::Small));
        let scan = hotloop_flow::language::c::scan("void f(void) {\n#pragma omp parallel\n;}");
        let six = stages::default();
        let why = six.get(stages::SIMD).unwrap().violation(&scan).unwrap();
        assert_eq!(Why::of(&Verdict::Refused { why }), Some(Why::Threads));
        assert_eq!(
            Why::of(&Verdict::Crashed {
                how: "signal 11".into()
            }),
            None
        );
    }
}
