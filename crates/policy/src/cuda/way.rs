//! How a decode step is done, and the constants of the ways that were not there first.

use super::error::{Error, Result};
use crate::model::LoraConfig;

/// The widest model whose adapters `auto` decodes by the chained way. It was timed with 896 and 1536, where it is faster by 11
/// to 27 %; at 3584 one answer took 1.7 times as long as by the plain way (`docs/performance.md`).
const CHAINED_WIDEST: usize = 2048;
/// The major compute capability that `auto` was timed on; others take the plain way unless they are told.
const TIMED: i32 = 9;

/// How a decode step is done in bf16; in f32 it is always the plain way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DecodeWay {
    /// Products by cuBLAS, a kernel for everything between them.
    Plain,
    /// Each product by the fastest of cuBLAS's algorithms. They are timed when a number of answers is first decoded, so
    /// another process may choose others, whose sums round differently. From compute capability 9.0 with fewer kernels
    /// between products, which begin while these end.
    Chosen,
    /// Own products with norms, activations, sums and adapters folded in: five kernels a layer, from compute capability
    /// 9.0 and for at most 64 answers; more take the plain way.
    Fused,
    /// The same, each kernel beginning while the one before ends (programmatic dependent launch).
    Chained,
    /// What is fastest and the same in every process: the chained way with an adapter on a model that is not wide; otherwise,
    /// and where that does not serve, the kernels of the chosen way around products whose algorithms cuBLAS itself has chosen.
    #[default]
    Auto,
}

impl DecodeWay {
    /// Every way.
    pub const ALL: [Self; 5] = [
        Self::Plain,
        Self::Chosen,
        Self::Fused,
        Self::Chained,
        Self::Auto,
    ];

    /// Its name, as `HOTLOOP_DECODE` has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Chosen => "chosen",
            Self::Fused => "fused",
            Self::Chained => "chained",
            Self::Auto => "auto",
        }
    }

    fn parse(text: &str) -> Result<Self> {
        let named = Self::ALL.into_iter().find(|way| way.name() == text);
        named.ok_or_else(|| {
            Error::Setting(format!(
                "HOTLOOP_DECODE is {text:?}, not plain, chosen, fused, chained or auto"
            ))
        })
    }

    /// The way that `HOTLOOP_DECODE` names; `auto` without it.
    pub(super) fn from_environment() -> Result<Self> {
        std::env::var("HOTLOOP_DECODE").map_or(Ok(Self::default()), |text| Self::parse(&text))
    }

    /// Whether a device of that compute capability takes this way, given the first that has what the kernels need.
    pub(super) fn suits(self, capability: (i32, i32), first: (i32, i32)) -> bool {
        capability >= first && (self != Self::Auto || capability.0 == TIMED)
    }

    /// Whether `auto` is the chained way for a model that wide with this adapter.
    pub(super) fn auto_chains(hidden: usize, lora: Option<&LoraConfig>) -> bool {
        hidden <= CHAINED_WIDEST && lora.is_some_and(|lora| !lora.targets.is_empty())
    }
}

/// What there is to tune in the fused ways, for an owner of a GPU: `cuda_check tune` measures some settings, and
/// `HOTLOOP_DECODE_TUNE="groups=4,across=2"` sets them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tuning {
    /// Groups of 32 outputs that a block of gate and up takes, 8 at most. More read activations less often and leave fewer
    /// blocks. 0 leaves it to the plan (`decode_product.rs`).
    pub groups: usize,
    /// Warps that share the inputs of a group: a power of two.
    pub across: usize,
    /// `groups` of the other products of a layer, whose inputs are cut into slices: 1, 2, 4 or 8. More read rows less often
    /// and leave fewer blocks. 0 leaves it to the plan.
    pub split_groups: usize,
    /// Their `across`.
    pub split_across: usize,
    /// Slices that their inputs are cut into, 8 at most: so many blocks are a cluster, and those that do not fill a group of
    /// multiprocessors (16 or 18 on an H200) leave some idle. At 0.5B four were faster than what the plan took:
    /// by 3 % to 6 %, with and without an adapter, one answer and 64. 0 leaves it to the plan, as do inputs that do not fit so.
    pub slices: usize,
    /// Warps of a block at most, those of adapters included. At 8 two blocks have room on a multiprocessor.
    pub warps: usize,
    /// Blocks that a plan wishes for: one a multiprocessor.
    pub blocks: usize,
    /// Chunks of 32 inputs under way a warp, for at most 32 rows.
    pub depth: usize,
    /// The same for more rows, whose sums need the registers.
    pub depth_full: usize,
    /// 1: a block asks for all its weights to come to the L2 cache while it waits; 0: for the first only.
    pub prefetch: usize,
    /// 1: kernels note when they come where (`Engine::decode_clocks`).
    pub clocks: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            groups: 0,
            across: 4,
            split_groups: 0,
            split_across: 8,
            slices: 4,
            warps: 12,
            blocks: 132,
            depth: 3,
            depth_full: 2,
            prefetch: 1,
            clocks: 0,
        }
    }
}

