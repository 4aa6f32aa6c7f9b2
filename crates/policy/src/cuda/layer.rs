//! One transformer layer forward, over a pack or over one new token of each answer.

use super::attention::Attention;
use super::batch::Batch;
use super::blas::Blas;
use super::cache::{Cache, NewRows};
use super::device::{Address, Device, Launch, args};
use super::error::Result;
use super::linear::{Adapted, Projection, Scratch};
use super::model::Model;
use super::plan::Group;
use super::workspace::Saved;

/// What a layer's queries attend to.
#[derive(Clone, Copy)]
pub(super) enum Sight<'a> {
    /// The rows before them in their own sequence. Keys and values also go to a cache, if there is
    /// one.
    Pack(&'a Batch, Option<&'a Cache>),
    /// A cache, in which row n is slot n.
    Cache(&'a Cache),
}

/// A pass over some rows, layer by layer.
#[derive(Clone, Copy)]
pub(super) struct Pass<'a> {
    pub(super) device: &'a Device,
    pub(super) blas: &'a Blas,
    pub(super) model: &'a Model,
    pub(super) adapted: Option<Adapted<'a>>,
    pub(super) rows: usize,
    pub(super) positions: Address,
    pub(super) sight: Sight<'a>,
    /// Scratch memory of adapters: gradients of low-rank values, and dropped inputs.
    pub(super) d_low: Address,
    pub(super) dropped: Address,
}

impl<'a> Pass<'a> {
    pub(super) fn eps(&self) -> f32 {
        self.model.config.norm_eps as f32
    }

    /// Whether each row is the new token of an answer, rather than a part of a pack.
    fn decodes(&self) -> bool {
        matches!(self.sight, Sight::Cache(_))
    }

