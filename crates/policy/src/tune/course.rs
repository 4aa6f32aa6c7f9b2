//! The course of a tuning: one step after another, a look at held-out examples now and then, and
//! what to do when the loss is not a number.

use std::path::Path;

use super::diverged::{Diverged, Gave, Good, Number};
use super::error::TuneError;
use super::lessons::Lessons;
use crate::engine::{Engine, EngineError, Kept};
use crate::pack::Sequence;
use crate::train::TrainError;

/// Looks that are taken over the whole tuning.
const LOOKS: usize = 20;
/// Held-out examples that a look takes the loss over.
const HELD_OUT: usize = 512;
/// Steps before a step that gives NaN which are reported with it.
const PAST: usize = 20;

/// How the tuning ended.
#[derive(Debug, Clone, Copy)]
pub struct Tuned {
    /// Steps taken.
    pub steps: u64,
    /// Tokens seen, prompts included.
    pub tokens: u64,
    /// The loss on held-out examples before, if there are any.
    pub before: Option<f64>,
    /// The same after.
    pub after: Option<f64>,
    /// Whether it was stopped from outside.
    pub stopped: bool,
}

/// A look at a tuning under way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Steps taken, and of how many.
    pub steps: u64,
    pub of: u64,
    /// Tokens seen, prompts included.
    pub tokens: u64,
    /// The loss of the last step.
    pub loss: f64,
    /// The loss on held-out examples, if there are any.
    pub held_out: Option<f64>,
}

/// Follows a tuning, and may stop it.
pub trait Watch {
    /// Whether the tuning is to end before its next step.
    fn stops(&mut self) -> bool {
        false
    }

    /// A step was taken.
    fn stepped(&mut self) {}

    /// A look was taken: about twenty times over the whole tuning.
    fn looked(&mut self, _look: &Look) {}
}

/// Follows nothing.
impl Watch for () {}

/// Teaches `engine` all lessons, or as many as `watch` lets it. Where the loss becomes NaN, the
/// facts and the last good state are written beside `out`.
pub fn tune(
    engine: &mut Engine,
    lessons: &Lessons,
    out: &Path,
    watch: &mut dyn Watch,
) -> Result<Tuned, TuneError> {
    let held_out = &lessons.held_out[..lessons.held_out.len().min(HELD_OUT)];
    let before = loss(engine, held_out)?;
    if let Some(loss) = before.filter(|before| !before.is_finite()) {
        return Err(TuneError::BadStart { loss });
    }
    let mut course = Course {
        lessons,
        out,
        tuned: Tuned {
            steps: 0,
            tokens: 0,
            before,
            after: None,
            stopped: false,
        },
        held_out,
        total: lessons.steps(),
        past: Vec::new(),
        last: Vec::new(),
        good: None,
        unproved: None,
    };
    let every = (course.total as usize / LOOKS).max(1) as u64;
    'all: for epoch in 0..lessons.epochs {
        for batch in lessons.batches(epoch) {
            if watch.stops() {
                course.tuned.stopped = true;
                break 'all;
            }
            let loss = course.step(engine, batch)?;
            watch.stepped();
            if course.tuned.steps.is_multiple_of(every) {
                let held_out = course.look(engine)?;
                let Tuned { steps, tokens, .. } = course.tuned;
                watch.looked(&Look {
                    steps,
                    of: course.total,
                    tokens,
                    loss,
                    held_out,
                });
            }
        }
    }
    course.end(engine)
}

/// A tuning under way.
struct Course<'a> {
    lessons: &'a Lessons,
    out: &'a Path,
    held_out: &'a [Sequence],
    total: u64,
    tuned: Tuned,
    /// What the last steps gave.
    past: Vec<Gave>,
    /// The examples of the last step.
    last: Vec<usize>,
    /// The last adapter whose loss was finite, and after which step.
    good: Option<(u64, Kept)>,
    /// An adapter whose loss the next step shows.
    unproved: Option<(u64, Kept)>,
}

