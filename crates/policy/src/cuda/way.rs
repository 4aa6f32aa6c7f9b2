//! How a decode step is done.

use super::error::{Error, Result};
use crate::model::LoraConfig;

/// The widest model whose adapters `auto` decodes with the fused step. It was measured at 896 and
/// 1536, where it is 11 to 27 % faster. At 3584 one answer took 1.7 times as long as the plain way
/// (`docs/performance.md`).
const FUSED_WIDEST: usize = 2048;
/// The major compute capability that `auto` was measured on. Other devices use the plain way.
const TIMED: i32 = 9;

/// How a decode step is done in bf16. In f32 it is always the plain way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DecodeWay {
    /// Products with cuBLAS, and a kernel for everything between them.
    Plain,
    /// The fastest way whose results are the same in every process: the fused step (`fused.rs`)
    /// with an adapter on a model that is not wide, and the joined step (`joined.rs`) otherwise.
    #[default]
    Auto,
}

impl DecodeWay {
    pub const ALL: [Self; 2] = [Self::Plain, Self::Auto];

    /// Its name in `HOTLOOP_DECODE`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Auto => "auto",
        }
    }

    fn parse(text: &str) -> Result<Self> {
        let named = Self::ALL.into_iter().find(|way| way.name() == text);
        named
            .ok_or_else(|| Error::Setting(format!("HOTLOOP_DECODE is {text:?}, not plain or auto")))
    }

    /// The way that `HOTLOOP_DECODE` names; `auto` without it.
    pub(super) fn from_environment() -> Result<Self> {
        std::env::var("HOTLOOP_DECODE").map_or(Ok(Self::default()), |text| Self::parse(&text))
    }

    /// Whether `auto` was measured on devices of this compute capability.
    pub(super) fn is_timed_on(capability: (i32, i32)) -> bool {
        capability.0 == TIMED
    }

    /// Whether `auto` uses the fused step for a model of this width with this adapter.
    pub(super) fn fuses(hidden: usize, lora: Option<&LoraConfig>) -> bool {
        hidden <= FUSED_WIDEST && lora.is_some_and(|lora| !lora.targets.is_empty())
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
        assert!(error.contains("fast") && error.contains("plain"), "{error}");
    }

    #[test]
    fn adapters_of_models_that_are_not_wide_take_the_fused_step() {
        let lora = |targets: &[Module]| LoraConfig {
            rank: 8,
            alpha: 16.0,
            dropout: 0.0,
            targets: targets.to_vec(),
        };
        let some = lora(&[Module::Q]);
        assert!(DecodeWay::fuses(896, Some(&some)) && DecodeWay::fuses(1536, Some(&some)));
        assert!(
            !DecodeWay::fuses(3584, Some(&some)),
            "one answer took 1.7 times as long"
        );
        assert!(
            !DecodeWay::fuses(896, Some(&lora(&[]))),
            "an adapter without targets changes nothing"
        );
        assert!(!DecodeWay::fuses(896, None));
    }

    #[test]
    fn auto_is_for_devices_it_was_timed_on() {
        assert!(DecodeWay::is_timed_on((9, 0)));
        assert!(!DecodeWay::is_timed_on((8, 9)) && !DecodeWay::is_timed_on((10, 0)));
    }
}
