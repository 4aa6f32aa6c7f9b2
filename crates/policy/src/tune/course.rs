//! The course of a tuning: step after step, with an occasional evaluation on held-out examples, and
//! a reaction if the loss is NaN.

use std::path::Path;

use super::diverged::{Diverged, Gave, Good, Number};
use super::error::TuneError;
use super::lessons::Lessons;
use crate::engine::{Engine, EngineError, Kept};
use crate::pack::Sequence;
use crate::train::TrainError;

/// Number of evaluations over the whole tuning.
const LOOKS: usize = 20;
/// Maximum number of held-out examples in an evaluation.
const HELD_OUT: usize = 512;
/// Number of earlier steps that are reported with a NaN step.
const PAST: usize = 20;

/// How the tuning ended.
#[derive(Debug)]
pub struct Tuned {
    /// Steps taken.
    pub steps: u64,
    /// Tokens seen, including prompts.
    pub tokens: u64,
    /// The loss on held-out examples before, if there are any.
    pub before: Option<f64>,
    /// The same afterwards.
    pub after: Option<f64>,
    /// Whether it was stopped from outside.
    pub stopped: bool,
    /// Whether it ended because the loss on held-out examples rose.
    pub early: bool,
    /// The state with the lowest loss on held-out examples, if it was to end early.
    pub best: Option<Best>,
}

/// The state of a tuning with the lowest loss on held-out examples.
#[derive(Debug)]
pub struct Best {
    /// Steps taken then.
    pub steps: u64,
    pub held_out: f64,
    /// The adapter; `None` if all parameters learn, which are too many to keep twice.
    pub kept: Option<Kept>,
}

/// An evaluation during a tuning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Steps taken, and the total number.
    pub steps: u64,
    pub of: u64,
    /// Tokens seen, including prompts.
    pub tokens: u64,
    /// The loss of the last step.
    pub loss: f64,
    /// The loss on held-out examples, if there are any.
    pub held_out: Option<f64>,
}

/// Follows a tuning, and may stop it.
pub trait Watch {
    /// Whether the tuning should end before its next step.
    fn stops(&mut self) -> bool {
        false
    }

    /// A step was taken.
    fn stepped(&mut self) {}

    /// Called after each evaluation, about twenty times over the whole tuning.
    fn looked(&mut self, _look: &Look) {}
}

/// Ignores everything.
impl Watch for () {}

/// Trains `engine` on all lessons, or until `watch` stops it. If the loss becomes NaN, the facts
/// and the last good state are written next to `out`.
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
            early: false,
            best: None,
        },
        worse: 0,
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
                watch.looked(&Look {
                    steps: course.tuned.steps,
                    of: course.total,
                    tokens: course.tuned.tokens,
                    loss,
                    held_out,
                });
                if lessons
                    .patience
                    .is_some_and(|patience| course.worse >= patience)
                {
                    course.tuned.early = true;
                    break 'all;
                }
            }
        }
    }
    course.end(engine)
}

/// A tuning in progress.
struct Course<'a> {
    lessons: &'a Lessons,
    out: &'a Path,
    held_out: &'a [Sequence],
    total: u64,
    tuned: Tuned,
    /// The results of the last steps.
    past: Vec<Gave>,
    /// The examples of the last step.
    last: Vec<usize>,
    /// The last adapter with a finite loss, and its step.
    good: Option<(u64, Kept)>,
    /// Evaluations since the lowest loss on held-out examples.
    worse: u32,
    /// An adapter whose loss the next step will show.
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
        // The loss belongs to the model before this step, which is now known to be good.
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

    /// Returns the loss on held-out examples, if there are any, and keeps a snapshot of the
    /// adapter.
    fn look(&mut self, engine: &Engine) -> Result<Option<f64>, TuneError> {
        let held = loss(engine, self.held_out)?;
        self.check(engine, held)?;
        if let (Some(_), Some(held)) = (self.lessons.patience, held) {
            let lowest = self.tuned.best.as_ref().map(|best| best.held_out);
            if lowest.is_none_or(|lowest| held < lowest) {
                self.worse = 0;
                self.tuned.best = Some(Best {
                    steps: self.tuned.steps,
                    held_out: held,
                    kept: engine.keep()?,
                });
            } else {
                self.worse += 1;
            }
        }
        self.unproved = engine.keep()?.map(|kept| (self.tuned.steps, kept));
        Ok(held)
    }

    /// A broken state shows in the loss of the next step. The last step has no next one, so its
    /// state is checked here.
    fn end(mut self, engine: &Engine) -> Result<Tuned, TuneError> {
        self.tuned.after = loss(engine, self.held_out)?;
        let now = self.tuned.after.map_or_else(
            || loss(engine, &self.sequences(&self.last)),
            |after| Ok(Some(after)),
        )?;
        self.check(engine, now)?;
        Ok(self.tuned)
    }

    /// Ends the tuning with an error if the loss after the last step is not finite.
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
        // A step that failed leaves the earlier state, which may itself be broken.
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
