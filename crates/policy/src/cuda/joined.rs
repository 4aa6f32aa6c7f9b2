//! A decode step with cuBLAS's products and as little as possible between them. Attention takes
//! rows as the previous product leaves them. Every kernel of ours is already waiting when the
//! product before it ends.

use super::chain::Follows;
use super::decoder::Decoder;
use super::device::{Address, Launch, args};
use super::error::Result;
use super::plan::Group;
use super::resident::{Resident, With};
use super::step::TokenAttention;

/// The widest stream whose norm fits in one block's registers.
pub(super) const WIDEST: usize = 8192;

impl Decoder {
    /// Queues one step of the first `rows` slots, if there are kernels for it.
    pub(super) fn queue_joined(
        &self,
        resident: &Resident,
        with: With,
        rows: usize,
    ) -> Result<bool> {
        let Some(chain) = &resident.chain else {
            return Ok(false);
        };
        let (model, saved, pass) = (
            &resident.model,
            &self.saved,
            self.pass(resident, with, rows),
        );
        let (stream, positions) = (self.stream.address, self.positions.address);
        let [normed, qkv, attended] =
            [&saved.normed, &saved.qkv, &saved.attended].map(|buffer| buffer.address);
        let [mlp_normed, gate_up, active] =
            [&saved.mlp_normed, &saved.gate_up, &saved.active].map(|it| it.address);
        let project = |layer: usize, group: Group, x: Address, y: Address, add: bool| {
            pass.projection(layer, group)
                .forward(x, rows, y, add, pass.scratch(saved, group))
        };
        let norm = |weight: usize, y: Address| {
            let hidden = model.config.hidden;
            let launch = Launch::grid(rows, 1, 1, hidden.div_ceil(8).next_multiple_of(32));
            let arguments = args![stream, model.arena.at(weight), y, hidden as i32, pass.eps()];
            chain.launch("step_rms", launch, Follows::Kernel, arguments)
        };
        let activate = || {
            let (ffn, eights) = (model.config.ffn, rows * model.config.ffn / 8);
            let arguments = args![gate_up, active, ffn as i32, eights as i64];
            chain.launch(
                "step_swiglu",
                Launch::each(eights),
                Follows::Kernel,
                arguments,
            )
        };
        let attention = TokenAttention {
            chain,
            model,
            cache: &self.cache,
            rows,
            positions,
            kernel: "step_attention_rows",
        };
        self.begin_step(resident, chain, rows, None)?;
        for (layer, plan) in model.plan.layers.iter().enumerate() {
            norm(plan.input_norm.offset, normed)?;
            project(layer, Group::Qkv, normed, qkv, false)?;
            attention.queue(layer, qkv, attended)?;
            project(layer, Group::O, attended, stream, true)?;
            norm(plan.post_norm.offset, mlp_normed)?;
            project(layer, Group::GateUp, mlp_normed, gate_up, false)?;
            activate()?;
            project(layer, Group::Down, active, stream, true)?;
        }
        norm(model.plan.norm.offset, normed)?;
        pass.logits_of(normed, rows, self.logits.address, model.config.vocab)?;
        self.end_step(resident, chain, rows)?;
        Ok(true)
    }
}
