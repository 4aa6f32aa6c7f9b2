//! The memory of decoding: the slots' states and caches, and one plain step of all slots.

use std::collections::HashMap;

use super::cache::{Cache, Copies};
use super::device::{Address, Buffer, Device, Graph, Launch, args};
use super::error::Result;
use super::layer::{Pass, Sight};
use super::resident::{Resident, With};
use super::workspace::{Saved, Size, StepSpace};
use crate::sample;

/// Maximum number of stop tokens that the device checks. The host checks further ones.
pub(super) const STOPS: usize = 13;

/// The state of a slot, as in sample.cu.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct SlotState {
    pub(super) seed: u64,
    /// The last token: input of the next step.
    pub(super) token: u32,
    pub(super) position: u32,
    /// Tokens drawn.
    pub(super) length: u32,
    /// Maximum number of tokens.
    pub(super) limit: u32,
    pub(super) done: bool,
}

/// Words of a slot's state.
const SLOT_WORDS: usize = 4;

impl SlotState {
    fn words(self) -> [u64; SLOT_WORDS] {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        [
            self.seed,
            pair(self.token, self.position),
            pair(self.length, self.limit),
            u64::from(self.done),
        ]
    }

    fn from_words(words: [u64; SLOT_WORDS]) -> Self {
        let (low, high) = (|word: u64| word as u32, |word: u64| (word >> 32) as u32);
        Self {
            seed: words[0],
            token: low(words[1]),
            position: high(words[1]),
            length: low(words[2]),
            limit: high(words[2]),
            done: low(words[3]) != 0,
        }
    }
}

/// The sampling settings, as in sample.cu.
fn draw_words(draw: sample::Draw, stops: &[u32]) -> [u32; 5 + STOPS] {
    let mut words = [0; 5 + STOPS];
    let count = stops.len().min(STOPS);
    words[0] = draw.temperature.to_bits();
    words[1] = draw.top_p.to_bits();
    words[2] = draw.min_p.to_bits();
    words[3] = draw.top_k.min(i32::MAX as usize) as u32;
    words[4] = count as u32;
    words[5..5 + count].copy_from_slice(&stops[..count]);
    words
}

/// Which slot draws from which row of logits, as arrays on the device.
#[derive(Clone, Copy)]
pub(super) struct Draws {
    pub(super) rows: Address,
    pub(super) slots: Address,
    pub(super) count: usize,
}

/// The memory and the graphs of decoding.
pub(super) struct Decoder {
    pub(super) cache: Cache,
    /// Maximum number of tokens of an answer.
    pub(super) answer: usize,
    /// The requested number of slots. There are fewer if memory was short.
    pub(super) wished: usize,
    low: usize,
    pub(super) saved: Saved,
    pub(super) stream: Buffer,
    pub(super) logits: Buffer,
    pub(super) states: Buffer,
    tokens: Buffer,
    pub(super) positions: Buffer,
    /// Additional memory of the fused step.
    pub(super) space: Option<StepSpace>,
    pub(super) draw: Buffer,
    pub(super) out_tokens: Buffer,
    pub(super) out_logprobs: Buffer,
    /// Rows and slots of a first draw, and targets of a fan-out.
    entries: [Buffer; 3],
    pub(super) graphs: HashMap<(usize, With), Graph>,
}

impl Decoder {
    pub(super) fn new(
        device: &Device,
        size: Size,
        capacity: usize,
        answer: usize,
        fused: bool,
    ) -> Result<Self> {
        let (config, slots) = (size.config, size.rows);
        let cache = Cache::new(device, config, slots, capacity)?;
        let words = |count: usize| device.zeros("decoding", slots * count * 4);
        let idle = SlotState {
            done: true,
            ..SlotState::default()
        };
        let states: Vec<u64> = std::iter::repeat_n(idle.words(), slots).flatten().collect();
        Ok(Self {
            cache,
            answer,
            wished: slots,
            low: size.low,
            saved: Saved::new(device, size)?,
            stream: device.alloc("decoding", device.reals(slots * config.hidden))?,
            logits: words(config.vocab)?,
            states: device.upload("decoding", &states)?,
            tokens: words(1)?,
            positions: words(1)?,
            space: fused.then(|| StepSpace::new(device, config)).transpose()?,
            draw: device.zeros("decoding", (5 + STOPS) * 4)?,
            out_tokens: words(answer)?,
            out_logprobs: words(answer)?,
            entries: [words(1)?, words(1)?, words(1)?],
            graphs: HashMap::new(),
        })
    }

    /// Whether answers of this size fit.
    pub(super) fn serves(&self, size: Size, capacity: usize, answer: usize) -> bool {
        let fits = self.cache.capacity >= capacity && self.answer >= answer;
        fits && self.wished == size.rows && self.low >= size.low
    }

    /// Sets how the next steps draw tokens.
    pub(super) fn set_draw(
        &self,
        device: &Device,
        draw: sample::Draw,
        stops: &[u32],
    ) -> Result<()> {
        device.write(self.draw.address, &draw_words(draw, stops))
    }

    /// Replaces a slot's state.
    pub(super) fn set_state(&self, device: &Device, slot: usize, state: SlotState) -> Result<()> {
        device.write(
            self.states.address.plus(slot * SLOT_WORDS * 8),
            &state.words(),
        )
    }

