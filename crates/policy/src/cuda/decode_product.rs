//! The shapes in which the products of `decode_product.cu` run: tiles, slices and shared memory, no device involved.

use super::way::Tuning;

/// Rows of a launch at most, as `decode_product.cu` has it.
pub(super) const ROWS: usize = 64;
/// Inputs of a chunk, and outputs of a warp.
const CHUNK: usize = 32;
/// Groups of outputs of a block at most.
const GROUPS: usize = 8;
/// Warps of a block at most.
const WARPS: usize = 16;
/// Shared memory that a block may ask for, less what it holds by itself.
const SHARED: usize = (227 << 10) - 4096;

/// What becomes of a product's sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// They are kept.
    Store,
    /// They are added to the residual stream.
    Add,
    /// They are gate and up of the MLP.
    Gate,
    /// They are logits.
    Head,
}

impl Kind {
    /// The kernel for so many rows.
    pub(super) fn kernel(self, pad: usize) -> &'static str {
        let names = match self {
            Self::Store => ["step_store_8", "step_store_16", "step_store_32", "step_store_64"],
            Self::Add => ["step_add_8", "step_add_16", "step_add_32", "step_add_64"],
            Self::Gate => ["step_gate_8", "step_gate_16", "step_gate_32", "step_gate_64"],
            Self::Head => ["step_head_8", "step_head_16", "step_head_32", "step_head_64"],
        };
        names[pad.ilog2() as usize - 3]
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
    /// Rows of the kernel: 8, 16, 32 or 64.
    pub(super) pad: usize,
    pub(super) tiles: usize,
    pub(super) groups: usize,
    pub(super) lows: usize,
    pub(super) across: usize,
    pub(super) splits: usize,
    /// Chunks of a slice.
    pub(super) per: usize,
    /// Chunks of rows in shared memory at once.
    pub(super) phase: usize,
}

/// Values of a row of so many chunks in shared memory, as `step_pitch` has it.
fn pitch(chunks: usize) -> usize {
    chunks * CHUNK + if chunks.is_multiple_of(2) { CHUNK } else { 0 }
}

impl Plan {
    /// A plan, if the kernels can serve the work: the one whose blocks read least, where the constants leave a choice.
    pub(super) fn new(work: Work, tuning: Tuning) -> Option<Self> {
        let plan = |groups: usize, across: usize| Self::with(work, tuning, groups, across);
        match work.kind {
            Kind::Head => plan(tuning.head_groups, tuning.head_across),
            Kind::Gate if tuning.groups > 0 => plan(tuning.groups, tuning.across),
            // Many rows are read as seldom as leaves most multiprocessors a block; with few rows weights alone count.
            Kind::Gate => {
                let blocks = |groups: usize| work.outputs[0].div_ceil(groups * CHUNK / 2);
                let many = (2..=GROUPS).rev().find(|groups| blocks(*groups) * 4 >= tuning.blocks * 3);
                let few = (2..=GROUPS).find(|groups| blocks(*groups) <= 2 * tuning.blocks);
                let groups = if work.rows > 16 { many.unwrap_or(2) } else { few.unwrap_or(GROUPS) };
                plan(groups, tuning.across)
            }
            Kind::Store | Kind::Add if tuning.split_groups > 0 => plan(tuning.split_groups, tuning.split_across),
            Kind::Store | Kind::Add => {
                let plans = [1, 2, 4].into_iter().filter_map(|groups| plan(groups, tuning.split_across));
                plans.min_by_key(Self::bytes)
            }
        }
    }

    /// Bytes that the last block of a tile reads: rows, weights and partial sums.
    fn bytes(&self) -> usize {
        let (slice, wide) = (self.per * CHUNK, self.groups * CHUNK);
        let sums = if self.splits > 1 { self.splits * self.pad * wide * 4 } else { 0 };
        (self.pad + wide) * slice * 2 + sums
    }

    fn with(work: Work, tuning: Tuning, groups: usize, wish: usize) -> Option<Self> {
        let head = work.kind == Kind::Head;
        let lows = work.low.div_ceil(CHUNK);
        // Two warps at least share the inputs, so that a multiprocessor has enough of them.
        let most = if head { WARPS } else { tuning.warps.max((2 * (groups + lows)).min(WARPS)) };
        if work.rows == 0 || work.rows > ROWS || groups + lows > WARPS || !work.inputs.is_multiple_of(8) {
            return None;
        }
        let pad = work.rows.next_power_of_two().max(8);
        let wide = groups * CHUNK;
        let tiles: usize = match work.kind {
            Kind::Gate => work.outputs[0].div_ceil(wide / 2),
            _ => work.outputs.iter().map(|outputs| outputs.div_ceil(wide)).sum(),
        };
        let chunks = work.inputs.div_ceil(CHUNK);
        let mut across = wish;
        while across > 1 && (groups + lows) * across > most {
            across /= 2;
        }
        let wanted = if head { 1 } else { ((2 * tuning.blocks + tiles) / (2 * tiles)).max(1) };
        let per = chunks.div_ceil(wanted).max(across.min(chunks));
        let splits = chunks.div_ceil(per);
        let mut plan = Self { pad, tiles, groups, lows, across, splits, per, phase: per };
        plan.keep_rows(if head { per } else { (tuning.phase * ROWS / pad / CHUNK).max(1) }, tuning).then_some(plan)
    }

