//! Reports a step whose loss is not finite: its facts, and the last state with a finite loss.
//!
//! Everything is in `OUT.diverged`, next to the output folder, which is not written: `step.json`
//! with the facts, and `adapter` or `model`. It is written atomically.

use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use super::error::{Divergence, KeptState, Written};
use super::lessons::Lessons;
use crate::engine::{Engine, EngineError, Kept, Learning};
use crate::pack::Sequence;
use crate::save::Storage;

/// A number that may be NaN or infinite. JSON supports neither, so they become strings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number(pub(super) f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() {
            serializer.serialize_f64(self.0)
        } else {
            serializer.collect_str(&self.0)
        }
    }
}

/// The result of a step.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Gave {
    /// The step's number, from 1.
    pub(super) step: u64,
    /// The loss before it was taken.
    pub(super) loss: Number,
    pub(super) gradient_norm: Number,
    pub(super) rate: f64,
}

/// An example that a step learned from.
#[derive(Debug, Serialize)]
struct Seen<'a> {
    /// Where it comes from.
    example: &'a str,
    tokens: usize,
    /// The number of scored tokens.
    scored: usize,
    /// Its loss with the current model.
    loss: Option<Number>,
}

/// The facts as they are written.
#[derive(Debug, Serialize)]
struct Facts<'a> {
    #[serde(flatten)]
    gave: Gave,
    /// Of how many steps.
    of: u64,
    /// Whether the step was taken, and the loss after it.
    taken: bool,
    loss_after: Option<Number>,
    /// The path of the last state with a finite loss, and its step; `None` if there is none.
    kept: Option<&'a str>,
    kept_step: Option<u64>,
    /// What it learned from.
    batch: Vec<Seen<'a>>,
    /// The steps before it.
    before: &'a [Gave],
}

/// A state to return to.
pub(super) enum Good {
    /// The engine's current state.
    Now,
    /// A snapshot.
    Before(Kept),
}

/// A step whose loss is not finite.
pub(super) struct Diverged<'a> {
    pub(super) lessons: &'a Lessons,
    pub(super) gave: Gave,
    /// Of how many steps.
    pub(super) of: u64,
    /// The loss after it, if it was taken.
    pub(super) after: Option<f64>,
    /// The numbers of its examples.
    pub(super) batch: &'a [usize],
    /// The steps before it.
    pub(super) before: &'a [Gave],
    /// The last state with a finite loss, and its step.
    pub(super) good: Option<(u64, Good)>,
}

impl Diverged<'_> {
    /// Writes the facts and the last good state next to `out`.
    pub(super) fn report(&self, engine: &Engine, out: &Path) -> Divergence {
        let Gave {
            step,
            loss,
            gradient_norm,
            rate,
        } = self.gave;
        let written = self.write(engine, out).map(|folder| Written {
            facts: folder.join(FACTS),
            kept: self.good.as_ref().map(|(after, _)| KeptState {
                step: *after,
                folder: folder.join(kind(engine)),
            }),
        });
        Divergence {
            step,
            of: self.of,
            rate,
            loss: loss.0,
            gradient_norm: gradient_norm.0,
            after: self.after,
            learned: kind(engine),
            out: out.to_owned(),
            written,
        }
    }

    fn write(&self, engine: &Engine, out: &Path) -> Result<PathBuf, String> {
        let fresh = beside(out, "diverged.new");
        let written = self.fill(engine, &fresh).and_then(|()| {
            let place = free(out);
            fs_err::rename(&fresh, &place)
                .map(|()| place)
                .map_err(|error| error.to_string())
        });
        if written.is_err() {
            drop(std::fs::remove_dir_all(&fresh));
        }
        written
    }

    fn fill(&self, engine: &Engine, folder: &Path) -> Result<(), String> {
        let text = |error: std::io::Error| error.to_string();
        if folder.exists() {
            fs_err::remove_dir_all(folder).map_err(text)?;
        }
        fs_err::create_dir_all(folder).map_err(text)?;
        let to = folder.join(kind(engine));
        let saved = match &self.good {
            None => Ok(()),
            Some((_, Good::Before(kept))) => engine.save_kept(kept, &to),
            Some((_, Good::Now)) => save(engine, &to),
        };
        saved.map_err(|error| error.to_string())?;
        let facts =
            serde_json::to_string_pretty(&self.facts(engine)).map_err(|error| error.to_string())?;
        fs_err::write(folder.join(FACTS), facts + "\n").map_err(text)
    }

    fn facts(&self, engine: &Engine) -> Facts<'_> {
        let seen = |number: &usize| {
            let example: &Sequence = &self.lessons.examples[*number];
            Seen {
                example: &self.lessons.origins[*number],
                tokens: example.tokens.len(),
                scored: example.scored.iter().filter(|scored| **scored).count(),
                loss: engine.loss(std::slice::from_ref(example)).ok().map(Number),
            }
        };
        Facts {
            gave: self.gave,
            of: self.of,
            taken: self.after.is_some(),
            loss_after: self.after.map(Number),
            kept: self.good.as_ref().map(|_| kind(engine)),
            kept_step: self.good.as_ref().map(|(step, _)| *step),
            batch: self.batch.iter().map(seen).collect(),
            before: self.before,
        }
    }
}

/// The file with the facts.
const FACTS: &str = "step.json";

/// What is learned.
fn kind(engine: &Engine) -> &'static str {
    if engine.settings().learning == Learning::Full {
        "model"
    } else {
        "adapter"
    }
}

fn save(engine: &Engine, to: &Path) -> Result<(), EngineError> {
    match engine.settings().learning {
        Learning::Full => engine.save_model(to, Storage::F32),
        Learning::Lora(..) | Learning::None => engine.save(to),
    }
}

fn beside(out: &Path, suffix: &str) -> PathBuf {
    let mut name = out.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(suffix);
    out.with_file_name(name)
}

/// `OUT.diverged`, with the first unused number if it exists, so that an earlier one is never
/// overwritten.
fn free(out: &Path) -> PathBuf {
    let numbered = (2..).map(|number: u32| beside(out, &format!("diverged-{number}")));
    let mut all = std::iter::once(beside(out, "diverged")).chain(numbered);
    all.find(|path| !path.exists())
        .expect("there are more numbers than folders")
}
