//! The memory of a pass: the activations that forward leaves for backward, and scratch memory.

use super::decode_product::ROWS;
use super::device::{Address, Buffer, Device};
use super::error::{Error, Result};
use super::plan::Group;
use crate::model::Config;

/// What a pass is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Logprobs, or a prompt's cache.
    Score,
    /// Gradients. `keep` keeps every layer's activations instead of recomputing them.
    Learn { keep: bool },
}

/// Number of parts of the rows for row sums.
pub(super) const PARTS: usize = 64;

/// Values of one chunk of logits: 1 GiB in f32.
const LOGITS: usize = 1 << 28;

/// The shape of a workspace.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size<'a> {
    pub(super) config: &'a Config,
    pub(super) rows: usize,
    /// The widest group of low-rank values in a row; 0 without an adapter.
    pub(super) low: usize,
    /// Whether adapters drop inputs.
    pub(super) drops: bool,
    pub(super) purpose: Purpose,
}

/// The activations of a layer's forward pass.
pub(super) struct Saved {
    pub(super) normed: Buffer,
    /// q, k and v before their head norms, if the family has them.
    pub(super) raw: Option<Buffer>,
    pub(super) qkv: Buffer,
    pub(super) attended: Buffer,
    pub(super) lse: Buffer,
    pub(super) middle: Buffer,
    pub(super) mlp_normed: Buffer,
    pub(super) gate_up: Buffer,
    pub(super) active: Buffer,
    /// The low-rank values of each group.
    pub(super) lows: [Buffer; 4],
}

impl Saved {
    pub(super) fn new(device: &Device, size: Size) -> Result<Self> {
        let Size {
            config, rows, low, ..
        } = size;
        let reals = |width: usize| device.alloc("activations", device.reals(rows * width));
        let qkv = config.q_width() + 2 * config.kv_width();
        let lows = [reals(low)?, reals(low)?, reals(low)?, reals(low)?];
        Ok(Self {
            normed: reals(config.hidden)?,
            raw: config.qk_norm().then(|| reals(qkv)).transpose()?,
            qkv: reals(qkv)?,
            attended: reals(config.q_width())?,
            lse: device.alloc("activations", rows * config.heads * 4)?,
            middle: reals(config.hidden)?,
            mlp_normed: reals(config.hidden)?,
            gate_up: reals(2 * config.ffn)?,
            active: reals(config.ffn)?,
            lows,
        })
    }

    fn bytes(size: Size, real: usize) -> usize {
        let Size {
            config, rows, low, ..
        } = size;
        let qkv = (config.q_width() + 2 * config.kv_width()) * if config.qk_norm() { 2 } else { 1 };
        let values = 3 * config.hidden + qkv + config.q_width() + 3 * config.ffn + 4 * low;
        rows * (values * real + config.heads * 4)
    }
}

/// Scratch of a backward pass.
pub(super) struct BackwardSpace {
    /// Gradient of the residual stream.
    pub(super) d: Buffer,
    /// Gradient of a norm's output.
    pub(super) d_normed: Buffer,
    pub(super) d_active: Buffer,
    pub(super) d_gate_up: Buffer,
    pub(super) d_attended: Buffer,
    pub(super) d_qkv: Buffer,
    pub(super) d_low: Buffer,
    pub(super) delta: Buffer,
    pub(super) inverse: Buffer,
    pub(super) partial: Buffer,
}

impl BackwardSpace {
    fn new(device: &Device, size: Size) -> Result<Self> {
        let Size {
            config, rows, low, ..
        } = size;
        let reals =
            |width: usize| device.alloc("gradients of activations", device.reals(rows * width));
        let qkv = config.q_width() + 2 * config.kv_width();
        let widest = config.hidden.max(qkv);
        Ok(Self {
            d: reals(config.hidden)?,
            d_normed: reals(config.hidden)?,
            d_active: reals(config.ffn)?,
            d_gate_up: reals(2 * config.ffn)?,
            d_attended: reals(config.q_width())?,
            d_qkv: reals(qkv)?,
            d_low: reals(low)?,
            delta: device.alloc("gradients of activations", rows * config.heads * 4)?,
            inverse: device.alloc("gradients of activations", rows * config.heads * 4)?,
            partial: device.alloc("partial sums", PARTS * widest * 4)?,
        })
    }

    fn bytes(size: Size, real: usize) -> usize {
        let Size {
            config, rows, low, ..
        } = size;
        let qkv = config.q_width() + 2 * config.kv_width();
        let values = 2 * config.hidden + 3 * config.ffn + config.q_width() + qkv + low;
        rows * (values * real + config.heads * 8)
    }
}

/// Scratch of the head, for a chunk of rows.
pub(super) struct HeadSpace {
    pub(super) chunk: usize,
    pub(super) gathered: Buffer,
    pub(super) normed: Buffer,
    pub(super) d_normed: Buffer,
    pub(super) logits: Buffer,
    pub(super) d_logits: Option<Buffer>,
    pub(super) scores: Buffer,
    pub(super) facts: Buffer,
    pub(super) slopes: Buffer,
    pub(super) rows: Buffer,
    pub(super) tokens: Buffer,
}

impl HeadSpace {
    /// Rows of a chunk.
    fn chunk(size: Size) -> usize {
        (LOGITS / size.config.vocab)
            .clamp(16, 4096)
            .min(size.rows.next_multiple_of(16))
    }

