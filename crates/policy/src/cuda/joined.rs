//! A decode step by cuBLAS's products, with as little between them as can be: attention takes rows as the product before
//! leaves them, and every kernel of ours is there, waiting, when the product before it ends.

use super::cache::Cache;
use super::chain::{Chain, Follows};
use super::decoder::Decoder;
use super::device::{Address, Launch, args};
use super::engine::{Engine, With};
use super::error::Result;
use super::model::Model;
use super::plan::Group;

/// The widest stream whose norm has room in one block's registers.
pub(super) const WIDEST: usize = 8192;

/// Attention of every slot's new token over its cache, with all that stands between it and the product before: biases,
/// head norms, the rotation, and the cache's new entry.
pub(super) struct TokenAttention<'a> {
    pub(super) chain: &'a Chain,
    pub(super) model: &'a Model,
    pub(super) cache: &'a Cache,
    pub(super) rows: usize,
    pub(super) positions: Address,
    /// Whose products take the results: `step_attention` or `step_attention_rows`.
    pub(super) kernel: &'static str,
}

impl TokenAttention<'_> {
    pub(super) fn queue(&self, layer: usize, qkv: Address, y: Address) -> Result<()> {
        let Self { model, cache, positions, .. } = *self;
        let (config, plan) = (&model.config, &model.plan.layers[layer]);
        let at = |offset: Option<usize>| offset.map_or(Address::NULL, |offset| model.arena.at(offset));
        let bias = at(plan.bias.as_ref().map(|bias| bias[0].offset));
        let (q_norm, k_norm) = (at(plan.q_norm.map(|place| place.offset)), at(plan.k_norm.map(|place| place.offset)));
        let [keys, values] = cache.places(layer);
        let [partial, bounds, arrivals] = cache.scratch();
        let (cosines, sines) = (&model.cosines, &model.sines);
        let (capacity, heads, kv_heads) = (cache.capacity as i32, config.heads as i32, config.kv_heads as i32);
        let (scale, eps) = (1.0 / (config.head_dim as f32).sqrt(), config.norm_eps as f32);
        let arguments = args![
            qkv, keys, values, positions, bias, q_norm, k_norm, cosines, sines, partial, bounds, arrivals, y, capacity,
            heads, kv_heads, scale, eps,
        ];
        self.chain.launch(self.kernel, cache.grid(config, self.rows, 256), Follows::Kernel, arguments)
    }
}

impl Decoder {
    /// Queues the embeddings of the last tokens and, for products that fold norms in, what these need of them.
    pub(super) fn begin_step(
        &self,
        engine: &Engine,
        chain: &Chain,
        rows: usize,
        (copy, squares): (Address, Address),
    ) -> Result<()> {
        let (model, hidden) = (&engine.model, engine.model.config.hidden);
        let embed = model.arena.at(model.plan.embed.offset);
        let arguments = args![&self.states, embed, &self.positions, &self.stream, copy, squares, hidden as i32];
        chain.launch("step_begin", Launch::rows(rows, hidden), Follows::Anything, arguments)
    }

    /// Queues the draws from the logits.
    pub(super) fn end_step(&self, engine: &Engine, chain: &Chain, rows: usize) -> Result<()> {
        let Self { logits, draw, states, out_tokens, out_logprobs, answer, .. } = self;
        let vocab = engine.model.config.vocab as i32;
        let arguments = args![logits, draw, states, out_tokens, out_logprobs, *answer as i32, vocab];
        chain.launch("step_sample", Launch::grid(rows, 1, 1, 1024), Follows::Kernel, arguments)
    }

    /// Queues one step of the first `rows` slots, if there are kernels for it.
    pub(super) fn queue_joined(&self, engine: &Engine, with: With, rows: usize) -> Result<bool> {
        let Some(chain) = &engine.decoding.chain else { return Ok(false) };
        let (model, saved, pass) = (&engine.model, &self.saved, self.pass(engine, with, rows));
        let (stream, positions) = (self.stream.address, self.positions.address);
        let [normed, qkv, attended] = [&saved.normed, &saved.qkv, &saved.attended].map(|buffer| buffer.address);
        let [mlp_normed, gate_up, active] = [&saved.mlp_normed, &saved.gate_up, &saved.active].map(|it| it.address);
        let project = |layer: usize, group: Group, x: Address, y: Address, add: bool| {
            pass.projection(layer, group).forward(x, rows, y, add, pass.scratch(saved, group))
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
            chain.launch("step_swiglu", Launch::each(eights), Follows::Kernel, arguments)
        };
        let attention =
            TokenAttention { chain, model, cache: &self.cache, rows, positions, kernel: "step_attention_rows" };
        self.begin_step(engine, chain, rows, (Address::NULL, Address::NULL))?;
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
        self.end_step(engine, chain, rows)?;
        Ok(true)
    }
}
