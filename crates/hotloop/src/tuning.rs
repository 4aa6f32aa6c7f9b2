//! Supervised learning: examples in batches, a falling loss, a model at the end.

mod diverged;

use std::path::Path;

use hotloop_flow::random::{Random, seed};
use hotloop_policy::engine::{Engine, EngineError, Kept};
use hotloop_policy::pack::Sequence;
use hotloop_policy::text::Turn;
use hotloop_policy::train::TrainError;

use self::diverged::{Diverged, Gave, Good, Number};
use crate::failure::Failure;
use crate::models;
use crate::output::say;
use crate::progress::Progress;
use crate::stop::Stop;

/// Lines that are printed over the whole tuning.
const LINES: usize = 20;
/// Held-out examples that a line's loss is taken over.
const HELD_OUT: usize = 512;
/// Steps before one that gives no numbers that are told of.
const PAST: usize = 20;

/// What is learned from, and in which portions.
pub(crate) struct Lessons {
    /// To learn.
    pub(crate) examples: Vec<Sequence>,
    /// Where each of them comes from, as in `chats.jsonl:12`.
    pub(crate) origins: Vec<String>,
    /// To look at only.
    pub(crate) held_out: Vec<Sequence>,
    /// Tokens of one step, about.
    pub(crate) batch_tokens: usize,
    /// Times that every example is seen.
    pub(crate) epochs: u32,
    /// Fixes the order.
    pub(crate) seed: u64,
}

impl Lessons {
    /// The steps of the whole tuning.
    pub(crate) fn steps(&self) -> u64 {
        (0..self.epochs)
            .map(|epoch| self.batches(epoch).len() as u64)
            .sum()
    }

    /// Which examples each step of an epoch sees.
    fn batches(&self, epoch: u32) -> Vec<Vec<usize>> {
        let mut order: Vec<usize> = (0..self.examples.len()).collect();
        Random::new(seed(self.seed, &[u64::from(epoch)])).shuffle(&mut order);
        let mut batches = vec![Vec::new()];
        let mut tokens = 0;
        for index in order {
            let length = self.examples[index].tokens.len();
            if tokens + length > self.batch_tokens && tokens > 0 {
                batches.push(Vec::new());
                tokens = 0;
            }
            tokens += length;
            if let Some(batch) = batches.last_mut() {
                batch.push(index);
            }
        }
        batches
    }
}

/// A question and its answer as a chat.
pub(crate) fn pair(question: &str, answer: &str) -> Vec<Turn> {
    let turn = |role, content: &str| Turn {
        role,
        content: content.to_owned(),
    };
    vec![turn("user", question), turn("assistant", answer)]
}

/// How the tuning ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tuned {
    /// Steps taken.
    pub(crate) steps: u64,
    /// Tokens seen, prompts included.
    pub(crate) tokens: u64,
    /// The loss on held-out examples before, if there are any.
    pub(crate) before: Option<f64>,
    /// The same after.
    pub(crate) after: Option<f64>,
    /// Whether it was stopped from outside.
    pub(crate) stopped: bool,
}

