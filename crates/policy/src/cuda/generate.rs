//! Decodes many answers at once. Each prompt is prefilled once, and its cache is copied to its
//! answers. The device decodes without the host. Every few tokens the host checks which answers
//! have ended and refills their slots.

use std::collections::VecDeque;

use hotloop_flow::policy::{Completion, Ending};

use super::batch::Batch;
use super::decoder::{Decoder, STOPS, SlotState};
use super::device::Device;
use super::engine::Engine;
use super::error::Result;
use super::layer::{Pass, Sight};
use super::resident::With;
use super::steps::bucket;
use super::workspace::{Purpose, Size};
use crate::pack::{Pack, Sequence};
use crate::sample::{Chosen, Generation, Growing};

/// Maximum number of prompt tokens prefilled at once. A longer prompt is prefilled alone.
const PREFILL: usize = 8192;
/// Maximum number of prompts prefilled at once.
const PROMPTS: usize = 64;
/// Tokens between two checks of the host.
const STRIDE: usize = 16;

/// An answer in progress.
struct Active {
    number: usize,
    growing: Growing,
    /// Tokens drawn at the host's last check.
    length: usize,
}

/// A prompt to prefill, and the answers that continue it, by number and slot.
struct Admission {
    prompt: usize,
    answers: Vec<(usize, usize)>,
}

/// All answers of a call.
struct Round<'a> {
    prompts: &'a [Vec<u32>],
    count: usize,
    how: &'a Generation<'a>,
    waiting: VecDeque<usize>,
    active: Vec<Option<Active>>,
    done: Vec<Option<Completion>>,
}

impl Round<'_> {
    /// Fills free slots, lowest first, with waiting answers of as many prompts as are prefilled at
    /// once.
    fn admit(&mut self) -> Vec<Admission> {
        let mut admissions: Vec<Admission> = Vec::new();
        let mut tokens = 0;
        for slot in 0..self.active.len() {
            let Some(&number) = self.waiting.front() else {
                break;
            };
            if self.active[slot].is_some() {
                continue;
            }
            let prompt = number / self.count;
            if let Some(last) = admissions.last_mut().filter(|last| last.prompt == prompt) {
                last.answers.push((number, slot));
            } else {
                let length = self.prompts[prompt].len();
                let full = tokens + length > PREFILL || admissions.len() == PROMPTS;
                if full && !admissions.is_empty() {
                    break;
                }
                tokens += length;
                admissions.push(Admission {
                    prompt,
                    answers: vec![(number, slot)],
                });
            }
            self.waiting.pop_front();
            self.active[slot] = Some(Active {
                number,
                growing: Growing::default(),
                length: 1,
            });
        }
        admissions
    }

    /// Steps until the host's next check, at most as many as the longest answer can still grow.
    fn steps(&self) -> usize {
        let left = |active: &Active| self.how.stop.max_tokens.saturating_sub(active.length);
        self.active
            .iter()
            .flatten()
            .map(left)
            .max()
            .unwrap_or(0)
            .min(STRIDE)
    }

    /// One more than the highest slot in use.
    fn rows(&self) -> usize {
        self.active
            .iter()
            .rposition(Option::is_some)
            .map_or(0, |highest| highest + 1)
    }

    /// Whether the host must check every token, because the device knows no stop texts and only
    /// some stop tokens.
    fn host_stops(&self) -> bool {
        !self.how.stop.texts.is_empty() || self.how.stop.tokens.len() > STOPS
    }

    /// Takes the tokens that the device has drawn, and returns the slots whose answers the host
    /// ended.
    fn collect(&mut self, decoder: &Decoder, device: &Device) -> Result<Vec<usize>> {
        let states = decoder.states(device)?;
        let ended = |(active, state): (&Option<Active>, &SlotState)| active.is_some() && state.done;
        let mut stopped = Vec::new();
        if self.host_stops() || self.active.iter().zip(&states).any(ended) {
            let (tokens, logprobs) = decoder.outputs(device)?;
            let host_stops = self.host_stops();
            for (slot, state) in states.iter().enumerate() {
                let Some(mut active) = self.active[slot].take() else {
                    continue;
                };
                let mut ending = None;
                if state.done || host_stops {
                    let from = slot * decoder.answer;
                    for at in from + active.growing.tokens.len()..from + state.length as usize {
                        let chosen = Chosen {
                            token: tokens[at],
                            logprob: logprobs[at],
                        };
                        ending = active.growing.push(chosen, &self.how.stop, self.how.decode);
                        if ending.is_some() {
                            break;
                        }
                    }
                    if state.done {
                        ending = ending.or(Some(Ending::Length));
                    }
                }
                match ending {
                    Some(ending) => {
                        let prompt = &self.prompts[active.number / self.count];
                        let done = active.growing.finish(prompt, ending, self.how);
                        self.done[active.number] = Some(done);
                        if !state.done {
                            stopped.push(slot);
                        }
                    }
                    None => self.active[slot] = Some(active),
                }
            }
        }
        for (active, state) in self.active.iter_mut().zip(&states) {
            if let Some(active) = active {
                active.length = state.length as usize;
            }
        }
        Ok(stopped)
    }

    /// Completions that a halt left unfinished are empty.
    fn finish(self) -> Vec<Completion> {
        let Self {
            prompts,
            count,
            how,
            done,
            ..
        } = self;
        let whole = |(number, done): (usize, Option<Completion>)| {
            let empty = || Growing::default().finish(&prompts[number / count], Ending::Length, how);
            done.unwrap_or_else(empty)
        };
        done.into_iter().enumerate().map(whole).collect()
    }
}

