//! The launch shapes of `decode_product.cu`: tiles, slices and shared memory. No device is
//! involved.

use std::ops::RangeInclusive;

/// Maximum number of rows in a launch, as in `decode_product.cu`.
pub(super) const ROWS: usize = 64;
/// Inputs per chunk, and outputs per warp.
const CHUNK: usize = 32;
/// Maximum number of output groups per block.
const GROUPS: usize = 8;
/// Maximum number of warps per block.
const WARPS: usize = 16;
/// Maximum number of slices of the inputs, `STEP_SLICES` of `decode_tile.cu`. Any device supports
/// this many blocks in a cluster.
const SLICES: usize = 8;
/// Number of parts in which rows are loaded to shared memory, `STEP_PARTS` of `decode_tile.cu`.
const PARTS: usize = 4;
/// Shared memory that a block must be able to use.
pub(super) const BLOCK: usize = 227 << 10;
/// Dynamic shared memory of a block. The rest is static.
const SHARED: usize = BLOCK - 4096;

/// Preferred maximum number of warps per block, including those of adapters, unless two per group
/// need more. This number was the fastest.
const WARPS_WISHED: usize = 12;
/// Preferred number of blocks: one for each multiprocessor of an H200.
const BLOCKS: usize = 132;
/// Preferred number of slices of the inputs, if they fit. This is also the cluster size, and
/// clusters that do not fill a group of multiprocessors (16 or 18 on an H200) leave some idle. At
/// 0.5B four slices were 3 % to 6 % faster than the choice of `reads`.
const SLICES_WISHED: usize = 4;
/// Number of warps that share the inputs of a group of gate and up, and of the other products. Both
/// are powers of two.
const GATE_ACROSS: usize = 4;
const SPLIT_ACROSS: usize = 8;
/// `STEP_DEPTH` of `decode_tile.cu`: chunks of 32 inputs in flight per warp, for at most 32 rows.
const DEPTH: usize = 3;
/// `STEP_DEPTH_FULL`: the same for more rows, whose sums need more registers.
const DEPTH_FULL: usize = 2;

/// What happens to a product's sums.
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
    /// The kernel for `pad` rows.
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
    /// Outputs of each module. For gate and up these are only gate's.
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

/// Values in a row of `chunks` chunks in shared memory (`step_pitch`), and in a row of sums of as
/// many groups (`step_sum_pitch`).
fn pitch(chunks: usize) -> usize {
    chunks * CHUNK + 8
}

/// Chunks in flight per warp, in the kernel for `pad` rows.
fn depth(pad: usize) -> usize {
    if pad == ROWS { DEPTH_FULL } else { DEPTH }
}

impl Plan {
    /// A plan, if the kernels can serve the work.
    pub(super) fn new(work: Work) -> Option<Self> {
        match work.kind {
            Kind::Gate => Self::with(work, gate_groups(work), GATE_ACROSS, 1),
            Kind::Store | Kind::Add => {
                let best = |slices: RangeInclusive<usize>| {
                    let shapes = [1, 2, 4]
                        .into_iter()
                        .flat_map(|groups| slices.clone().map(move |slices| (groups, slices)));
                    let plan = |(groups, slices)| Self::with(work, groups, SPLIT_ACROSS, slices);
                    shapes.filter_map(plan).min_by_key(Self::reads)
                };
                best(SLICES_WISHED..=SLICES_WISHED).or_else(|| best(1..=SLICES))
            }
        }
    }

    /// Values that a multiprocessor reads, rows and weights, if all share the blocks.
    fn reads(&self) -> usize {
        let resident = (SHARED / self.shared()).clamp(1, 2);
        let waves = (self.tiles * self.slices).div_ceil(BLOCKS * resident);
        let at_once = (self.tiles * self.slices).div_ceil(BLOCKS).min(resident);
        waves * at_once * (self.pad + self.groups * CHUNK) * self.per * CHUNK
    }

    /// The plan with at most these numbers of groups per block, warps that share their inputs, and
    /// slices.
    fn with(work: Work, groups: usize, most_across: usize, most_slices: usize) -> Option<Self> {
        let lows = work.low.div_ceil(CHUNK);
        // At least two warps share the inputs, so that a multiprocessor has enough warps.
        let most = WARPS_WISHED.max((2 * (groups + lows)).min(WARPS));
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
        let per = chunks.div_ceil(most_slices);
        let mut across = most_across;
        while across > 1 && ((groups + lows) * across > most || across > per.next_power_of_two()) {
            across /= 2;
        }
        let slices = chunks.div_ceil(per);
        // A part is a whole number of turns of all warps, so that weights in flight belong to the
        // next part.
        let turn = across * depth(pad);
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

    /// Bytes of shared memory: rows with a norm's weights. Sums of all warps and low-rank values
    /// reuse the same memory.
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
fn gate_groups(work: Work) -> usize {
    // With many rows, larger groups read them less often, as long as most multiprocessors get a
    // block. With few rows only weights matter.
    let blocks = |groups: usize| work.outputs[0].div_ceil(groups * CHUNK / 2);
    let many = (2..=GROUPS)
        .rev()
        .find(|groups| blocks(*groups) * 4 >= BLOCKS * 3);
    let few = (2..=GROUPS).find(|groups| blocks(*groups) <= 2 * BLOCKS);
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
        let q = hidden;
        let kv = hidden / heads * 2;
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
        for work in all_works() {
            let plan = Plan::new(work).unwrap_or_else(|| panic!("{work:?}"));
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
            let turn = plan.across * depth(plan.pad);
            assert!(
                plan.part * PARTS >= plan.per && plan.part.is_multiple_of(turn),
                "{plan:?}"
            );
        }
    }

    #[test]
    fn small_products_are_split_until_they_fill_the_device() {
        let works = works(896, 14, 4864, 0);
        let plans = works[32..].iter().map(|work| Plan::new(*work).unwrap());
        let blocks: Vec<(usize, usize)> = plans.map(|plan| (plan.tiles, plan.slices)).collect();
        assert_eq!(blocks, [(18, 4), (28, 4), (102, 1), (28, 4)]);
    }

    #[test]
    fn an_unsupported_product_has_no_plan() {
        let work = works(896, 14, 4864, 0)[0];
        assert_eq!(Plan::new(Work { rows: 65, ..work }), None);
        assert_eq!(Plan::new(Work { low: 512, ..work }), None);
        let inputs = 904;
        assert_eq!(Plan::new(Work { inputs, ..work }), None);
        // 64 rows of a 7B model's gate do not fit into shared memory.
        let large = works(3584, 28, 18944, 0)[34];
        assert_eq!(
            (large.kind, large.rows, Plan::new(large)),
            (Kind::Gate, 64, None)
        );
        assert_eq!(Kind::Gate.kernel(32), "step_gate_32");
    }
}