/// Teaches `engine` all lessons, or as many as there is time for. What a step that gives no numbers leaves lies beside `out`.
pub(crate) fn tune(
    engine: &mut Engine,
    lessons: &Lessons,
    out: &Path,
    stop: &Stop,
    quiet: bool,
) -> Result<Tuned, Failure> {
    let held_out = &lessons.held_out[..lessons.held_out.len().min(HELD_OUT)];
    let mut course = Course {
        lessons,
        out,
        tuned: Tuned {
            steps: 0,
            tokens: 0,
            before: loss(engine, held_out)?,
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
    if let Some(before) = course.tuned.before.filter(|before| !before.is_finite()) {
        return Err(Failure::user(format!(
            "before any step the loss on held-out examples is {before}"
        ))
        .hint("the model's weights are damaged, or the data hold what it cannot read"));
    }
    let every = (course.total as usize / LINES).max(1) as u64;
    let progress = Progress::bar(course.total as usize, !quiet);
    let began = std::time::Instant::now();
    'all: for epoch in 0..lessons.epochs {
        for batch in lessons.batches(epoch) {
            if stop.asked() {
                course.tuned.stopped = true;
                break 'all;
            }
            let loss = course.step(engine, batch)?;
            progress.answered(1);
            if course.tuned.steps.is_multiple_of(every) {
                let held = course
                    .look(engine)?
                    .map_or(String::new(), |loss| format!(", held out {loss:.4}"));
                let Tuned { steps, tokens, .. } = course.tuned;
                let rate = tokens as f64 / began.elapsed().as_secs_f64();
                let line = format!(
                    "step {steps}/{}: loss {loss:.4}{held}, {rate:.0} tokens/s",
                    course.total
                );
                if !quiet {
                    progress.aside(|| say(&line));
                }
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
    /// The last adapter that was looked at and gave numbers, and after which step; and one of which the next step tells.
    good: Option<(u64, Kept)>,
    unproved: Option<(u64, Kept)>,
}

impl Course<'_> {
    /// Takes a step, and tells the loss before it.
    fn step(&mut self, engine: &mut Engine, batch: Vec<usize>) -> Result<f64, Failure> {
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
            Err(error) => return Err(models::engine_failure(&error)),
        };
        // Its loss was that of the model before it.
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
    fn look(&mut self, engine: &Engine) -> Result<Option<f64>, Failure> {
        let held = loss(engine, self.held_out)?;
        self.check(engine, held)?;
        let kept = engine
            .keep()
            .map_err(|error| models::engine_failure(&error))?;
        self.unproved = kept.map(|kept| (self.tuned.steps, kept));
        Ok(held)
    }

    /// What a step breaks the next one stumbles over; the last has none.
    fn end(mut self, engine: &Engine) -> Result<Tuned, Failure> {
        self.tuned.after = loss(engine, self.held_out)?;
        let now = self.tuned.after.map_or_else(
            || loss(engine, &self.sequences(&self.last)),
            |after| Ok(Some(after)),
        )?;
        self.check(engine, now)?;
        Ok(self.tuned)
    }

    /// A loss after the last step that is no number ends the tuning.
    fn check(&mut self, engine: &Engine, now: Option<f64>) -> Result<(), Failure> {
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
    ) -> Failure {
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
        .failure(engine, self.out)
    }

    fn sequences(&self, numbers: &[usize]) -> Vec<Sequence> {
        numbers
            .iter()
            .map(|number| self.lessons.examples[*number].clone())
            .collect()
    }
}

fn loss(engine: &Engine, held_out: &[Sequence]) -> Result<Option<f64>, Failure> {
    if held_out.is_empty() {
        return Ok(None);
    }
    engine
        .loss(held_out)
        .map(Some)
        .map_err(|error| models::engine_failure(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_seen_once_an_epoch_in_batches_that_fit() {
        let example = |length: usize| Sequence {
            tokens: vec![1; length],
            scored: vec![true; length],
        };
        let examples: Vec<Sequence> = (1..=50).map(example).collect();
        let origins = vec![String::new(); examples.len()];
        let lessons = Lessons {
            examples,
            origins,
            held_out: Vec::new(),
            batch_tokens: 100,
            epochs: 2,
            seed: 3,
        };
        for epoch in 0..2 {
            let batches = lessons.batches(epoch);
            let mut seen: Vec<usize> = batches.iter().flatten().copied().collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..50).collect::<Vec<_>>());
            let tokens = |batch: &Vec<usize>| batch.iter().map(|index| index + 1).sum::<usize>();
            assert!(
                batches
                    .iter()
                    .all(|batch| !batch.is_empty() && tokens(batch) <= 100)
            );
        }
        assert_ne!(
            lessons.batches(0),
            lessons.batches(1),
            "each epoch has an order of its own"
        );
    }
}