impl Course<'_> {
    /// Takes a step, and returns the loss before it.
    fn step(&mut self, engine: &mut Engine, batch: Vec<usize>) -> Result<f64, TuneError> {
        let rate = engine.settings().training.schedule.rate(self.tuned.steps);
        let step = self.tuned.steps + 1;
        let gave = |loss, norm| Gave {
            step,
            loss: Number(loss),
            gradient_norm: Number(norm),
            rate,
        };
        let update = match engine.supervise(&self.sequences(&batch)) {
            Ok(update) => update,
            Err(EngineError::Train(TrainError::NotFinite {
                loss,
                gradient_norm,
                ..
            })) => {
                return Err(self.diverged(engine, gave(loss, gradient_norm), None, &batch));
            }
            Err(error) => return Err(error.into()),
        };
        // Its loss is that of the model before it, which is thereby proved.
        self.good = self.unproved.take().or_else(|| self.good.take());
        self.tuned.steps = step;
        self.tuned.tokens += batch
            .iter()
            .map(|number| self.lessons.examples[*number].tokens.len() as u64)
            .sum::<u64>();
        if self.past.len() == PAST {
            self.past.remove(0);
        }
        self.past.push(gave(update.loss, update.gradient_norm));
        self.last = batch;
        Ok(update.loss)
    }

    /// The loss on held-out examples, if there are any; and the adapter is kept as it is.
    fn look(&mut self, engine: &Engine) -> Result<Option<f64>, TuneError> {
        let held = loss(engine, self.held_out)?;
        self.check(engine, held)?;
        self.unproved = engine.keep()?.map(|kept| (self.tuned.steps, kept));
        Ok(held)
    }

    /// A broken state shows in the loss of the next step. The last step has none, so its state is
    /// looked at here.
    fn end(mut self, engine: &Engine) -> Result<Tuned, TuneError> {
        self.tuned.after = loss(engine, self.held_out)?;
        let now = self.tuned.after.map_or_else(
            || loss(engine, &self.sequences(&self.last)),
            |after| Ok(Some(after)),
        )?;
        self.check(engine, now)?;
        Ok(self.tuned)
    }

    /// A loss after the last step that is not finite ends the tuning.
    fn check(&mut self, engine: &Engine, now: Option<f64>) -> Result<(), TuneError> {
        match (now, self.past.pop()) {
            (Some(now), Some(gave)) if !now.is_finite() => {
                let batch = std::mem::take(&mut self.last);
                Err(self.diverged(engine, gave, Some(now), &batch))
            }
            (_, gave) => {
                self.past.extend(gave);
                Ok(())
            }
        }
    }

    fn diverged(
        &mut self,
        engine: &Engine,
        gave: Gave,
        after: Option<f64>,
        batch: &[usize],
    ) -> TuneError {
        let is_good = || {
            let known = if self.held_out.is_empty() {
                &self.sequences(&self.last)
            } else {
                self.held_out
            };
            matches!(loss(engine, known), Ok(Some(loss)) if loss.is_finite())
        };
        // A step that was not taken leaves what was learned before it; that may be what is broken.
        let good = if after.is_none() && self.tuned.steps > 0 && is_good() {
            Some((self.tuned.steps, Good::Now))
        } else {
            self.good
                .take()
                .map(|(step, kept)| (step, Good::Before(kept)))
        };
        let Self {
            lessons,
            past,
            total,
            ..
        } = self;
        Diverged {
            lessons,
            gave,
            of: *total,
            after,
            batch,
            before: past,
            good,
        }
        .report(engine, self.out)
        .into()
    }

    fn sequences(&self, numbers: &[usize]) -> Vec<Sequence> {
        numbers
            .iter()
            .map(|number| self.lessons.examples[*number].clone())
            .collect()
    }
}

fn loss(engine: &Engine, held_out: &[Sequence]) -> Result<Option<f64>, TuneError> {
    if held_out.is_empty() {
        return Ok(None);
    }
    Ok(Some(engine.loss(held_out)?))
}
