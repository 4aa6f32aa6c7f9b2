//! Many answers at once: each prompt is read once, and the slot of an answer that ends is filled again.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::decode::{Cache, Prefix};
use super::network::{Adapted, Network};
use crate::noise;
use crate::sample::{Answer, Chosen, Draw, Ending, Stop, choose};

/// How answers are drawn and ended.
pub struct Generation<'a> {
    /// How tokens are drawn.
    pub draw: Draw,
    /// What ends an answer.
    pub stop: Stop,
    /// Answer number n draws from seed + n.
    pub seed: u64,
    /// Answers decoded at the same time.
    pub slots: usize,
    /// Tokens to text, for stop texts.
    pub decode: &'a (dyn Fn(&[u32]) -> String + Sync),
    /// Ends all answers where they are once it is set. Who set it has no use for them.
    pub halt: &'a AtomicBool,
}

/// The halt of work that nobody stops.
pub static NEVER: AtomicBool = AtomicBool::new(false);

impl Generation<'_> {
    /// Whether someone asked to stop.
    pub(crate) fn halted(&self) -> bool {
        self.halt.load(Ordering::Relaxed)
    }
}

/// An answer on its way.
struct Slot {
    number: usize,
    cache: Cache,
    answer: Answer,
}

impl Slot {
    /// Draws the next token by this answer's own seed and position.
    fn draw(&self, logits: &[f32], how: &Generation) -> Chosen {
        let seed = how.seed.wrapping_add(self.number as u64);
        choose(
            logits,
            how.draw,
            noise::uniform_f64(seed, self.answer.tokens.len() as u64),
        )
    }
}

/// A prompt that has been read: its cache, and the logits of the first token.
struct Read {
    prompt: usize,
    prefix: Arc<Prefix>,
    logits: Vec<f32>,
}

impl Network {
    /// `count` answers to each prompt, prompt by prompt.
    pub fn generate(
        &self,
        adapted: Option<Adapted>,
        prompts: &[Vec<u32>],
        count: usize,
        how: &Generation,
    ) -> Vec<(Answer, Ending)> {
        let mut waiting: VecDeque<usize> = (0..prompts.len() * count).collect();
        let mut done: Vec<Option<(Answer, Ending)>> = vec![None; waiting.len()];
        let mut slots: Vec<Slot> = Vec::new();
        let mut read: Option<Read> = None;
        while !(waiting.is_empty() && slots.is_empty() || how.halted()) {
            while slots.len() < how.slots.max(1) && !how.halted() {
                let Some(number) = waiting.pop_front() else {
                    break;
                };
                let prompt = number / count;
                // Answers wait prompt by prompt, so one prompt's cache is all that has to be at hand.
                let current = match read.take().filter(|read| read.prompt == prompt) {
                    Some(current) => current,
                    None => self.read(adapted, prompts, prompt),
                };
                let slot = Slot {
                    number,
                    cache: Cache::new(current.prefix.clone()),
                    answer: Answer::default(),
                };
                let chosen = slot.draw(&current.logits, how);
                advance(slot, chosen, how, &mut slots, &mut done);
                read = Some(current);
            }
            if slots.is_empty() {
                continue;
            }
            let last: Vec<u32> = slots
                .iter()
                .filter_map(|slot| slot.answer.tokens.last().copied())
                .collect();
            let mut caches: Vec<&mut Cache> =
                slots.iter_mut().map(|slot| &mut slot.cache).collect();
            let logits = self.decode(adapted, &last, &mut caches);
            let rows = logits.par_chunks(self.config.vocab).zip(&slots);
            let chosen: Vec<Chosen> = rows.map(|(row, slot)| slot.draw(row, how)).collect();
            for (slot, chosen) in std::mem::take(&mut slots).into_iter().zip(chosen) {
                advance(slot, chosen, how, &mut slots, &mut done);
            }
        }
        let unfinished = || (Answer::default(), Ending::Length);
        done.into_iter()
            .map(|answer| answer.unwrap_or_else(unfinished))
            .collect()
    }

    fn read(&self, adapted: Option<Adapted>, prompts: &[Vec<u32>], prompt: usize) -> Read {
        let (prefix, logits) = self.prefill(adapted, &prompts[prompt]);
        Read {
            prompt,
            prefix: Arc::new(prefix),
            logits,
        }
    }
}

/// Takes a slot's next token; the slot goes on or its answer is done.
fn advance(
    mut slot: Slot,
    chosen: Chosen,
    how: &Generation,
    slots: &mut Vec<Slot>,
    done: &mut [Option<(Answer, Ending)>],
) {
    match slot.answer.push(chosen, &how.stop, how.decode) {
        Some(ending) => done[slot.number] = Some((slot.answer, ending)),
        None => slots.push(slot),
    }
}
