//! Supervised learning: examples in batches, a falling loss, a model at the end.

use policy::engine::Engine;
use policy::pack::Sequence;
use policy::text::Turn;

use flow::random::{Random, seed};

use crate::failure::Failure;
use crate::models;
use crate::output::say;
use crate::progress::Progress;
use crate::stop::Stop;

/// Lines that are printed over the whole tuning.
const LINES: usize = 20;
/// Held-out examples that a line's loss is taken over.
const HELD_OUT: usize = 512;

/// What is learned from, and in which portions.
pub(crate) struct Lessons {
    /// To learn.
    pub(crate) examples: Vec<Sequence>,
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
        (0..self.epochs).map(|epoch| self.batches(epoch).len() as u64).sum()
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
    let turn = |role, content: &str| Turn { role, content: content.to_owned() };
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

/// Teaches `engine` all lessons, or as many as there is time for.
pub(crate) fn tune(engine: &mut Engine, lessons: &Lessons, stop: &Stop, quiet: bool) -> Result<Tuned, Failure> {
    let held_out = &lessons.held_out[..lessons.held_out.len().min(HELD_OUT)];
    let total = lessons.steps();
    let every = (total as usize / LINES).max(1) as u64;
    let mut tuned = Tuned { steps: 0, tokens: 0, before: loss(engine, held_out)?, after: None, stopped: false };
    let progress = Progress::bar(total as usize, !quiet);
    let began = std::time::Instant::now();
    let mut last = Vec::new();
    'all: for epoch in 0..lessons.epochs {
        for batch in lessons.batches(epoch) {
            if stop.asked() {
                tuned.stopped = true;
                break 'all;
            }
            let batch: Vec<Sequence> = batch.iter().map(|index| lessons.examples[*index].clone()).collect();
            let update = engine.supervise(&batch).map_err(|error| models::engine_failure(&error))?;
            tuned.steps += 1;
            tuned.tokens += batch.iter().map(|example| example.tokens.len() as u64).sum::<u64>();
            progress.answered(1);
            if tuned.steps.is_multiple_of(every) {
                let rate = tuned.tokens as f64 / began.elapsed().as_secs_f64();
                let held = loss(engine, held_out)?.map_or(String::new(), |loss| format!(", held out {loss:.4}"));
                let line = format!("step {}/{total}: loss {:.4}{held}, {rate:.0} tokens/s", tuned.steps, update.loss);
                if !quiet {
                    progress.aside(|| say(&line));
                }
            }
            last = batch;
        }
    }
    tuned.after = loss(engine, held_out)?;
    // What a step breaks the next one stumbles over; the last has none.
    match tuned.after.map_or_else(|| loss(engine, &last), |after| Ok(Some(after)))? {
        Some(now) if !now.is_finite() => {
            let what = format!("after the last step, {}, the loss is {now}: nothing was written", tuned.steps);
            Err(Failure::user(what).hint("lower --rate, or look at the data"))
        }
        _ => Ok(tuned),
    }
}

fn loss(engine: &Engine, held_out: &[Sequence]) -> Result<Option<f64>, Failure> {
    if held_out.is_empty() {
        return Ok(None);
    }
    engine.loss(held_out).map(Some).map_err(|error| models::engine_failure(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_seen_once_an_epoch_in_batches_that_fit() {
        let example = |length: usize| Sequence { tokens: vec![1; length], scored: vec![true; length] };
        let examples: Vec<Sequence> = (1..=50).map(example).collect();
        let lessons = Lessons { examples, held_out: Vec::new(), batch_tokens: 100, epochs: 2, seed: 3 };
        for epoch in 0..2 {
            let batches = lessons.batches(epoch);
            let mut seen: Vec<usize> = batches.iter().flatten().copied().collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..50).collect::<Vec<_>>());
            let tokens = |batch: &Vec<usize>| batch.iter().map(|index| index + 1).sum::<usize>();
            assert!(batches.iter().all(|batch| !batch.is_empty() && tokens(batch) <= 100));
        }
        assert_ne!(lessons.batches(0), lessons.batches(1), "each epoch has an order of its own");
    }
}
