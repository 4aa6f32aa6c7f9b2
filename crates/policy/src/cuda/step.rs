//! The common parts of decode steps with our own kernels: begin, attention and drawing.

use super::cache::Cache;
use super::chain::{Chain, Follows};
use super::decoder::Decoder;
use super::device::{Address, Launch, args};
use super::error::Result;
use super::model::Model;
use super::resident::Resident;
use super::workspace::StepSpace;

/// Attention of every slot's new token over its cache, with everything between it and the previous
/// product: biases, head norms, the rotation, and the cache's new entry.
pub(super) struct TokenAttention<'a> {
    pub(super) chain: &'a Chain,
    pub(super) model: &'a Model,
    pub(super) cache: &'a Cache,
    pub(super) rows: usize,
    pub(super) positions: Address,
    /// The kernel for the products that take the results:
    /// `step_attention` or `step_attention_rows`.
    pub(super) kernel: &'static str,
}

impl TokenAttention<'_> {
    pub(super) fn queue(&self, layer: usize, qkv: Address, y: Address) -> Result<()> {
        let Self {
            model,
            cache,
            positions,
            ..
        } = *self;
        let (config, plan) = (&model.config, &model.plan.layers[layer]);
        let at =
            |offset: Option<usize>| offset.map_or(Address::NULL, |offset| model.arena.at(offset));
        let bias = at(plan.bias.as_ref().map(|bias| bias[0].offset));
        let (q_norm, k_norm) = (
            at(plan.q_norm.map(|place| place.offset)),
            at(plan.k_norm.map(|place| place.offset)),
        );
        let [keys, values] = cache.places(layer);
        let [partial, bounds, arrivals] = cache.scratch();
        let (cosines, sines) = (&model.cosines, &model.sines);
        let (capacity, heads, kv_heads) = (
            cache.capacity as i32,
            config.heads as i32,
            config.kv_heads as i32,
        );
        let (scale, eps) = (
            1.0 / (config.head_dim as f32).sqrt(),
            config.norm_eps as f32,
        );
        let arguments = args![
            qkv, keys, values, positions, bias, q_norm, k_norm, cosines, sines, partial, bounds,
            arrivals, y, capacity, heads, kv_heads, scale, eps,
        ];
        self.chain.launch(
            self.kernel,
            cache.grid(config, self.rows, 256),
            Follows::Kernel,
            arguments,
        )
    }
}

impl Decoder {
    /// Queues the embeddings of the last tokens and, for products that include norms, the values
    /// that these need.
    pub(super) fn begin_step(
        &self,
        resident: &Resident,
        chain: &Chain,
        rows: usize,
        folded: Option<&StepSpace>,
    ) -> Result<()> {
        let copy = folded.map_or(Address::NULL, |space| space.copy.address);
        let squares = folded.map_or(Address::NULL, |space| space.squares.address);
        let (model, hidden) = (&resident.model, resident.model.config.hidden);
        let embed = model.arena.at(model.plan.embed.offset);
        let arguments = args![
            &self.states,
            embed,
            &self.positions,
            &self.stream,
            copy,
            squares,
            hidden as i32
        ];
        chain.launch(
            "step_begin",
            Launch::rows(rows, hidden),
            Follows::Anything,
            arguments,
        )
    }

    /// Queues the draws from the logits.
    pub(super) fn end_step(&self, resident: &Resident, chain: &Chain, rows: usize) -> Result<()> {
        let Self {
            logits,
            draw,
            states,
            out_tokens,
            out_logprobs,
            answer,
            ..
        } = self;
        let vocab = resident.model.config.vocab as i32;
        let arguments = args![
            logits,
            draw,
            states,
            out_tokens,
            out_logprobs,
            *answer as i32,
            vocab
        ];
        chain.launch(
            "step_sample",
            Launch::grid(rows, 1, 1, 1024),
            Follows::Kernel,
            arguments,
        )
    }
}
