//! Selects the attention kernels and their grids.

use super::batch::Batch;
use super::device::{Address, Device, Launch, args};
use super::error::Result;
use super::kernels::has_flash;
use crate::model::Config;

/// Attention over a pack.
#[derive(Clone, Copy)]
pub(super) struct Attention<'a> {
    pub(super) device: &'a Device,
    pub(super) config: &'a Config,
    pub(super) batch: &'a Batch,
    pub(super) qkv: Address,
    pub(super) lse: Address,
}

/// Names of the kernels for heads of one width: forward, forward of two heads at once, dq, dk and
/// dv.
fn names(dim: usize) -> [&'static str; 4] {
    match dim {
        16 => [
            "flash_forward_16",
            "flash_forward_pair_16",
            "flash_dq_16",
            "flash_dkv_16",
        ],
        32 => [
            "flash_forward_32",
            "flash_forward_pair_32",
            "flash_dq_32",
            "flash_dkv_32",
        ],
        64 => [
            "flash_forward_64",
            "flash_forward_pair_64",
            "flash_dq_64",
            "flash_dkv_64",
        ],
        96 => [
            "flash_forward_96",
            "flash_forward_pair_96",
            "flash_dq_96",
            "flash_dkv_96",
        ],
        128 => [
            "flash_forward_128",
            "flash_forward_pair_128",
            "flash_dq_128",
            "flash_dkv_128",
        ],
        _ => unreachable!("has_flash knows no heads of {dim}"),
    }
}

impl Attention<'_> {
    fn flash(&self) -> bool {
        has_flash(self.device.precision(), self.config.head_dim)
    }

    fn counts(&self) -> (i32, i32, i32) {
        (
            self.config.heads as i32,
            self.config.kv_heads as i32,
            self.config.head_dim as i32,
        )
    }

    fn scale(&self) -> f32 {
        1.0 / (self.config.head_dim as f32).sqrt()
    }

    /// One block per tile and head, with room for `tiles` tiles whose rows are 16 bytes longer than
    /// a head. Heads of a tile are neighbours, because tiles are sorted by their work and heads
    /// share what they read.
    fn tiles(&self, heads: usize, tiles: usize) -> Launch {
        let shared = tiles * 64 * (self.config.head_dim + 8) * 2;
        Launch {
            grid: (self.batch.tile_count * heads, 1, 1),
            threads: 128,
            shared,
        }
    }

    pub(super) fn forward(&self, y: Address) -> Result<()> {
        let (heads, kv_heads, dim) = self.counts();
        let Batch {
            rows, first, tiles, ..
        } = *self.batch;
        if self.flash() {
            let arguments = args![self.qkv, tiles, y, self.lse, heads, kv_heads, self.scale()];
            let [one, pair, ..] = names(dim as usize);
            // Two heads share what they read if both fit. On many GPUs two heads of 128 values do
            // not.
            let paired = (heads / kv_heads) % 2 == 0
                && self.tiles(1, 6).shared <= self.device.shared_limit();
            let (name, at_once) = if paired { (pair, 2) } else { (one, 1) };
            return self.device.launch(
                name,
                self.tiles(heads as usize / at_once, at_once + 4),
                arguments,
            );
        }
        let arguments = args![
            self.qkv,
            first,
            y,
            self.lse,
            heads,
            kv_heads,
            dim,
            self.scale()
        ];
        self.device.launch(
            "attention_plain",
            Launch::grid(rows, heads as usize, 1, 32),
            arguments,
        )
    }

    /// Replaces `d_qkv` by the gradient of q, k and v after the rotation.
    pub(super) fn backward(
        &self,
        y: Address,
        dy: Address,
        delta: Address,
        d_qkv: Address,
    ) -> Result<()> {
        let (heads, kv_heads, dim) = self.counts();
        let Batch {
            rows,
            first,
            last,
            tiles,
            ..
        } = *self.batch;
        let Self {
            device, qkv, lse, ..
        } = *self;
        let scale = self.scale();
        let grid = |heads: i32| Launch::grid(rows, heads as usize, 1, 32);
        let each = Launch::rows(rows, heads as usize * 16 * 8);
        device.launch("attention_delta", each, args![y, dy, delta, heads, dim])?;
        if self.flash() {
            let [.., dq, dkv] = names(dim as usize);
            let arguments = args![qkv, tiles, dy, lse, delta, d_qkv, heads, kv_heads, scale];
            device.launch(dq, self.tiles(heads as usize, 4), arguments)?;
            return device.launch(dkv, self.tiles(kv_heads as usize, 4), arguments);
        }
        let with = |bound: Address| {
            args![
                qkv, bound, dy, lse, delta, d_qkv, heads, kv_heads, dim, scale
            ]
            .to_vec()
        };
        device.launch("attention_plain_dq", grid(heads), &with(first))?;
        device.launch("attention_plain_dkv", grid(kv_heads), &with(last))
    }
}