    pub(super) fn projection(&self, layer: usize, group: Group) -> Projection<'a> {
        let Self {
            device,
            blas,
            model,
            adapted,
            ..
        } = *self;
        Projection::new(device, blas, model, adapted, layer, group)
    }

    pub(super) fn scratch(&self, saved: &Saved, group: Group) -> Scratch {
        Scratch {
            low: saved.lows[group as usize].address,
            d_low: self.d_low,
            dropped: self.dropped,
        }
    }

    /// Norms rows of the residual stream.
    pub(super) fn norm(&self, x: Address, weight: usize, y: Address, rows: usize) -> Result<()> {
        let width = self.model.config.hidden;
        let (stride, weight) = (width as i64, self.model.arena.at(weight));
        let arguments = args![x, stride, weight, y, stride, width as i32, 1i32, self.eps()];
        self.device
            .launch("rms_forward", Launch::rows(rows, width), arguments)
    }

    /// Computes the layer's output from its input. In decoding the output replaces the input.
    pub(super) fn forward(
        &self,
        layer: usize,
        x: Address,
        out: Address,
        saved: &Saved,
    ) -> Result<()> {
        let Self {
            device,
            model,
            rows,
            ..
        } = *self;
        let config = &model.config;
        let stream = device.reals(rows * config.hidden);
        let plan = &model.plan.layers[layer];
        self.before_attention(layer, x, saved)?;
        self.attend(layer, saved)?;
        // Decoding has no backward pass, so the stream may be updated in place.
        let decodes = self.decodes();
        let (middle, out) = if decodes {
            (x, x)
        } else {
            (saved.middle.address, out)
        };
        let carry = |from: Address, to: Address| {
            if decodes {
                Ok(())
            } else {
                device.copy(to, from, stream)
            }
        };
        carry(x, middle)?;
        let scratch = |group| self.scratch(saved, group);
        let o = self.projection(layer, Group::O);
        o.forward(
            saved.attended.address,
            rows,
            middle,
            true,
            scratch(Group::O),
        )?;
        self.norm(
            middle,
            plan.post_norm.offset,
            saved.mlp_normed.address,
            rows,
        )?;
        let gate_up = self.projection(layer, Group::GateUp);
        gate_up.forward(
            saved.mlp_normed.address,
            rows,
            saved.gate_up.address,
            false,
            scratch(Group::GateUp),
        )?;
        self.activate(saved)?;
        carry(middle, out)?;
        let down = self.projection(layer, Group::Down);
        down.forward(saved.active.address, rows, out, true, scratch(Group::Down))
    }

    /// Norm, q, k and v, their biases or head norms, and the rotation. In decoding `place_token`
    /// does the rotation and, without head norms, the biases.
    fn before_attention(&self, layer: usize, x: Address, saved: &Saved) -> Result<()> {
        let Self {
            device,
            model,
            rows,
            ..
        } = *self;
        let (config, plan) = (&model.config, &model.plan.layers[layer]);
        let width = model.qkv_width();
        self.norm(x, plan.input_norm.offset, saved.normed.address, rows)?;
        let qkv = saved.qkv.address;
        let to = saved.raw.as_ref().map_or(qkv, |raw| raw.address);
        let projection = self.projection(layer, Group::Qkv);
        projection.forward(
            saved.normed.address,
            rows,
            to,
            false,
            self.scratch(saved, Group::Qkv),
        )?;
        let decodes = self.decodes();
        if let Some(bias) = plan
            .bias
            .as_ref()
            .filter(|_| !decodes || plan.q_norm.is_some())
        {
            let arguments = args![qkv, model.arena.at(bias[0].offset), width as i32];
            device.launch("add_bias", Launch::rows(rows, width), arguments)?;
        }
        if let (Some(q_norm), Some(k_norm)) = (plan.q_norm, plan.k_norm) {
            device.copy(qkv, to, device.reals(rows * width))?;
            for (heads, column, norm) in [
                (config.heads, 0, q_norm),
                (config.kv_heads, config.q_width(), k_norm),
            ] {
                let part = |at: Address| at.plus(device.reals(column));
                let (stride, weight) = (width as i64, model.arena.at(norm.offset));
                let dim = config.head_dim;
                let arguments = args![
                    part(to),
                    stride,
                    weight,
                    part(qkv),
                    stride,
                    dim as i32,
                    heads as i32,
                    self.eps()
                ];
                device.launch("rms_forward", Launch::rows(rows * heads, dim), arguments)?;
            }
        }
        if decodes {
            Ok(())
        } else {
            self.rotate(qkv, 1.0)
        }
    }

    /// Rotates q and k by their positions, or back.
    pub(super) fn rotate(&self, qkv: Address, sign: f32) -> Result<()> {
        let Self {
            device,
            model,
            rows,
            positions,
            ..
        } = *self;
        let config = &model.config;
        let (heads, kv_heads, dim) = (
            config.heads as i32,
            config.kv_heads as i32,
            config.head_dim as i32,
        );
        let arguments = args![
            qkv,
            positions,
            &model.cosines,
            &model.sines,
            heads,
            kv_heads,
            dim,
            sign
        ];
        device.launch("rope", Launch::rows(rows, model.qkv_width()), arguments)
    }

    fn attend(&self, layer: usize, saved: &Saved) -> Result<()> {
        let Self {
            device,
            model,
            rows,
            positions,
            ..
        } = *self;
        let config = &model.config;
        match self.sight {
            Sight::Pack(batch, cache) => {
                if let Some(cache) = cache {
                    let new = NewRows {
                        qkv: saved.qkv.address,
                        positions,
                        count: rows,
                    };
                    cache.store(device, config, layer, new, batch.slots)?;
                }
                self.attention(batch, saved).forward(saved.attended.address)
            }
            Sight::Cache(cache) => {
                let plan = &model.plan.layers[layer];
                let bias = plan.bias.as_ref().filter(|_| plan.q_norm.is_none());
                let bias = bias.map_or(Address::NULL, |bias| model.arena.at(bias[0].offset));
                let [keys, values] = cache.places(layer);
                let (heads, kv_heads, dim) = (
                    config.heads as i32,
                    config.kv_heads as i32,
                    config.head_dim as i32,
                );
                let (qkv, capacity) = (saved.qkv.address, cache.capacity as i32);
                let (cosines, sines) = (&model.cosines, &model.sines);
                let arguments = args![
                    qkv, bias, positions, cosines, sines, keys, values, capacity, heads, kv_heads,
                    dim
                ];
                device.launch(
                    "place_token",
                    Launch::rows(rows, model.qkv_width() * 4),
                    arguments,
                )?;
                let new = NewRows {
                    qkv,
                    positions,
                    count: rows,
                };
                cache.attend(device, config, layer, new, saved.attended.address)
            }
        }
    }

    pub(super) fn attention<'b>(&'b self, batch: &'b Batch, saved: &Saved) -> Attention<'b> {
        let (qkv, lse) = (saved.qkv.address, saved.lse.address);
        Attention {
            device: self.device,
            config: &self.model.config,
            batch,
            qkv,
            lse,
        }
    }

    fn activate(&self, saved: &Saved) -> Result<()> {
        let ffn = self.model.config.ffn;
        let eights = self.rows * ffn / 8;
        let arguments = args![&saved.gate_up, &saved.active, ffn as i32, eights as i64];
        self.device
            .launch("swiglu_forward", Launch::each(eights), arguments)
    }
}
