//! The verdict on a candidate. A candidate's failure is a verdict. A machine's failure is an error.

use serde::{Deserialize, Serialize};

use crate::measured::finite_or_null;

pub use crate::measured::{Checks, Measured};

/// The verdict on a candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    /// No code with the expected entry point could be found.
    Malformed {
        /// What is missing.
        why: String,
    },
    /// A rule was broken: a prohibited library, symbol, construct or technique.
    Refused {
        /// Which rule, and where.
        why: String,
    },
    /// The compiler or the linker rejected it.
    NotCompiled {
        /// The compiler's messages, shortened.
        diagnostics: String,
    },
    /// It did not end within the limit.
    TimedOut {
        /// The limit in seconds.
        limit_s: f64,
        /// What was running: `compile` or `run`.
        during: Phase,
    },
    /// Its process crashed or exited.
    Crashed {
        /// The signal or the exit status, in words.
        how: String,
    },
    /// It ran to the end with a wrong result.
    Wrong(Mismatch),
    /// Correct, but implausibly fast, even when judged again.
    Suspect {
        /// Why its speed is implausible.
        why: String,
        /// What was measured.
        measured: Measured,
    },
    /// Right, and timed.
    Correct(Measured),
}

/// A phase with its own time limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// The compiler ran too long.
    Compile,
    /// The candidate ran too long.
    Run,
}

/// What was wrong, in enough detail for a repair prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mismatch {
    /// What was wrong, in a sentence.
    pub why: String,
    /// The worst error in units of the reference's scale; infinite for NaN.
    #[serde(with = "finite_or_null")]
    pub error: f64,
    /// Whether the paper's check (105 points, 1e-6) passed.
    pub paper: bool,
}

/// The verdicts' names, in the order of the pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Label {
    /// See [`Verdict::Malformed`].
    Malformed,
    /// See [`Verdict::Refused`].
    Refused,
    /// See [`Verdict::NotCompiled`].
    NotCompiled,
    /// See [`Verdict::TimedOut`].
    TimedOut,
    /// See [`Verdict::Crashed`].
    Crashed,
    /// See [`Verdict::Wrong`].
    Wrong,
    /// See [`Verdict::Suspect`].
    Suspect,
    /// See [`Verdict::Correct`].
    Correct,
}

impl Label {
    /// All labels, in the order of the pipeline.
    pub const ALL: [Self; 8] = [
        Self::Malformed,
        Self::Refused,
        Self::NotCompiled,
        Self::TimedOut,
        Self::Crashed,
        Self::Wrong,
        Self::Suspect,
        Self::Correct,
    ];

    /// Whether a repair may start from it, because there is code and the code is at fault.
    /// (`suspect` may be correct, and a machine's failure has no label.)
    pub fn is_broken(self) -> bool {
        match self {
            Self::Refused | Self::NotCompiled | Self::TimedOut | Self::Crashed | Self::Wrong => {
                true
            }
            Self::Malformed | Self::Suspect | Self::Correct => false,
        }
    }

    /// The name in JSON and in text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Refused => "refused",
            Self::NotCompiled => "not-compiled",
            Self::TimedOut => "timed-out",
            Self::Crashed => "crashed",
            Self::Wrong => "wrong",
            Self::Suspect => "suspect",
            Self::Correct => "correct",
        }
    }
}

impl std::fmt::Display for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl Verdict {
    /// The verdict's name.
    pub fn label(&self) -> Label {
        match self {
            Self::Malformed { .. } => Label::Malformed,
            Self::Refused { .. } => Label::Refused,
            Self::NotCompiled { .. } => Label::NotCompiled,
            Self::TimedOut { .. } => Label::TimedOut,
            Self::Crashed { .. } => Label::Crashed,
            Self::Wrong(_) => Label::Wrong,
            Self::Suspect { .. } => Label::Suspect,
            Self::Correct(_) => Label::Correct,
        }
    }

    /// The text next to the label, for a person or a repair prompt.
    ///
    /// Much of it quotes the candidate. So control characters are removed, and a name that fills a
    /// whole file is cut.
    pub fn detail(&self) -> String {
        let text = self.full_detail();
        let mut letters = text.chars().filter(|letter| is_harmless(*letter));
        let clean: String = letters.by_ref().take(DETAIL).collect();
        if letters.next().is_some() {
            clean + "…"
        } else {
            clean
        }
    }

