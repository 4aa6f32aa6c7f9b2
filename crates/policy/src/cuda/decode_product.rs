//! The shapes in which the products of `decode_product.cu` run: tiles, slices and shared memory, no device involved.

use std::ops::RangeInclusive;

use super::way::Tuning;

/// Rows of a launch at most, as `decode_product.cu` has it.
pub(super) const ROWS: usize = 64;
/// Inputs of a chunk, and outputs of a warp.
const CHUNK: usize = 32;
/// Groups of outputs of a block at most.
const GROUPS: usize = 8;
/// Warps of a block at most.
const WARPS: usize = 16;
/// Slices of the inputs at most, `STEP_SLICES` of `decode_tile.cu`: blocks that any device takes as a cluster.
const SLICES: usize = 8;
/// Parts that rows come to shared memory in, `STEP_PARTS` of `decode_tile.cu`.
const PARTS: usize = 4;
/// Shared memory that a block must be able to have.
pub(super) const BLOCK: usize = 227 << 10;
/// What it may ask for of that: the rest it holds by itself.
const SHARED: usize = BLOCK - 4096;

/// What becomes of a product's sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// They are kept.
    Store,
    /// They are added to the residual stream.
    Add,
    /// They are gate and up of the MLP.
    Gate,
}

impl Kind {
    /// The kernel for so many rows.
    pub(super) fn kernel(self, pad: usize) -> &'static str {
        let names = match self {
            Self::Store => ["step_store_16", "step_store_32", "step_store_64"],
            Self::Add => ["step_add_16", "step_add_32", "step_add_64"],
            Self::Gate => ["step_gate_16", "step_gate_32", "step_gate_64"],
        };
        names[pad.ilog2() as usize - 4]
    }
}

/// A product.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    pub(super) kind: Kind,
    pub(super) rows: usize,
    pub(super) inputs: usize,
    /// Outputs of each module; of gate alone where there is up too.
    pub(super) outputs: [usize; 3],
    /// Low-rank values of an adapter that a tile needs.
    pub(super) low: usize,
}

/// How it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan {
    /// Rows of the kernel: 16, 32 or 64.
    pub(super) pad: usize,
    pub(super) tiles: usize,
    pub(super) groups: usize,
    pub(super) lows: usize,
    pub(super) across: usize,
    /// Slices of the inputs, each a block of a cluster.
    pub(super) slices: usize,
    /// Chunks of a slice.
    pub(super) per: usize,
    /// Chunks of a slice that come to shared memory together.
    pub(super) part: usize,
}

/// Values of a row of so many chunks in shared memory, and of sums of so many groups: `step_pitch` and `step_sum_pitch`.
fn pitch(chunks: usize) -> usize {
    chunks * CHUNK + 8
}

impl Plan {
    /// A plan, if the kernels can serve the work.
    pub(super) fn new(work: Work, tuning: Tuning) -> Option<Self> {
        match work.kind {
            Kind::Gate => Self::with(work, tuning, (gate_groups(work, tuning), tuning.across), 1),
            Kind::Store | Kind::Add => {
                let groups = if tuning.split_groups > 0 {
                    vec![tuning.split_groups]
                } else {
                    vec![1, 2, 4]
                };
                let best = |slices: RangeInclusive<usize>| {
                    let shapes = groups
                        .iter()
                        .flat_map(|groups| slices.clone().map(move |slices| (*groups, slices)));
                    let plan = |(groups, slices)| {
                        Self::with(work, tuning, (groups, tuning.split_across), slices)
                    };
                    shapes
                        .filter_map(plan)
                        .min_by_key(|plan| plan.reads(tuning.blocks))
                };
                let wished = if tuning.slices > 0 {
                    best(tuning.slices..=tuning.slices)
                } else {
                    None
                };
                wished.or_else(|| best(1..=SLICES))
            }
        }
    }

    /// Values that a multiprocessor reads, rows and weights, where all share the blocks.
    fn reads(&self, multiprocessors: usize) -> usize {
        let resident = (SHARED / self.shared()).clamp(1, 2);
        let waves = (self.tiles * self.slices).div_ceil(multiprocessors * resident);
        let at_once = (self.tiles * self.slices)
            .div_ceil(multiprocessors)
            .min(resident);
        waves * at_once * (self.pad + self.groups * CHUNK) * self.per * CHUNK
    }

    fn with(
        work: Work,
        tuning: Tuning,
        (groups, wish): (usize, usize),
        wanted: usize,
    ) -> Option<Self> {
        let lows = work.low.div_ceil(CHUNK);
        // Two warps at least share the inputs, so that a multiprocessor has enough of them.
        let most = tuning.warps.max((2 * (groups + lows)).min(WARPS));
        if work.rows == 0
            || work.rows > ROWS
            || groups + lows > WARPS
            || !work.inputs.is_multiple_of(CHUNK)
        {
            return None;
        }
        let pad = work.rows.next_power_of_two().max(16);
        let wide = groups * CHUNK;
        let tiles: usize = match work.kind {
            Kind::Gate => work.outputs[0].div_ceil(wide / 2),
            _ => work
                .outputs
                .iter()
                .map(|outputs| outputs.div_ceil(wide))
                .sum(),
        };
        let chunks = work.inputs / CHUNK;
        let per = chunks.div_ceil(wanted);
        let mut across = wish;
        while across > 1 && ((groups + lows) * across > most || across > per.next_power_of_two()) {
            across /= 2;
        }
        let slices = chunks.div_ceil(per);
        // A part is a whole number of turns of all warps, so that weights under way belong to the next.
        let turn = across
            * if pad == ROWS {
                tuning.depth_full
            } else {
                tuning.depth
            };
        let part = per.div_ceil(PARTS).next_multiple_of(turn);
        let plan = Self {
            pad,
            tiles,
            groups,
            lows,
            across,
            slices,
            per,
            part,
        };
        (plan.shared() <= SHARED).then_some(plan)
    }