    /// Keeps so many chunks of rows in shared memory at most; whether that is possible. The head keeps all if they fit, as
    /// it reads them for every tile.
    fn keep_rows(&mut self, most: usize, tuning: Tuning) -> bool {
        let depth = if self.pad >= 32 { tuning.depth_full } else { tuning.depth };
        // A phase is a whole number of turns of all warps, so that weights under way belong to the next.
        let turn = self.across * depth;
        if most < self.per {
            self.phase = (most / turn).max(1) * turn;
        }
        while self.shared() > SHARED {
            self.phase = (self.phase - 1) / turn * turn;
            if self.phase == 0 {
                return false;
            }
        }
        true
    }

    /// Threads of a block.
    pub(super) fn threads(&self) -> usize {
        (self.groups + self.lows) * self.across * 32
    }

    /// Bytes of shared memory: rows, sums of warps that join, low-rank values.
    pub(super) fn shared(&self) -> usize {
        let rows = pitch(self.phase.min(self.per)) * 2;
        let sums = (self.across / 2).max(1) * ((self.groups + self.lows) * CHUNK + 4) * 4;
        let low = if self.lows > 0 { pitch(self.lows) * 2 } else { 0 };
        self.pad * (rows + sums + low)
    }

    /// Blocks across the tiles: those of the head take several.
    pub(super) fn blocks(&self, kind: Kind, tuning: Tuning) -> usize {
        if kind == Kind::Head { self.tiles.min(tuning.blocks) } else { self.tiles }
    }
}

/// Floats of partial sums, and tiles that count arrivals, at most: only products that are split have either.
pub(super) fn scratch(tuning: Tuning) -> (usize, usize) {
    (tuning.blocks * 2 * ROWS * GROUPS * CHUNK, tuning.blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn works(hidden: usize, heads: usize, ffn: usize, rank: usize) -> Vec<Work> {
        let (q, kv) = (hidden, hidden / heads * 2);
        let mut all = Vec::new();
        for rows in [1, 2, 7, 8, 12, 16, 32, 33, 64] {
            let work = |kind, inputs, outputs, low| Work { kind, rows, inputs, outputs, low };
            all.push(work(Kind::Store, hidden, [q, kv, kv], rank));
            all.push(work(Kind::Add, q, [hidden, 0, 0], rank));
            all.push(work(Kind::Gate, hidden, [ffn, 0, 0], 2 * rank));
            all.push(work(Kind::Add, ffn, [hidden, 0, 0], rank));
            all.push(work(Kind::Head, hidden, [151_936, 0, 0], 0));
        }
        all
    }

    fn all_works() -> Vec<Work> {
        let shapes = [(64, 6, 96), (896, 14, 4864), (1536, 12, 8960), (3584, 28, 18944), (5120, 40, 13824)];
        let ranks = [0, 8, 16, 64];
        shapes.iter().flat_map(|&(h, n, f)| ranks.iter().flat_map(move |&rank| works(h, n, f, rank))).collect()
    }

    #[test]
    fn every_input_is_summed_once_and_everything_fits() {
        let tunings = [
            "",
            "groups=2",
            "groups=1,across=8",
            "split_groups=2,split_across=4",
            "groups=3,warps=12",
            "blocks=264,phase=256",
            "split_groups=8,split_across=1,depth=4",
        ];
        for tuning in tunings.map(|text| Tuning::default().set(text).unwrap()) {
            let (partial, arrivals) = scratch(tuning);
            for work in all_works() {
                let plan = Plan::new(work, tuning).unwrap_or_else(|| panic!("{work:?}, {tuning:?}"));
                let chunks = work.inputs.div_ceil(CHUNK);
                assert!(
                    (plan.splits - 1) * plan.per < chunks && plan.splits * plan.per >= chunks,
                    "{work:?}: {plan:?}"
                );
                assert!(plan.shared() <= SHARED && plan.threads() <= 512, "{work:?}: {plan:?}");
                assert!(plan.pad >= work.rows && plan.pad <= ROWS);
                let depth = if plan.pad >= 32 { tuning.depth_full } else { tuning.depth };
                assert!(plan.phase >= plan.per || plan.phase.is_multiple_of(plan.across * depth), "{work:?}: {plan:?}");
                if plan.splits > 1 {
                    assert!(work.kind != Kind::Head && plan.tiles <= arrivals);
                    let floats = plan.tiles * plan.splits * work.rows * plan.groups * CHUNK;
                    assert!(floats <= partial, "{work:?}: {plan:?}");
                }
            }
        }
    }

    #[test]
    fn small_products_are_split_until_they_fill_the_device() {
        let plans: Vec<Plan> =
            works(896, 14, 4864, 0)[40..].iter().map(|work| Plan::new(*work, Tuning::default()).unwrap()).collect();
        let blocks: Vec<(usize, usize)> = plans.iter().map(|plan| (plan.tiles, plan.splits)).collect();
        assert_eq!(blocks, [(36, 4), (28, 4), (102, 1), (28, 5), (1187, 1)]);
    }

    #[test]
    fn what_no_kernel_takes_has_no_plan() {
        let work = works(896, 14, 4864, 0)[0];
        assert_eq!(Plan::new(Work { rows: 65, ..work }, Tuning::default()), None);
        assert_eq!(Plan::new(Work { low: 512, ..work }, Tuning::default()), None);
        assert_eq!(Kind::Gate.kernel(32), "step_gate_32");
    }
}
