//! Decodes many completions at once. Each prompt is prefilled once, and the slot of a finished
//! completion is reused.

use std::collections::VecDeque;
use std::sync::Arc;

use hotloop_flow::policy::{Completion, Ending};
use rayon::prelude::*;

use super::decode::{Cache, Prefix};
use super::network::{Adapted, Network};
use crate::noise;
use crate::sample::{Chosen, Generation, Growing, choose};

/// A completion in progress.
struct Slot {
    number: usize,
    cache: Cache,
    growing: Growing,
}

impl Slot {
    /// Draws the next token from this completion's own seed and position.
    fn draw(&self, logits: &[f32], how: &Generation) -> Chosen {
        let seed = how.seed.wrapping_add(self.number as u64);
        choose(
            logits,
            how.draw,
            noise::uniform_f64(seed, self.growing.tokens.len() as u64),
        )
    }
}

/// A prefilled prompt: its cache, and the logits of the first token.
struct Read {
    prompt: usize,
    prefix: Arc<Prefix>,
    logits: Vec<f32>,
}

impl Network {
    /// `count` completions of each prompt, prompt by prompt.
    pub fn generate(
        &self,
        adapted: Option<Adapted>,
        prompts: &[Vec<u32>],
        count: usize,
        how: &Generation,
    ) -> Vec<Completion> {
        let mut waiting: VecDeque<usize> = (0..prompts.len() * count).collect();
        let mut round = Round {
            prompts,
            count,
            how,
            done: vec![None; waiting.len()],
        };
        let mut slots: Vec<Slot> = Vec::new();
        let mut read: Option<Read> = None;
        while !(waiting.is_empty() && slots.is_empty() || how.halted()) {
            while slots.len() < how.slots.max(1) && !how.halted() {
                let Some(number) = waiting.pop_front() else {
                    break;
                };
                let prompt = number / count;
                // Completions wait prompt by prompt, so only one prompt's cache is needed at a
                // time.
                let current = match read.take().filter(|read| read.prompt == prompt) {
                    Some(current) => current,
                    None => self.read(adapted, prompts, prompt),
                };
                let slot = Slot {
                    number,
                    cache: Cache::new(current.prefix.clone()),
                    growing: Growing::default(),
                };
                let chosen = slot.draw(&current.logits, how);
                round.advance(slot, chosen, &mut slots);
                read = Some(current);
            }
            if slots.is_empty() {
                continue;
            }
            let last: Vec<u32> = slots
                .iter()
                .filter_map(|slot| slot.growing.tokens.last().copied())
                .collect();
            let mut caches: Vec<&mut Cache> =
                slots.iter_mut().map(|slot| &mut slot.cache).collect();
            let logits = self.decode(adapted, &last, &mut caches);
            let rows = logits.par_chunks(self.config.vocab).zip(&slots);
            let chosen: Vec<Chosen> = rows.map(|(row, slot)| slot.draw(row, how)).collect();
            for (slot, chosen) in std::mem::take(&mut slots).into_iter().zip(chosen) {
                round.advance(slot, chosen, &mut slots);
            }
        }
        round.finish()
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

/// All completions of a call.
struct Round<'a> {
    prompts: &'a [Vec<u32>],
    count: usize,
    how: &'a Generation<'a>,
    done: Vec<Option<Completion>>,
}

impl Round<'_> {
    /// Takes a slot's next token. The slot continues, or its completion is done.
    fn advance(&mut self, mut slot: Slot, chosen: Chosen, slots: &mut Vec<Slot>) {
        let Self { how, count, .. } = *self;
        match slot.growing.push(chosen, &how.stop, how.decode) {
            Some(ending) => {
                let prompt = &self.prompts[slot.number / count];
                self.done[slot.number] = Some(slot.growing.finish(prompt, ending, how));
            }
            None => slots.push(slot),
        }
    }

    /// Completions that a halt left unfinished are empty.
    fn finish(self) -> Vec<Completion> {
        let Self {
            prompts,
            count,
            how,
            done,
        } = self;
        let whole = |(number, done): (usize, Option<Completion>)| {
            let empty = || Growing::default().finish(&prompts[number / count], Ending::Length, how);
            done.unwrap_or_else(empty)
        };
        done.into_iter().enumerate().map(whole).collect()
    }
}
