//! One transformer layer backward.

use super::batch::Batch;
use super::device::{Address, Launch, args};
use super::error::Result;
use super::layer::Pass;
use super::plan::{Group, Place};
use super::workspace::{BackwardSpace, PARTS, Saved};

/// Gradients of a norm's outputs and inputs, and whether those of the inputs are added to what is
/// there.
#[derive(Clone, Copy)]
struct NormFlow {
    dy: Address,
    dx: Address,
    stride: usize,
    add: bool,
}

/// Rows of a norm: the address of x, the distance of its memory rows, and the number of heads in
/// each.
#[derive(Clone, Copy)]
struct NormRows {
    x: Address,
    stride: usize,
    rows: usize,
    width: usize,
    heads: usize,
}

impl Pass<'_> {
    /// Turns the gradient of the output, in `space.d`, into that of the input, and adds those of
    /// trained parts.
    pub(super) fn backward(
        &self,
        layer: usize,
        x: Address,
        saved: &Saved,
        batch: &Batch,
        space: &BackwardSpace,
    ) -> Result<()> {
        let Self { model, rows, .. } = *self;
        let plan = &model.plan.layers[layer];
        self.backward_mlp(layer, saved, space)?;
        let o = self.projection(layer, Group::O);
        let (d, d_attended) = (space.d.address, space.d_attended.address);
        o.backward(
            saved.attended.address,
            d,
            rows,
            d_attended,
            self.scratch(saved, Group::O),
        )?;
        let (delta, d_qkv) = (space.delta.address, space.d_qkv.address);
        self.attention(batch, saved)
            .backward(saved.attended.address, d_attended, delta, d_qkv)?;
        self.rotate(d_qkv, -1.0)?;
        self.backward_head_norms(layer, saved, space)?;
        if let Some(bias) = &plan.bias {
            self.bias_gradient(bias[0], space)?;
        }
        let qkv = self.projection(layer, Group::Qkv);
        let d_normed = space.d_normed.address;
        qkv.backward(
            saved.normed.address,
            d_qkv,
            rows,
            d_normed,
            self.scratch(saved, Group::Qkv),
        )?;
        self.backward_norm(x, plan.input_norm, space)
    }

    fn backward_mlp(&self, layer: usize, saved: &Saved, space: &BackwardSpace) -> Result<()> {
        let Self {
            device,
            model,
            rows,
            ..
        } = *self;
        let ffn = model.config.ffn;
        let (d_active, d_gate_up) = (space.d_active.address, space.d_gate_up.address);
        let down = self.projection(layer, Group::Down);
        down.backward(
            saved.active.address,
            space.d.address,
            rows,
            d_active,
            self.scratch(saved, Group::Down),
        )?;
        let eights = rows * ffn / 8;
        let arguments = args![
            &saved.gate_up,
            d_active,
            d_gate_up,
            ffn as i32,
            eights as i64
        ];
        device.launch("swiglu_backward", Launch::each(eights), arguments)?;
        let gate_up = self.projection(layer, Group::GateUp);
        let (normed, d_normed) = (saved.mlp_normed.address, space.d_normed.address);
        gate_up.backward(
            normed,
            d_gate_up,
            rows,
            d_normed,
            self.scratch(saved, Group::GateUp),
        )?;
        self.backward_norm(
            saved.middle.address,
            model.plan.layers[layer].post_norm,
            space,
        )
    }

    /// Adds the gradient through a norm of the residual stream, from
    /// `space.d_normed`, to `space.d`.
    fn backward_norm(&self, x: Address, weight: Place, space: &BackwardSpace) -> Result<()> {
        let width = self.model.config.hidden;
        let norm = NormRows {
            x,
            stride: width,
            rows: self.rows,
            width,
            heads: 1,
        };
        let flow = NormFlow {
            dy: space.d_normed.address,
            dx: space.d.address,
            stride: width,
            add: true,
        };
        self.norm_input(norm, weight, flow, space)?;
        self.norm_weight(norm, weight, flow.dy, width, space)
    }

    fn norm_input(
        &self,
        norm: NormRows,
        weight: Place,
        flow: NormFlow,
        space: &BackwardSpace,
    ) -> Result<()> {
        let NormFlow {
            dy,
            dx,
            stride: d_stride,
            add,
        } = flow;
        let NormRows {
            x,
            stride,
            rows,
            width,
            heads,
        } = norm;
        let (w, inverse) = (self.model.arena.at(weight.offset), space.inverse.address);
        let (stride, d_stride) = (stride as i64, d_stride as i64);
        let (eps, add) = (self.eps(), i32::from(add));
        let arguments = args![
            x,
            stride,
            w,
            dy,
            dx,
            d_stride,
            inverse,
            width as i32,
            heads as i32,
            eps,
            add
        ];
        self.device
            .launch("rms_backward", Launch::rows(rows * heads, width), arguments)
    }

    /// Adds the gradient of a norm's weight, if it is trained. Inverse roots must be in
    /// `space.inverse`.
    fn norm_weight(
        &self,
        norm: NormRows,
        weight: Place,
        dy: Address,
        d_stride: usize,
        space: &BackwardSpace,
    ) -> Result<()> {
        let Some(gradient) = self.model.arena.gradient(weight.offset) else {
            return Ok(());
        };
        let NormRows {
            x,
            stride,
            rows,
            width,
            heads,
        } = norm;
        let (count, width, heads) = ((rows * heads) as i32, width as i32, heads as i32);
        let (inverse, partial) = (space.inverse.address, space.partial.address);
        let arguments = args![
            x,
            stride as i64,
            dy,
            d_stride as i64,
            inverse,
            partial,
            count,
            width,
            heads
        ];
        let grid = Launch::grid((width as usize).div_ceil(256), PARTS, 1, 256);
        self.device.launch("rms_weight_partial", grid, arguments)?;
        self.finish_columns(gradient, width as usize, space)
    }

    fn finish_columns(&self, gradient: Address, width: usize, space: &BackwardSpace) -> Result<()> {
        let arguments = args![&space.partial, gradient, PARTS as i32, width as i32];
        self.device
            .launch("column_finish", Launch::each(width), arguments)
    }

    fn bias_gradient(&self, bias: Place, space: &BackwardSpace) -> Result<()> {
        let Some(gradient) = self.model.arena.gradient(bias.offset) else {
            return Ok(());
        };
        let width = self.model.qkv_width();
        let arguments = args![
            &space.d_qkv,
            width as i64,
            &space.partial,
            self.rows as i32,
            width as i32
        ];
        self.device.launch(
            "column_partial",
            Launch::grid(width.div_ceil(256), PARTS, 1, 256),
            arguments,
        )?;
        self.finish_columns(gradient, width, space)
    }

    /// Replaces the gradient after the head norms by the one before them.
    fn backward_head_norms(
        &self,
        layer: usize,
        saved: &Saved,
        space: &BackwardSpace,
    ) -> Result<()> {
        let Self {
            device,
            model,
            rows,
            ..
        } = *self;
        let (config, plan) = (&model.config, &model.plan.layers[layer]);
        let (Some(raw), Some(q_norm), Some(k_norm)) = (&saved.raw, plan.q_norm, plan.k_norm) else {
            return Ok(());
        };
        let (stride, width) = (model.qkv_width(), config.head_dim);
        for (heads, column, weight) in [
            (config.heads, 0, q_norm),
            (config.kv_heads, config.q_width(), k_norm),
        ] {
            let part = |at: Address| at.plus(device.reals(column));
            let (x, d) = (part(raw.address), part(space.d_qkv.address));
            let norm = NormRows {
                x,
                stride,
                rows,
                width,
                heads,
            };
            // The weight's gradient reads values that the input's gradient overwrites.
            let arguments = args![
                x,
                stride as i64,
                &space.inverse,
                width as i32,
                heads as i32,
                self.eps()
            ];
            device.launch("rms_inverse", Launch::rows(rows * heads, width), arguments)?;
            self.norm_weight(norm, weight, d, stride, space)?;
            let flow = NormFlow {
                dy: d,
                dx: d,
                stride,
                add: false,
            };
            self.norm_input(norm, weight, flow, space)?;
        }
        Ok(())
    }

    /// Adds the gradient through the head's norm of gathered rows: `dx` is replaced.
    pub(super) fn backward_final_norm(
        &self,
        x: Address,
        dy: Address,
        dx: Address,
        rows: usize,
        space: &BackwardSpace,
    ) -> Result<()> {
        let (width, weight) = (self.model.config.hidden, self.model.plan.norm);
        let norm = NormRows {
            x,
            stride: width,
            rows,
            width,
            heads: 1,
        };
        let flow = NormFlow {
            dy,
            dx,
            stride: width,
            add: false,
        };
        self.norm_input(norm, weight, flow, space)?;
        self.norm_weight(norm, weight, dy, width, space)
    }

    /// Adds the gradient of the embedding, if it is trained.
    pub(super) fn embed_gradient(&self, batch: &Batch, space: &BackwardSpace) -> Result<()> {
        let Some(gradient) = self.model.arena.gradient(self.model.plan.embed.offset) else {
            return Ok(());
        };
        let width = self.model.config.hidden;
        let Batch {
            tokens,
            order,
            starts,
            distinct,
            ..
        } = *batch;
        let arguments = args![tokens, order, starts, &space.d, gradient, width as i32];
        self.device.launch(
            "embed_gradient",
            Launch::grid(distinct, 1, 1, 256),
            arguments,
        )
    }
}
