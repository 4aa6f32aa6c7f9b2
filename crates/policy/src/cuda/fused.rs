//! A decode step with five kernels per layer: the products of `decode_product.cu`, which include
//! norms, the MLP's activation, residual sums and adapters, and attention, which includes biases,
//! head norms, the rotation and the cache's new entry.

use super::chain::Chain;
use super::decode_product::{Kind, Plan, Work};
use super::decoder::Decoder;
use super::device::{Address, Launch, args};
use super::error::Result;
use super::linear::Adapted;
use super::model::Model;
use super::plan::Group;
use super::resident::{Resident, With};
use super::step::TokenAttention;
use super::workspace::StepSpace;
use crate::model::Config;

/// A group's adapter in the form that kernels take.
#[derive(Clone, Copy)]
struct Low {
    a: Address,
    /// The B matrix of each module of the group, or null.
    b: [Address; 3],
    rank: usize,
    scale: f32,
    /// Low-rank values that a tile needs: those of its own module, or of gate and up.
    tile: usize,
}

const NO_LOW: Low = Low {
    a: Address::NULL,
    b: [Address::NULL; 3],
    rank: 0,
    scale: 0.0,
    tile: 0,
};

fn low(adapted: Option<Adapted>, layer: usize, group: Group) -> Low {
    let Some(Adapted { adapter, .. }) = adapted else {
        return NO_LOW;
    };
    let (config, parts) = (
        &adapter.plan.config,
        &adapter.plan.layers[layer][group as usize].parts,
    );
    let Some(first) = parts.first() else {
        return NO_LOW;
    };
    let mut b = [Address::NULL; 3];
    for part in parts {
        let module = group
            .modules()
            .iter()
            .position(|module| *module == part.module);
        b[module.expect("a part is of its group")] = adapter.arena.at(part.b.offset);
    }
    let together = if group == Group::GateUp {
        parts.len()
    } else {
        1
    };
    Low {
        a: adapter.arena.at(first.a.offset),
        b,
        rank: config.rank,
        scale: config.scale(),
        tile: together * config.rank,
    }
}

fn kind(group: Group) -> Kind {
    match group {
        Group::Qkv => Kind::Store,
        Group::O | Group::Down => Kind::Add,
        Group::GateUp => Kind::Gate,
    }
}

/// The outputs of a group's modules. For gate and up these are only gate's.
fn outputs(config: &Config, group: Group) -> [usize; 3] {
    let mut outputs = [0; 3];
    for (to, module) in outputs.iter_mut().zip(group.modules()) {
        *to = module.shape(config).0;
    }
    if group == Group::GateUp {
        outputs[1] = 0;
    }
    outputs
}

fn work(config: &Config, group: Group, rows: usize, low: usize) -> Work {
    Work {
        kind: kind(group),
        rows,
        inputs: group.shape(config).1,
        outputs: outputs(config, group),
        low,
    }
}

/// Whether there is a plan for every product of a step.
fn serves(config: &Config, adapted: Option<Adapted>, rows: usize) -> bool {
    let eights = adapted.is_none_or(|adapted| adapted.adapter.plan.config.rank.is_multiple_of(8));
    let planned = |group: &Group| {
        Plan::new(work(config, *group, rows, low(adapted, 0, *group).tile)).is_some()
    };
    eights && Group::ALL.iter().all(planned)
}

/// A step that is being queued.
struct Step<'a> {
    chain: &'a Chain,
    model: &'a Model,
    adapted: Option<Adapted<'a>>,
    space: &'a StepSpace,
    rows: usize,
    /// Number of parts of the stream's squares.
    parts: usize,
}

impl Step<'_> {
    /// A layer's product of a group.
    fn project(
        &mut self,
        layer: usize,
        group: Group,
        x: Address,
        y: Address,
        norm: Option<usize>,
    ) -> Result<()> {
        let (model, low) = (self.model, low(self.adapted, layer, group));
        let work = work(&model.config, group, self.rows, low.tile);
        let plan = Plan::new(work).expect("asked before the step was queued");
        let StepSpace { copy, squares } = self.space;
        let weight = model
            .arena
            .at(model.plan.layers[layer].weights[group as usize][0].offset);
        let norm = norm.map_or(Address::NULL, |offset| model.arena.at(offset));
        let ([b0, b1, b2], int) = (low.b, |value: usize| value as i32);
        let [o0, o1, o2] = work.outputs.map(int);
        let (parts, rows, inputs, rank) = (
            int(self.parts),
            int(work.rows),
            int(work.inputs),
            int(low.rank),
        );
        let [tiles, groups, lows] = [plan.tiles, plan.groups, plan.lows].map(int);
        let [across, per, part] = [plan.across, plan.per, plan.part].map(int);
        let (eps, scale) = (model.config.norm_eps as f32, low.scale);
        let arguments = args![
            x, norm, squares, weight, low.a, b0, b1, b2, y, copy, squares, parts, rows, inputs, o0,
            o1, o2, rank, tiles, groups, lows, across, per, part, eps, scale,
        ];
        let launch = Launch {
            grid: (plan.tiles, plan.slices, 1),
            threads: plan.threads(),
            shared: plan.shared(),
        };
        self.chain
            .cluster(work.kind.kernel(plan.pad), launch, arguments)?;
        if work.kind == Kind::Add {
            self.parts = plan.tiles;
        }
        Ok(())
    }
}

impl Decoder {
    /// Queues one step of the first `rows` slots, if the kernels support this number.
    pub(super) fn queue_fused(&self, resident: &Resident, with: With, rows: usize) -> Result<bool> {
        let (Some(chain), Some(space)) = (&resident.chain, &self.space) else {
            return Ok(false);
        };
        let (model, adapted) = (&resident.model, resident.adapted(with, None));
        if !serves(&model.config, adapted, rows) {
            return Ok(false);
        }
        let (stream, positions, saved) = (self.stream.address, self.positions.address, &self.saved);
        let [qkv, attended, active] =
            [&saved.qkv, &saved.attended, &saved.active].map(|buffer| buffer.address);
        let copy = space.copy.address;
        self.begin_step(resident, chain, rows, Some(space))?;
        let attention = TokenAttention {
            chain,
            model,
            cache: &self.cache,
            rows,
            positions,
            kernel: "step_attention",
        };
        let mut step = Step {
            chain,
            model,
            adapted,
            space,
            rows,
            parts: 1,
        };
        for (layer, plan) in model.plan.layers.iter().enumerate() {
            step.project(layer, Group::Qkv, copy, qkv, Some(plan.input_norm.offset))?;
            attention.queue(layer, qkv, attended)?;
            step.project(layer, Group::O, attended, stream, None)?;
            step.project(
                layer,
                Group::GateUp,
                copy,
                active,
                Some(plan.post_norm.offset),
            )?;
            step.project(layer, Group::Down, active, stream, None)?;
        }
        self.queue_logits(resident, with, rows)?;
        self.end_step(resident, chain, rows)?;
        Ok(true)
    }
}