    /// The state of every slot.
    pub(super) fn states(&self, device: &Device) -> Result<Vec<SlotState>> {
        let words: Vec<[u64; SLOT_WORDS]> = device.read(self.states.address, self.cache.slots)?;
        Ok(words.into_iter().map(SlotState::from_words).collect())
    }

    /// Tokens and logprobs of all slots so far, `answer` of each.
    pub(super) fn outputs(&self, device: &Device) -> Result<(Vec<u32>, Vec<f32>)> {
        let count = self.cache.slots * self.answer;
        Ok((
            device.read(self.out_tokens.address, count)?,
            device.read(self.out_logprobs.address, count)?,
        ))
    }

    /// Copies a prompt's keys and values to other slots.
    pub(super) fn fan_out(
        &self,
        resident: &Resident,
        from: usize,
        rows: usize,
        targets: &[i32],
    ) -> Result<()> {
        if targets.is_empty() {
            return Ok(());
        }
        let place = self.entries[2].address;
        resident.device.write(place, targets)?;
        let copies = Copies {
            from,
            rows,
            targets: place,
            count: targets.len(),
        };
        self.cache
            .fan_out(&resident.device, &resident.model.config, copies)
    }

    /// Draws the first token of some slots, each from a row of `logits`.
    pub(super) fn draw_first(
        &self,
        resident: &Resident,
        logits: Address,
        rows: &[i32],
        slots: &[i32],
    ) -> Result<()> {
        let [row_place, slot_place, _] = &self.entries;
        resident.device.write(row_place.address, rows)?;
        resident.device.write(slot_place.address, slots)?;
        let draws = Draws {
            rows: row_place.address,
            slots: slot_place.address,
            count: rows.len(),
        };
        self.sample(resident, logits, draws)
    }

    pub(super) fn sample(&self, resident: &Resident, logits: Address, draws: Draws) -> Result<()> {
        let Draws { rows, slots, count } = draws;
        let (answer, vocab) = (self.answer as i32, resident.model.config.vocab as i32);
        let Self {
            draw,
            states,
            out_tokens,
            out_logprobs,
            ..
        } = self;
        let arguments = args![
            logits,
            rows,
            slots,
            draw,
            states,
            out_tokens,
            out_logprobs,
            answer,
            vocab
        ];
        resident
            .device
            .launch("sample", Launch::grid(count, 1, 1, 1024), arguments)
    }

    pub(super) fn pass<'a>(&'a self, resident: &'a Resident, with: With, rows: usize) -> Pass<'a> {
        Pass {
            device: &resident.device,
            blas: &resident.blas,
            model: &resident.model,
            adapted: resident.adapted(with, None),
            rows,
            positions: self.positions.address,
            sight: Sight::Cache(&self.cache),
            d_low: Address::NULL,
            dropped: Address::NULL,
        }
    }

    /// Queues products of the head that change no answer.
    pub(super) fn keep_busy(
        &self,
        resident: &Resident,
        with: With,
        rows: usize,
        times: usize,
    ) -> Result<()> {
        let (pass, vocab) = (self.pass(resident, with, rows), resident.model.config.vocab);
        (0..times).try_for_each(|_| {
            pass.logits_of(self.saved.normed.address, rows, self.logits.address, vocab)
        })
    }

    pub(super) fn queue_plain(&self, resident: &Resident, with: With, rows: usize) -> Result<()> {
        let (device, model) = (&resident.device, &resident.model);
        let config = &model.config;
        let (hidden, layers) = (config.hidden, config.layers);
        let inputs = args![&self.states, &self.tokens, &self.positions, rows as i32];
        device.launch("decode_inputs", Launch::each(rows), inputs)?;
        let embed = model.arena.at(model.plan.embed.offset);
        let stream = self.stream.address;
        device.launch(
            "embed",
            Launch::rows(rows, hidden),
            args![&self.tokens, embed, stream, hidden as i32],
        )?;
        let pass = self.pass(resident, with, rows);
        for layer in 0..layers {
            pass.forward(layer, stream, stream, &self.saved)?;
        }
        self.queue_logits(resident, with, rows)
    }

    /// Queues the logits of the stream's rows.
    pub(super) fn queue_logits(&self, resident: &Resident, with: With, rows: usize) -> Result<()> {
        let (pass, normed, model) = (
            self.pass(resident, with, rows),
            self.saved.normed.address,
            &resident.model,
        );
        pass.norm(self.stream.address, model.plan.norm.offset, normed, rows)?;
        pass.logits_of(normed, rows, self.logits.address, model.config.vocab)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_survive_their_words() {
        let state = SlotState {
            seed: 1 << 63,
            token: 151_643,
            position: 40_000,
            length: 7,
            limit: 600,
            done: true,
        };
        assert_eq!(SlotState::from_words(state.words()), state);
        assert_eq!(
            state.words()[1],
            0x9c40_0002_505b,
            "token first, as the struct of sample.cu"
        );
    }

    #[test]
    fn draws_carry_their_stops() {
        let draw = sample::Draw {
            temperature: 0.5,
            top_k: 40,
            top_p: 0.9,
            min_p: 0.0,
        };
        let words = draw_words(draw, &[5, 6]);
        assert_eq!(
            words[..7],
            [0.5f32.to_bits(), 0.9f32.to_bits(), 0, 40, 2, 5, 6]
        );
        assert_eq!(draw_words(draw, &[1; 20])[4], 13);
    }
}