    /// Shortens everything that quotes the candidate, so that any message can carry it. A name can
    /// fill a whole file. The middle is cut, because the ends of a sentence say which rule it is
    /// about.
    #[must_use]
    pub fn shortened(mut self) -> Self {
        match &mut self {
            Self::Malformed { why }
            | Self::Refused { why }
            | Self::Suspect { why, .. }
            | Self::Crashed { how: why } => {
                cut_middle(why, SENTENCE);
            }
            Self::Wrong(mismatch) => cut_middle(&mut mismatch.why, SENTENCE),
            Self::NotCompiled { diagnostics } => cut_middle(diagnostics, DETAIL),
            Self::TimedOut { .. } | Self::Correct(_) => {}
        }
        self
    }

    fn full_detail(&self) -> String {
        match self {
            Self::Malformed { why } | Self::Refused { why } | Self::Suspect { why, .. } => {
                why.clone()
            }
            Self::NotCompiled { diagnostics } => diagnostics.clone(),
            Self::TimedOut {
                limit_s,
                during: Phase::Compile,
            } => {
                format!("the compiler did not end within {limit_s} s")
            }
            Self::TimedOut {
                limit_s,
                during: Phase::Run,
            } => format!("did not return within {limit_s} s"),
            Self::Crashed { how } => how.clone(),
            Self::Wrong(mismatch) => mismatch.why.clone(),
            Self::Correct(_) => String::new(),
        }
    }

    /// Whether it is correct and plausible.
    pub fn is_correct(&self) -> bool {
        self.correct().is_some()
    }

    /// What was measured of a correct candidate.
    pub fn correct(&self) -> Option<&Measured> {
        match self {
            Self::Correct(measured) => Some(measured),
            Self::Malformed { .. }
            | Self::Refused { .. }
            | Self::NotCompiled { .. }
            | Self::TimedOut { .. }
            | Self::Crashed { .. }
            | Self::Wrong(_)
            | Self::Suspect { .. } => None,
        }
    }

    /// The measurements, if it got that far. A suspect candidate has them, too.
    pub fn measured(&self) -> Option<&Measured> {
        match self {
            Self::Suspect { measured, .. } => Some(measured),
            other => other.correct(),
        }
    }
}

/// Maximum number of characters of a detail.
const DETAIL: usize = 2400;
/// Maximum number of characters of a sentence in a verdict.
const SENTENCE: usize = 400;

/// Keeps `most` characters of a text, most of them from its start.
fn cut_middle(text: &mut String, most: usize) {
    let length = text.chars().count();
    if length > most {
        let behind = most / 4;
        let start: String = text.chars().take(most - behind).collect();
        let end: String = text.chars().skip(length - behind).collect();
        *text = format!("{start}…{end}");
    }
}

/// Whether a character is harmless in a terminal: not a control character, and not one that changes
/// the direction of text.
fn is_harmless(letter: char) -> bool {
    let turns = matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    matches!(letter, '\n' | '\t') || !(letter.is_control() || turns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_contain_no_control_characters() {
        let why = "line 1:\n\t`\u{1b}[2J\u{9b}31mx\r\u{202e}y\u{7}` é".to_owned();
        assert_eq!(Verdict::Refused { why }.detail(), "line 1:\n\t`[2J31mxy` é");
        let long = Verdict::Refused {
            why: "x".repeat(250_000),
        }
        .detail();
        assert_eq!(long.chars().count(), DETAIL + 1);
        assert!(long.ends_with('…'));
    }

    #[test]
    fn verdicts_are_cut_in_the_middle() {
        let why = format!(
            "`cblas_{}` belongs to a prohibited library",
            "é".repeat(70_000)
        );
        let Verdict::Refused { why } = (Verdict::Refused { why }).shortened() else {
            panic!("another verdict")
        };
        assert_eq!(why.chars().count(), SENTENCE + 1);
        assert!(
            why.starts_with("`cblas_éé")
                && why.contains('…')
                && why.ends_with("éé` belongs to a prohibited library")
        );
        let diagnostics = format!("undefined reference to `{}'", "x".repeat(70_000));
        assert_eq!(
            (Verdict::NotCompiled { diagnostics })
                .shortened()
                .detail()
                .chars()
                .count(),
            DETAIL + 1
        );
        let short = Verdict::Crashed {
            how: "x".repeat(SENTENCE),
        };
        assert_eq!(short.clone().shortened(), short);
    }
}
