//! The four products of a layer, with their adapters: `y = x W' + scale * (drop(x) A') B'`.

use super::arena::Arena;
use super::blas::Blas;
use super::device::{Address, Device, Launch, args};
use super::error::Result;
use super::model::Model;
use super::plan::{AdapterPlan, Group, LoraGroup, LoraPart};
use super::product::{Dims, Operand, Target};

/// Maximum number of rows and maximum width of low-rank values in `lora_rows`, as in lora.cu.
const FEW_ROWS: usize = 64;
const FEW_WIDTH: usize = 192;
/// Maximum number of parts of a group, and the rows and outputs per block.
const FEW_PARTS: usize = 3;
const FEW_TOGETHER: usize = 4;
const FEW_OUTPUTS: usize = 1024;

/// An adapter on the device.
pub(super) struct DeviceAdapter {
    pub(super) plan: AdapterPlan,
    pub(super) arena: Arena,
}

/// An adapter as one pass uses it.
#[derive(Clone, Copy)]
pub(super) struct Adapted<'a> {
    pub(super) adapter: &'a DeviceAdapter,
    /// Seed of this pass's dropout; `None` switches it off.
    pub(super) dropout_seed: Option<u64>,
}

/// Which inputs of an adapter are dropped, as on the CPU.
#[derive(Clone, Copy)]
struct Dropout {
    rate: f32,
    key: u64,
}

/// A group's adapter.
struct GroupLora<'a> {
    arena: &'a Arena,
    group: &'a LoraGroup,
    rank: usize,
    scale: f32,
    dropout: Option<Dropout>,
}

/// One product of a layer as a pass uses it.
pub(super) struct Projection<'a> {
    device: &'a Device,
    blas: &'a Blas,
    arena: &'a Arena,
    /// Where the matrix begins in the arena.
    offset: usize,
    outputs: usize,
    inputs: usize,
    lora: Option<GroupLora<'a>>,
}

/// Rows of inputs.
#[derive(Clone, Copy)]
struct Rows {
    at: Address,
    count: usize,
}

/// The scratch memory of a product's adapter.
#[derive(Clone, Copy)]
pub(super) struct Scratch {
    /// (rows, parts * rank): kept between forward and backward.
    pub(super) low: Address,
    /// The same shape, for its gradient.
    pub(super) d_low: Address,
    /// (rows, inputs), if inputs are dropped.
    pub(super) dropped: Address,
}

impl<'a> Projection<'a> {
    /// The product of a group of a layer.
    pub(super) fn new(
        device: &'a Device,
        blas: &'a Blas,
        model: &'a Model,
        adapted: Option<Adapted<'a>>,
        layer: usize,
        group: Group,
    ) -> Self {
        let offset = model.plan.layers[layer].weights[group as usize][0].offset;
        let (outputs, inputs) = group.shape(&model.config);
        let lora = adapted.and_then(
            |Adapted {
                 adapter,
                 dropout_seed,
             }| {
                let config = &adapter.plan.config;
                let key = |seed: u64| {
                    seed.wrapping_mul(4096)
                        .wrapping_add(layer as u64)
                        .wrapping_mul(8)
                };
                let rate = config.dropout;
                let dropout = dropout_seed.filter(|_| rate > 0.0).map(|seed| Dropout {
                    rate,
                    key: key(seed),
                });
                let group = &adapter.plan.layers[layer][group as usize];
                let (rank, scale) = (config.rank, config.scale());
                (!group.parts.is_empty()).then_some(GroupLora {
                    arena: &adapter.arena,
                    group,
                    rank,
                    scale,
                    dropout,
                })
            },
        );
        Self {
            device,
            blas,
            arena: &model.arena,
            offset,
            outputs,
            inputs,
            lora,
        }
    }

    fn weight(&self) -> Operand {
        Operand::rows(self.arena.at(self.offset), self.inputs)
    }

    /// The address of a part's low-rank values in a row.
    fn reals(&self, at: Address, columns: usize) -> Address {
        at.plus(self.device.reals(columns))
    }