    /// Threads of a block.
    pub(super) fn threads(&self) -> usize {
        (self.groups + self.lows) * self.across * 32
    }

    /// Bytes of shared memory: rows with a norm's weights, and in their place sums of all warps and low-rank values.
    pub(super) fn shared(&self) -> usize {
        let rows = self.pad * pitch(self.per) * 2 + self.per * CHUNK * 2;
        let sums = self.across * pitch(self.groups + self.lows) * 4;
        let low = if self.lows > 0 {
            pitch(self.lows) * 2
        } else {
            0
        };
        rows.max(self.pad * (sums + low))
    }
}

/// Groups of a block of gate and up.
fn gate_groups(work: Work, tuning: Tuning) -> usize {
    if tuning.groups > 0 {
        return tuning.groups;
    }
    // Many rows are read as seldom as leaves most multiprocessors a block; with few rows weights alone count.
    let blocks = |groups: usize| work.outputs[0].div_ceil(groups * CHUNK / 2);
    let many = (2..=GROUPS)
        .rev()
        .find(|groups| blocks(*groups) * 4 >= tuning.blocks * 3);
    let few = (2..=GROUPS).find(|groups| blocks(*groups) <= 2 * tuning.blocks);
    if work.rows > 16 {
        many.unwrap_or(2)
    } else {
        few.unwrap_or(GROUPS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn works(hidden: usize, heads: usize, ffn: usize, rank: usize) -> Vec<Work> {
        let (q, kv) = (hidden, hidden / heads * 2);
        let mut all = Vec::new();
        for rows in [1, 2, 7, 8, 12, 16, 32, 33, 64] {
            let work = |kind, inputs, outputs, low| Work {
                kind,
                rows,
                inputs,
                outputs,
                low,
            };
            all.push(work(Kind::Store, hidden, [q, kv, kv], rank));
            all.push(work(Kind::Add, q, [hidden, 0, 0], rank));
            all.push(work(Kind::Gate, hidden, [ffn, 0, 0], 2 * rank));
            all.push(work(Kind::Add, ffn, [hidden, 0, 0], rank));
        }
        all
    }

    fn all_works() -> Vec<Work> {
        let shapes = [(64, 6, 96), (896, 14, 4864), (1536, 12, 8960)];
        let ranks = [0, 8, 16, 64];
        shapes
            .iter()
            .flat_map(|&(h, n, f)| ranks.iter().flat_map(move |&rank| works(h, n, f, rank)))
            .collect()
    }

    #[test]
    fn every_input_is_summed_once_and_everything_fits() {
        let tunings = [
            "",
            "groups=2",
            "groups=1,across=8",
            "split_groups=2,split_across=4",
            "groups=3,warps=12",
            "slices=4",
            "slices=8",
            "blocks=264",
            "split_groups=8,split_across=1,depth=4",
        ];
        for tuning in tunings.map(|text| Tuning::default().set(text).unwrap()) {
            for work in all_works() {
                let plan =
                    Plan::new(work, tuning).unwrap_or_else(|| panic!("{work:?}, {tuning:?}"));
                let chunks = work.inputs.div_ceil(CHUNK);
                assert!(
                    (plan.slices - 1) * plan.per < chunks && plan.slices * plan.per >= chunks,
                    "{work:?}: {plan:?}"
                );
                assert!(
                    plan.slices <= SLICES && (work.kind != Kind::Gate || plan.slices == 1),
                    "{work:?}: {plan:?}"
                );
                assert!(
                    plan.shared() <= SHARED && plan.threads() <= 512,
                    "{work:?}: {plan:?}"
                );
                assert!(plan.pad >= work.rows && plan.pad <= ROWS);
                let depth = if plan.pad == ROWS {
                    tuning.depth_full
                } else {
                    tuning.depth
                };
                assert!(
                    plan.part * PARTS >= plan.per && plan.part.is_multiple_of(plan.across * depth),
                    "{plan:?}"
                );
            }
        }
    }

    #[test]
    fn small_products_are_split_until_they_fill_the_device() {
        let works = works(896, 14, 4864, 0);
        let blocks = |tuning: Tuning| -> Vec<(usize, usize)> {
            let plans = works[32..]
                .iter()
                .map(|work| Plan::new(*work, tuning).unwrap());
            plans.map(|plan| (plan.tiles, plan.slices)).collect()
        };
        assert_eq!(
            blocks(Tuning::default()),
            [(18, 4), (28, 4), (102, 1), (28, 4)]
        );
        assert_eq!(
            blocks(Tuning::default().set("slices=0").unwrap()),
            [(18, 7), (14, 7), (102, 1), (14, 8)]
        );
    }

    #[test]
    fn what_no_kernel_takes_has_no_plan() {
        let work = works(896, 14, 4864, 0)[0];
        assert_eq!(
            Plan::new(Work { rows: 65, ..work }, Tuning::default()),
            None
        );
        assert_eq!(
            Plan::new(Work { low: 512, ..work }, Tuning::default()),
            None
        );
        assert_eq!(
            Plan::new(
                Work {
                    inputs: 904,
                    ..work
                },
                Tuning::default()
            ),
            None
        );
        // 64 rows of a 7B model's gate do not fit into shared memory.
        let large = works(3584, 28, 18944, 0)[34];
        assert_eq!(
            (large.kind, large.rows, Plan::new(large, Tuning::default())),
            (Kind::Gate, 64, None)
        );
        assert_eq!(Kind::Gate.kernel(32), "step_gate_32");
    }
}
