//! Why a tuning ended without a model.

use std::fmt;
use std::path::PathBuf;

use crate::engine::EngineError;

/// Why a tuning ended without a model.
#[derive(Debug, thiserror::Error)]
pub enum TuneError {
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The model was broken before it learned anything.
    #[error("before any step the loss on held-out examples is {loss}")]
    BadStart { loss: f64 },
    /// The loss became NaN or infinite.
    #[error(transparent)]
    Diverged(#[from] Box<Divergence>),
}

impl From<Divergence> for TuneError {
    fn from(divergence: Divergence) -> Self {
        Self::Diverged(Box::new(divergence))
    }
}

/// The saved state before a divergence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptState {
    /// The step that it follows.
    pub step: u64,
    pub folder: PathBuf,
}

/// The files about a divergence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The file with the facts of the step.
    pub facts: PathBuf,
    /// The last state whose loss was finite, if there was one.
    pub kept: Option<KeptState>,
}

/// A step whose loss is not finite.
#[derive(Debug, thiserror::Error)]
pub struct Divergence {
    /// The step's number, from 1, and the number of steps.
    pub step: u64,
    pub of: u64,
    /// Its learning rate.
    pub rate: f64,
    /// The loss before it.
    pub loss: f64,
    pub gradient_norm: f64,
    /// The loss after it, if it was taken.
    pub after: Option<f64>,
    /// What is trained: `adapter` or `model`.
    pub learned: &'static str,
    /// The output folder, which was not written.
    pub out: PathBuf,
    /// The files written next to it, or why writing failed.
    pub written: Result<Written, String>,
}

impl Divergence {
    /// Whether the first step already failed. Then the learning rate cannot be the cause.
    pub fn is_at_the_start(&self) -> bool {
        self.after.is_none() && self.step == 1
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self {
            step,
            of,
            rate,
            loss,
            gradient_norm,
            learned,
            ..
        } = self;
        match self.after {
            Some(after) => write!(
                f,
                "after step {step} of {of}, at a rate of {rate:.1e}, the loss is {after}"
            )?,
            None => write!(
                f,
                "step {step} of {of}: loss {loss}, gradient norm {gradient_norm}, rate {rate:.1e}; \
                 it was not taken"
            )?,
        }
        let written = match &self.written {
            Ok(written) => written,
            Err(why) => {
                return write!(f, ". Nothing was written, since its facts cannot be: {why}");
            }
        };
        write!(f, ". Its facts: {}; ", written.facts.display())?;
        match &written.kept {
            Some(kept) => write!(
                f,
                "the {learned} after step {}: {}",
                kept.step,
                kept.folder.display()
            )?,
            None => write!(f, "no {learned} is kept, as none had a finite loss")?,
        }
        write!(f, "; {} is not written", self.out.display())
    }
}