    /// Projects `rows` rows of x into y, or adds them to y.
    pub(super) fn forward(
        &self,
        x: Address,
        rows: usize,
        y: Address,
        add: bool,
        scratch: Scratch,
    ) -> Result<()> {
        let target = if add {
            Target::add(y, self.outputs)
        } else {
            Target::set(y, self.outputs)
        };
        let dims = Dims(rows, self.outputs, self.inputs);
        self.blas.product(
            Operand::rows(x, self.inputs),
            self.weight().t(),
            target,
            dims,
            1.0,
        )?;
        let Some(lora) = &self.lora else {
            return Ok(());
        };
        if self.few(lora, rows) {
            return self.forward_few(lora, Rows { at: x, count: rows }, y, scratch.low);
        }
        let width = lora.group.parts.len() * lora.rank;
        self.down(lora, x, rows, scratch)?;
        for (nth, part) in lora.group.parts.iter().enumerate() {
            let low = Operand::rows(self.reals(scratch.low, nth * lora.rank), width);
            let b = Operand::rows(lora.arena.at(part.b.offset), lora.rank);
            let to = Target::add(self.reals(y, part.column), self.outputs);
            self.blas.product(
                low,
                b.t(),
                to,
                Dims(rows, part.outputs, lora.rank),
                lora.scale,
            )?;
        }
        Ok(())
    }

    /// Whether a single kernel computes an adapter's part faster than products.
    fn few(&self, lora: &GroupLora, rows: usize) -> bool {
        let fits = lora.rank.is_multiple_of(8) && lora.group.parts.len() * lora.rank <= FEW_WIDTH;
        fits && rows <= FEW_ROWS && lora.dropout.is_none() && self.inputs.is_multiple_of(8)
    }

    /// An adapter's part for few rows.
    fn forward_few(&self, lora: &GroupLora, x: Rows, y: Address, low: Address) -> Result<()> {
        let Rows { at: x, count: rows } = x;
        let parts = &lora.group.parts;
        let b = |nth: usize| {
            parts
                .get(nth)
                .map_or(Address::NULL, |part| lora.arena.at(part.b.offset))
        };
        let column = |nth: usize| parts.get(nth).map_or(0, |part| part.column) as i32;
        let outputs = |nth: usize| parts.get(nth).map_or(0, |part| part.outputs) as i32;
        let all: i32 = (0..FEW_PARTS).map(outputs).sum();
        let a = lora.arena.at(parts[0].a.offset);
        let (inputs, stride, rank) = (self.inputs as i32, self.outputs as i32, lora.rank as i32);
        let arguments = args![
            x,
            a,
            b(0),
            b(1),
            b(2),
            low,
            y,
            rows as i32,
            inputs,
            stride,
            rank,
            rank * parts.len() as i32,
            column(0),
            column(1),
            column(2),
            outputs(0),
            outputs(1),
            outputs(2),
            lora.scale,
        ];
        let splits = (all as usize).div_ceil(FEW_OUTPUTS);
        self.device.launch(
            "lora_rows",
            Launch::grid(rows.div_ceil(FEW_TOGETHER), splits, 1, 512),
            arguments,
        )
    }

    /// `drop(x) A'` of every part. Without dropout this is one product, because all parts share
    /// their input.
    fn down(&self, lora: &GroupLora, x: Address, rows: usize, scratch: Scratch) -> Result<()> {
        let (rank, inputs) = (lora.rank, self.inputs);
        let width = lora.group.parts.len() * rank;
        if lora.dropout.is_none() {
            let a = Operand::rows(lora.arena.at(lora.group.parts[0].a.offset), inputs);
            let to = Target::set(scratch.low, width);
            return self.blas.product(
                Operand::rows(x, inputs),
                a.t(),
                to,
                Dims(rows, width, inputs),
                1.0,
            );
        }
        for (nth, part) in lora.group.parts.iter().enumerate() {
            self.drop_inputs(
                lora,
                part,
                Rows { at: x, count: rows },
                scratch.dropped,
                false,
            )?;
            let a = Operand::rows(lora.arena.at(part.a.offset), inputs);
            let to = Target::set(self.reals(scratch.low, nth * rank), width);
            self.blas.product(
                Operand::rows(scratch.dropped, inputs),
                a.t(),
                to,
                Dims(rows, rank, inputs),
                1.0,
            )?;
        }
        Ok(())
    }

    fn drop_inputs(
        &self,
        lora: &GroupLora,
        part: &LoraPart,
        x: Rows,
        to: Address,
        add: bool,
    ) -> Result<()> {
        let Some(Dropout { rate, key }) = lora.dropout else {
            return Ok(());
        };
        let count = x.count * self.inputs;
        let key = key.wrapping_add(part.module as u64);
        self.device.launch(
            "dropout",
            Launch::each(count),
            args![x.at, to, count as i64, rate, key, i32::from(add)],
        )
    }