    fn new(device: &Device, size: Size) -> Result<Self> {
        let chunk = Self::chunk(size);
        let (hidden, vocab) = (size.config.hidden, size.config.vocab);
        let reals = |width: usize| device.alloc("the head", device.reals(chunk * width));
        let words = |count: usize| device.alloc("the head", chunk * count * 4);
        let learns = size.purpose != Purpose::Score;
        Ok(Self {
            chunk,
            gathered: reals(hidden)?,
            normed: reals(hidden)?,
            d_normed: reals(hidden)?,
            logits: words(vocab)?,
            d_logits: learns.then(|| reals(vocab)).transpose()?,
            scores: words(2)?,
            facts: words(2)?,
            slopes: words(1)?,
            rows: words(1)?,
            tokens: words(1)?,
        })
    }

    fn bytes(size: Size, real: usize) -> usize {
        let learns = usize::from(size.purpose != Purpose::Score);
        Self::chunk(size)
            * (3 * size.config.hidden * real + size.config.vocab * (4 + learns * real) + 32)
    }
}

/// The memory of passes over at most `rows` rows.
pub(super) struct Workspace {
    pub(super) rows: usize,
    purpose: Purpose,
    low: usize,
    pub(super) saved: Vec<Saved>,
    /// The residual stream before each layer and after the last; two in turn if nothing is learned.
    pub(super) streams: Vec<Buffer>,
    pub(super) ints: Buffer,
    pub(super) dropped: Option<Buffer>,
    pub(super) backward: Option<BackwardSpace>,
    pub(super) head: HeadSpace,
}

/// Maximum number of integers per row of a batch; see `batch.rs`.
pub(super) const INTS: usize = 11;

impl Workspace {
    /// All bytes of a workspace.
    pub(super) fn bytes(size: Size, real: usize) -> u64 {
        let Size {
            config,
            rows,
            drops,
            purpose,
            ..
        } = size;
        let (sets, streams) = match purpose {
            Purpose::Score => (1, 2),
            Purpose::Learn { keep: false } => (1, config.layers + 1),
            Purpose::Learn { keep: true } => (config.layers, config.layers + 1),
        };
        let mut bytes = sets * Saved::bytes(size, real)
            + streams * rows * config.hidden * real
            + rows * INTS * 4;
        if drops {
            bytes += rows * widest_input(config) * real;
        }
        if purpose != Purpose::Score {
            bytes += BackwardSpace::bytes(size, real);
        }
        (bytes + HeadSpace::bytes(size, real)) as u64
    }

    pub(super) fn new(device: &Device, size: Size) -> Result<Self> {
        let Size {
            config,
            rows,
            low,
            drops,
            purpose,
        } = size;
        let (free, total) = device.memory()?;
        let wanted = Self::bytes(size, device.precision().bytes());
        if wanted > free {
            // Most of it grows with the rows, so the share of free memory is about the share of
            // rows that fit.
            let fit = (rows as u64 * free / wanted * 9 / 10 / 64 * 64).max(1);
            let what = format!("a pass over {rows} tokens ({purpose:?})");
            let fits = format!(
                "about {fit} tokens at once would fit: lower the tokens of a pack or turn \
                 recompute on"
            );
            return Err(Error::OutOfMemory {
                what,
                wanted,
                free,
                total,
                fits,
            });
        }
        let (sets, streams) = match purpose {
            Purpose::Score => (1, 2),
            Purpose::Learn { keep } => (if keep { config.layers } else { 1 }, config.layers + 1),
        };
        let stream = |_| device.alloc("the residual stream", device.reals(rows * config.hidden));
        let dropped = || device.alloc("dropped inputs", device.reals(rows * widest_input(config)));
        let backward = || BackwardSpace::new(device, size);
        Ok(Self {
            rows,
            purpose,
            low,
            saved: (0..sets)
                .map(|_| Saved::new(device, size))
                .collect::<Result<_>>()?,
            streams: (0..streams).map(stream).collect::<Result<_>>()?,
            ints: device.alloc("a batch", (rows * INTS + 64) * 4)?,
            dropped: drops.then(dropped).transpose()?,
            backward: (purpose != Purpose::Score).then(backward).transpose()?,
            head: HeadSpace::new(device, size)?,
        })
    }

    /// Whether a pass of this size fits.
    pub(super) fn serves(&self, size: Size) -> bool {
        let purpose = match (self.purpose, size.purpose) {
            (Purpose::Learn { .. }, Purpose::Score) => true,
            (have, want) => have == want,
        };
        purpose
            && self.rows >= size.rows
            && self.low >= size.low
            && (self.dropped.is_some() || !size.drops)
    }

    /// A layer's activations: its own set, or the one that all layers share.
    pub(super) fn saved(&self, layer: usize) -> &Saved {
        &self.saved[layer % self.saved.len()]
    }

    /// The residual stream before a layer.
    pub(super) fn stream(&self, layer: usize) -> Address {
        self.streams[layer % self.streams.len()].address
    }

    pub(super) fn dropped(&self) -> Address {
        self.dropped
            .as_ref()
            .map_or(Address::NULL, |dropped| dropped.address)
    }
}

fn widest_input(config: &Config) -> usize {
    Group::ALL
        .into_iter()
        .map(|group| group.shape(config).1)
        .max()
        .unwrap_or(0)
}
/// Scratch memory of the products in a fused decode step.
pub(super) struct StepSpace {
    /// The stream's rows in woven order (`tensor.cu`).
    pub(super) copy: Buffer,
    /// Sums of squares of the stream's rows: (rows, parts), a part for each tile of the product
    /// that wrote them.
    pub(super) squares: Buffer,
}

impl StepSpace {
    pub(super) fn new(device: &Device, config: &Config) -> Result<Self> {
        Ok(Self {
            copy: device.alloc("decoding", device.reals(ROWS * config.hidden))?,
            squares: device.alloc("decoding", config.hidden.div_ceil(32) * ROWS * 4)?,
        })
    }
}