impl Engine {
    fn decode_size(&self) -> Size<'_> {
        let low = self
            .resident
            .adapted(With::Trained, None)
            .map_or(0, |adapted| adapted.adapter.plan.widest());
        Size {
            config: &self.resident.model.config,
            rows: 0,
            low,
            drops: false,
            purpose: Purpose::Score,
        }
    }

    /// Makes room for decoding. If memory is short, it frees memory that only training needs, and
    /// then reduces the number of slots.
    fn prepare_decoder(&mut self, slots: usize, capacity: usize, answer: usize) -> Result<Decoder> {
        let old = self.decoder.take();
        let size = Size {
            rows: slots,
            ..self.decode_size()
        };
        if let Some(decoder) = old.filter(|decoder| decoder.serves(size, capacity, answer)) {
            return Ok(decoder);
        }
        let fused = self.resident.chain.is_some();
        let mut given_up = None;
        let mut rows = slots;
        let made = loop {
            let size = Size {
                rows,
                ..self.decode_size()
            };
            match Decoder::new(&self.resident.device, size, capacity, answer, fused) {
                Err(error) if error.is_out_of_memory() && self.workspace.is_some() => {
                    given_up = self.workspace.take().map(|space| space.rows);
                }
                Err(error) if error.is_out_of_memory() && rows > 1 => rows /= 2,
                made => break made,
            }
        };
        let mut decoder = made?;
        decoder.wished = slots;
        if let Some(rows) = given_up {
            self.reserve(rows.min(PREFILL), Purpose::Score, false)?;
        }
        Ok(decoder)
    }

    /// Makes room for `slots` slots of `capacity` tokens, `answer` of which are the answer's. Calls
    /// that need no more share memory and graphs.
    pub fn make_room(&mut self, slots: usize, capacity: usize, answer: usize) -> Result<()> {
        self.resident.device.enter()?;
        let decoder = self.prepare_decoder(slots, capacity.next_multiple_of(64), answer)?;
        self.decoder = Some(decoder);
        Ok(())
    }

    /// `count` answers to each prompt, prompt by prompt.
    pub fn generate(
        &mut self,
        with: With,
        prompts: &[Vec<u32>],
        count: usize,
        how: &Generation,
    ) -> Result<Vec<Completion>> {
        let longest = prompts.iter().map(Vec::len).max().unwrap_or(0);
        let total = prompts.iter().map(Vec::len).sum::<usize>();
        let answers = prompts.len() * count;
        if answers == 0 {
            return Ok(Vec::new());
        }
        assert!(
            prompts.iter().all(|prompt| !prompt.is_empty()),
            "an empty prompt predicts nothing"
        );
        self.reserve(longest.max(total.min(PREFILL)), Purpose::Score, false)?;
        let slots = how.slots.clamp(1, answers);
        let limit = how.stop.max_tokens.max(1);
        let capacity = (longest + limit).next_multiple_of(64);
        let mut decoder = self.prepare_decoder(slots, capacity, limit)?;
        decoder.set_draw(&self.resident.device, how.draw, &how.stop.tokens)?;
        let active = (0..decoder.cache.slots).map(|_| None).collect();
        let done = (0..answers).map(|_| None).collect();
        let waiting = (0..answers).collect();
        let mut round = Round {
            prompts,
            count,
            how,
            waiting,
            active,
            done,
        };
        let result = self.play(with, &mut round, &mut decoder);
        // After an error or a halt slots may still be running, so the decoder is not reused.
        result?;
        if !how.halted() {
            self.decoder = Some(decoder);
        }
        Ok(round.finish())
    }

    fn play(&mut self, with: With, round: &mut Round, decoder: &mut Decoder) -> Result<()> {
        loop {
            loop {
                let admissions = round.admit();
                if admissions.is_empty() {
                    break;
                }
                self.read(with, round, &admissions, decoder)?;
            }
            let rows = round.rows();
            if rows == 0 || round.how.halted() {
                return Ok(());
            }
            decoder.steps(
                &self.resident,
                with,
                bucket(rows, decoder.cache.slots),
                round.steps(),
            )?;
            for slot in round.collect(decoder, &self.resident.device)? {
                decoder.set_state(
                    &self.resident.device,
                    slot,
                    SlotState {
                        done: true,
                        ..SlotState::default()
                    },
                )?;
            }
        }
    }

    /// Prefills prompts, copies their caches to all of their answers, and draws every answer's
    /// first token.
    fn read(
        &mut self,
        with: With,
        round: &Round,
        admissions: &[Admission],
        decoder: &Decoder,
    ) -> Result<()> {
        let prompt =
            |admission: &Admission| Sequence::answer(&round.prompts[admission.prompt], &[]);
        let sequences: Vec<Sequence> = admissions.iter().map(prompt).collect();
        let pack = Pack::new(&sequences);
        self.reserve(pack.rows(), Purpose::Score, false)?;
        let space = self.workspace.as_ref().expect("reserved above");
        let leaders: Vec<i32> = admissions
            .iter()
            .map(|admission| admission.answers[0].1 as i32)
            .collect();
        let batch = Batch::upload(&self.resident.device, space.ints.address, &pack, &leaders)?;
        let pass = Pass {
            sight: Sight::Pack(&batch, Some(&decoder.cache)),
            ..self.resident.pass(with, &batch, space)
        };
        let hidden = self.resident.forward(&pass, batch.tokens, space)?;
        let last: Vec<i32> = pack.starts[1..].iter().map(|end| *end as i32 - 1).collect();
        self.resident.device.write(space.head.rows.address, &last)?;
        pass.logits(hidden, last.len(), &space.head)?;
        let (mut rows, mut slots) = (Vec::new(), Vec::new());
        for (nth, admission) in admissions.iter().enumerate() {
            let length = round.prompts[admission.prompt].len();
            let others: Vec<i32> = admission.answers[1..]
                .iter()
                .map(|(_, slot)| *slot as i32)
                .collect();
            decoder.fan_out(&self.resident, admission.answers[0].1, length, &others)?;
            for &(number, slot) in &admission.answers {
                let state = SlotState {
                    seed: round.how.seed.wrapping_add(number as u64),
                    token: 0,
                    position: length as u32 - 1,
                    length: 0,
                    limit: round.how.stop.max_tokens.max(1) as u32,
                    done: false,
                };
                decoder.set_state(&self.resident.device, slot, state)?;
                rows.push(nth as i32);
                slots.push(slot as i32);
            }
        }
        decoder.draw_first(&self.resident, space.head.logits.address, &rows, &slots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Draw, NEVER, Stop};

    fn round<'a>(
        prompts: &'a [Vec<u32>],
        count: usize,
        slots: usize,
        how: &'a Generation<'a>,
    ) -> Round<'a> {
        let answers = prompts.len() * count;
        let (active, done) = (
            (0..slots).map(|_| None).collect(),
            (0..answers).map(|_| None).collect(),
        );
        Round {
            prompts,
            count,
            how,
            waiting: (0..answers).collect(),
            active,
            done,
        }
    }

    #[test]
    fn free_slots_are_filled_prompt_by_prompt() {
        let draw = Draw {
            temperature: 1.0,
            top_k: 0,
            top_p: 1.0,
            min_p: 0.0,
        };
        let stop = Stop {
            tokens: vec![],
            texts: vec![],
            max_tokens: 40,
        };
        let how = Generation {
            draw,
            stop,
            seed: 1,
            slots: 4,
            decode: &|_| String::new(),
            halt: &NEVER,
        };
        let prompts = vec![vec![1; 5000], vec![2; 5000], vec![3; 9]];
        let mut round = round(&prompts, 2, 5, &how);
        let first = round.admit();
        assert_eq!(
            (first.len(), &first[0].answers[..]),
            (1, &[(0, 0), (1, 1)][..]),
            "two long prompts exceed a read"
        );
        let second = round.admit();
        assert_eq!((second.len(), second[1].answers[0]), (2, (4, 4)));
        assert!(round.admit().is_empty());
        assert_eq!((round.rows(), round.steps()), (5, 16));
        round.active[1] = None;
        round.active[4] = None;
        let third = round.admit();
        assert_eq!(
            (third[0].prompt, third[0].answers[0], round.rows()),
            (2, (5, 1), 4)
        );
    }
}
