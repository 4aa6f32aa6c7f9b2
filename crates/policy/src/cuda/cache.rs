//! Keys and values of answers in progress, one slot per answer, and attention of new tokens over
//! them.

use super::device::{Address, Buffer, Device, Launch, args};
use super::error::{Error, Result};
use super::kernels;
use crate::model::Config;

/// Keys per block of `decode_attention`, as in decode.cu.
const RUN: usize = 512;
/// Query heads that share a block there.
const SHARE: usize = 8;

/// The cache of all slots: (layers, keys or values, slots, capacity, `kv_width`).
pub(super) struct Cache {
    buffer: Buffer,
    pub(super) slots: usize,
    /// Tokens of a slot.
    pub(super) capacity: usize,
    /// Bytes of one layer's keys.
    layer: usize,
    /// 0, 1, 2, ...: row n of a decode step is slot n.
    pub(super) identity: Buffer,
    partial: Buffer,
    bounds: Buffer,
    /// Finished runs of each row and key head; zero between steps.
    arrivals: Buffer,
}

pub(super) fn slot_bytes(device: &Device, config: &Config, capacity: usize) -> usize {
    2 * config.layers * device.reals(capacity * config.kv_width())
}

/// New rows of q, k and v for a cache, and the positions of their tokens.
#[derive(Clone, Copy)]
pub(super) struct NewRows {
    pub(super) qkv: Address,
    pub(super) positions: Address,
    pub(super) count: usize,
}

/// Which tokens are copied from one slot to others.
#[derive(Clone, Copy)]
pub(super) struct Copies {
    /// The source slot.
    pub(super) from: usize,
    /// The number of tokens, from the first.
    pub(super) rows: usize,
    /// The address of the target slots' numbers, and their count.
    pub(super) targets: Address,
    pub(super) count: usize,
}

impl Cache {
    pub(super) fn new(
        device: &Device,
        config: &Config,
        slots: usize,
        capacity: usize,
    ) -> Result<Self> {
        let each = slot_bytes(device, config, capacity);
        let fitting = |_, free: u64| format!("{} of them would fit", free / each as u64);
        let what = format!("the cache of {slots} answers of {capacity} tokens");
        let buffer = device
            .alloc(&what, slots * each)
            .map_err(|error: Error| error.advise(fitting))?;
        let identity: Vec<i32> = (0..slots as i32).collect();
        let results = slots * config.heads * capacity.div_ceil(RUN);
        Ok(Self {
            buffer,
            slots,
            capacity,
            layer: device.reals(slots * capacity * config.kv_width()),
            identity: device.upload("slots", &identity)?,
            partial: device.alloc("attention", results * config.head_dim * 4)?,
            bounds: device.alloc("attention", results * 2 * 4)?,
            arrivals: device.zeros("attention", slots * config.heads * 4)?,
        })
    }

    fn keys(&self, layer: usize) -> Address {
        self.buffer.address.plus(2 * layer * self.layer)
    }

    fn values(&self, layer: usize) -> Address {
        self.keys(layer).plus(self.layer)
    }

    /// Copies k and v of every row to its slot and position.
    pub(super) fn store(
        &self,
        device: &Device,
        config: &Config,
        layer: usize,
        new: NewRows,
        slots: Address,
    ) -> Result<()> {
        let NewRows {
            qkv,
            positions,
            count: rows,
        } = new;
        let (q, kv, capacity) = (
            config.q_width() as i32,
            config.kv_width() as i32,
            self.capacity as i32,
        );
        let arguments = args![
            qkv,
            self.keys(layer),
            self.values(layer),
            slots,
            positions,
            capacity,
            q,
            kv
        ];
        device.launch(
            "store_cache",
            Launch::rows(rows, config.kv_width()),
            arguments,
        )
    }

    /// Room for the results of runs: their values, their bounds, and the number of finished ones.
    pub(super) fn scratch(&self) -> [Address; 3] {
        [&self.partial, &self.bounds, &self.arrivals].map(|buffer| buffer.address)
    }

    /// Blocks of the attention of new tokens.
    pub(super) fn grid(&self, config: &Config, rows: usize, threads: usize) -> Launch {
        let parts = config.group().div_ceil(SHARE);
        Launch::grid(
            rows,
            config.kv_heads * parts,
            self.capacity.div_ceil(RUN),
            threads,
        )
    }

    /// The addresses of a layer's keys and values.
    pub(super) fn places(&self, layer: usize) -> [Address; 2] {
        [self.keys(layer), self.values(layer)]
    }

    /// Copies the first tokens of a slot to other slots.
    pub(super) fn fan_out(&self, device: &Device, config: &Config, copies: Copies) -> Result<()> {
        let Copies {
            from,
            rows,
            targets,
            count,
        } = copies;
        let [from, capacity, kv] = [from, self.capacity, config.kv_width()].map(|it| it as i32);
        for layer in 0..config.layers {
            let arguments = args![
                self.keys(layer),
                self.values(layer),
                targets,
                from,
                capacity,
                kv
            ];
            let threads = Launch::rows(1, config.kv_width()).threads;
            device.launch(
                "copy_cache",
                Launch::grid(rows, count, 1, threads),
                arguments,
            )?;
        }
        Ok(())
    }

    /// Attention of one new token of each of the first `rows` slots.
    pub(super) fn attend(
        &self,
        device: &Device,
        config: &Config,
        layer: usize,
        new: NewRows,
        y: Address,
    ) -> Result<()> {
        let NewRows {
            qkv,
            positions,
            count: rows,
        } = new;
        let (heads, kv_heads, dim) = (config.heads, config.kv_heads, config.head_dim);
        let runs = self.capacity.div_ceil(RUN);
        let grid = |threads| self.grid(config, rows, threads);
        let (keys, values) = (self.keys(layer), self.values(layer));
        let (capacity, scale) = (self.capacity as i32, 1.0 / (dim as f32).sqrt());
        let Self {
            partial,
            bounds,
            arrivals,
            ..
        } = self;
        if let Some(kernel) = kernels::decode_flash(device.precision(), dim) {
            let (heads, kv_heads) = (heads as i32, kv_heads as i32);
            let arguments = args![
                qkv, keys, values, positions, partial, bounds, arrivals, y, capacity, heads,
                kv_heads, scale
            ];
            return device.launch(kernel, grid(256), arguments);
        }
        let lanes = (dim / 8).next_power_of_two();
        let arguments = args![
            qkv,
            keys,
            values,
            positions,
            partial,
            bounds,
            capacity,
            heads as i32,
            kv_heads as i32,
            dim as i32,
            lanes as i32,
            scale,
        ];
        device.launch("decode_attention", grid(128), arguments)?;
        let arguments = args![
            partial,
            bounds,
            positions,
            y,
            heads as i32,
            dim as i32,
            runs as i32
        ];
        device.launch(
            "decode_join",
            Launch::grid(rows, heads, 1, dim.next_multiple_of(32)),
            arguments,
        )
    }
}