    /// Replaces dx by the gradient of x, and adds those of trained parts.
    pub(super) fn backward(
        &self,
        x: Address,
        dy: Address,
        rows: usize,
        dx: Address,
        scratch: Scratch,
    ) -> Result<()> {
        let (outputs, inputs) = (self.outputs, self.inputs);
        let d_out = Operand::rows(dy, outputs);
        self.blas.product(
            d_out,
            self.weight(),
            Target::set(dx, inputs),
            Dims(rows, inputs, outputs),
            1.0,
        )?;
        if let Some(gradient) = self.arena.gradient(self.offset) {
            let to = Target::gradient(gradient, inputs);
            self.blas.product(
                d_out.t(),
                Operand::rows(x, inputs),
                to,
                Dims(outputs, inputs, rows),
                1.0,
            )?;
        }
        match &self.lora {
            Some(lora) => self.backward_lora(lora, Rows { at: x, count: rows }, dy, dx, scratch),
            None => Ok(()),
        }
    }

    fn backward_lora(
        &self,
        lora: &GroupLora,
        x: Rows,
        dy: Address,
        dx: Address,
        scratch: Scratch,
    ) -> Result<()> {
        let Rows { at: x, count: rows } = x;
        let (rank, inputs, scale) = (lora.rank, self.inputs, lora.scale);
        let width = lora.group.parts.len() * rank;
        for (nth, part) in lora.group.parts.iter().enumerate() {
            let d_out = Operand::rows(self.reals(dy, part.column), self.outputs);
            let b = Operand::rows(lora.arena.at(part.b.offset), rank);
            let d_low = Target::set(self.reals(scratch.d_low, nth * rank), width);
            self.blas
                .product(d_out, b, d_low, Dims(rows, rank, part.outputs), scale)?;
            if let Some(gradient) = lora.arena.gradient(part.b.offset) {
                let low = Operand::rows(self.reals(scratch.low, nth * rank), width);
                let to = Target::gradient(gradient, rank);
                self.blas
                    .product(d_out.t(), low, to, Dims(part.outputs, rank, rows), scale)?;
            }
        }
        if lora.dropout.is_some() {
            return self.backward_dropped(lora, x, rows, dx, scratch);
        }
        let first = lora.group.parts[0].a.offset;
        let d_low = Operand::rows(scratch.d_low, width);
        if let Some(gradient) = lora.arena.gradient(first) {
            let to = Target::gradient(gradient, inputs);
            self.blas.product(
                d_low.t(),
                Operand::rows(x, inputs),
                to,
                Dims(width, inputs, rows),
                1.0,
            )?;
        }
        let a = Operand::rows(lora.arena.at(first), inputs);
        self.blas.product(
            d_low,
            a,
            Target::add(dx, inputs),
            Dims(rows, inputs, width),
            1.0,
        )
    }

    fn backward_dropped(
        &self,
        lora: &GroupLora,
        x: Address,
        rows: usize,
        dx: Address,
        scratch: Scratch,
    ) -> Result<()> {
        let (rank, inputs) = (lora.rank, self.inputs);
        let width = lora.group.parts.len() * rank;
        for (nth, part) in lora.group.parts.iter().enumerate() {
            let d_low = Operand::rows(self.reals(scratch.d_low, nth * rank), width);
            if let Some(gradient) = lora.arena.gradient(part.a.offset) {
                self.drop_inputs(
                    lora,
                    part,
                    Rows { at: x, count: rows },
                    scratch.dropped,
                    false,
                )?;
                let dropped = Operand::rows(scratch.dropped, inputs);
                let to = Target::gradient(gradient, inputs);
                self.blas
                    .product(d_low.t(), dropped, to, Dims(rank, inputs, rows), 1.0)?;
            }
            let a = Operand::rows(lora.arena.at(part.a.offset), inputs);
            self.blas.product(
                d_low,
                a,
                Target::set(scratch.dropped, inputs),
                Dims(rows, inputs, rank),
                1.0,
            )?;
            let gradient = Rows {
                at: scratch.dropped,
                count: rows,
            };
            self.drop_inputs(lora, part, gradient, dx, true)?;
        }
        Ok(())
    }
}