impl Tuning {
    /// These constants with some set: `groups=4,across=2`.
    pub fn set(mut self, text: &str) -> std::result::Result<Self, String> {
        for setting in text.split(',').filter(|setting| !setting.is_empty()) {
            let (name, value) = setting
                .split_once('=')
                .ok_or_else(|| format!("{setting:?} is not name=value"))?;
            let value: usize = value
                .parse()
                .map_err(|_| format!("{setting:?} is not a number"))?;
            let place = match name {
                "groups" => &mut self.groups,
                "across" => &mut self.across,
                "split_groups" => &mut self.split_groups,
                "split_across" => &mut self.split_across,
                "slices" => &mut self.slices,
                "warps" => &mut self.warps,
                "blocks" => &mut self.blocks,
                "depth" => &mut self.depth,
                "depth_full" => &mut self.depth_full,
                "prefetch" => &mut self.prefetch,
                "clocks" => &mut self.clocks,
                _ => return Err(format!("there is no {name:?} to tune")),
            };
            *place = value;
        }
        let powers = [self.across, self.split_groups.max(1), self.split_across];
        let sane = powers
            .iter()
            .all(|value| value.is_power_of_two() && *value <= 8)
            && self.groups <= 8
            && self.slices <= 8
            && (1..=16).contains(&self.warps)
            && [self.depth, self.depth_full]
                .iter()
                .all(|depth| (1..=8).contains(depth))
            && self.blocks > 0;
        if sane {
            Ok(self)
        } else {
            Err(format!("these do not go together: {self:?}"))
        }
    }

    /// The constants, with what `HOTLOOP_DECODE_TUNE` sets.
    pub fn from_environment() -> Result<Self> {
        let text = std::env::var("HOTLOOP_DECODE_TUNE").unwrap_or_default();
        Self::default()
            .set(&text)
            .map_err(|error| Error::Setting(format!("HOTLOOP_DECODE_TUNE: {error}")))
    }

    /// What the kernels are compiled with.
    pub(super) fn defines(self) -> Vec<String> {
        let Self {
            depth,
            depth_full,
            prefetch,
            clocks,
            ..
        } = self;
        let mut defines = vec![
            format!("-DSTEP_DEPTH={depth}"),
            format!("-DSTEP_DEPTH_FULL={depth_full}"),
            format!("-DSTEP_PREFETCH={prefetch}"),
        ];
        if clocks > 0 {
            defines.push("-DSTEP_CLOCKS".into());
        }
        defines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Module;

    #[test]
    fn ways_have_names_and_others_are_errors() {
        for way in DecodeWay::ALL {
            assert_eq!(DecodeWay::parse(way.name()).unwrap(), way);
        }
        let error = DecodeWay::parse("fast").unwrap_err().to_string();
        assert!(
            error.contains("fast") && error.contains("chained"),
            "{error}"
        );
    }

    #[test]
    fn auto_chains_adapters_of_models_that_are_not_wide() {
        let lora = |targets: &[Module]| LoraConfig {
            rank: 8,
            alpha: 16.0,
            dropout: 0.0,
            targets: targets.to_vec(),
        };
        let some = lora(&[Module::Q]);
        assert!(
            DecodeWay::auto_chains(896, Some(&some)) && DecodeWay::auto_chains(1536, Some(&some))
        );
        assert!(
            !DecodeWay::auto_chains(3584, Some(&some)),
            "one answer took 1.7 times as long"
        );
        assert!(
            !DecodeWay::auto_chains(896, Some(&lora(&[]))),
            "an adapter of nothing is none"
        );
        assert!(!DecodeWay::auto_chains(896, None));
    }

    #[test]
    fn auto_is_for_devices_it_was_timed_on_and_the_others_for_those_that_can() {
        let first = (9, 0);
        assert!(DecodeWay::Auto.suits((9, 0), first) && !DecodeWay::Auto.suits((10, 0), first));
        assert!(
            DecodeWay::Chained.suits((10, 0), first) && !DecodeWay::Chained.suits((8, 9), first)
        );
    }

    #[test]
    fn constants_are_set_by_name_and_checked() {
        let tuned = Tuning::default().set("groups=4,blocks=264").unwrap();
        assert_eq!((tuned.groups, tuned.blocks, tuned.across), (4, 264, 4));
        for wrong in [
            "groups",
            "groups=x",
            "group=2",
            "split_groups=3",
            "slices=9",
            "warps=17",
            "across=3",
        ] {
            assert!(Tuning::default().set(wrong).is_err(), "{wrong}");
        }
    }
}
