//! Types of elements: how the GPU reads them, and how exact they must be.

use hotloop_flow::interface::Kind;

use crate::gpu::examine::verify;

/// How exact floats must be, in units of their scale. The scale of an element is its own size and
/// the root mean square of its tensor. So an element near zero may be off by what is little beside
/// its neighbours, as sums are whose terms cancel.
const FLOATS: f64 = 1e-4;
/// Doubles, where torch computes all of a problem in doubles: then its error is nothing.
const DOUBLES: f64 = 1e-9;
/// An answer may err so many times as much as plain torch does in floats: another order of sums has
/// another error, and torch's is but one of them.
const BESIDE_TORCH: f64 = 4.0;
/// Types of sixteen bits keep 8 or 11 bits of a number. One step of the coarser is 0.4 %.
const HALVES: f64 = 1e-2;

/// An element type that outputs may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Element {
    /// Its number in `trusted.cu`.
    pub(super) number: i32,
    pub(super) bytes: u64,
    /// How its bytes are read; nothing for short integers.
    kind: Option<Kind>,
    is_signed: bool,
}

impl Element {
    /// By torch's name.
    pub(super) fn of(name: &str) -> Option<Self> {
        let (number, bytes, kind, is_signed) = match name {
            "float64" => (0, 8, Some(Kind::F64), true),
            "float32" => (1, 4, Some(Kind::F32), true),
            "float16" => (2, 2, Some(Kind::F16), true),
            "bfloat16" => (3, 2, Some(Kind::Bf16), true),
            "int32" => (4, 4, Some(Kind::I32), true),
            "int64" => (5, 8, Some(Kind::I64), true),
            "uint8" | "bool" => (6, 1, None, false),
            "int8" => (7, 1, None, true),
            "int16" => (8, 2, None, true),
            _ => return None,
        };
        Some(Self {
            number,
            bytes,
            kind,
            is_signed,
        })
    }

    /// The error that an element may have. `torch` is that of plain torch in floats.
    pub(super) fn bound(self, torch: f64) -> f64 {
        match self.kind {
            Some(Kind::F16 | Kind::Bf16) => HALVES.max(BESIDE_TORCH * torch),
            Some(Kind::F64) if torch <= DOUBLES => DOUBLES,
            Some(Kind::F64 | Kind::F32) => FLOATS.max(BESIDE_TORCH * torch),
            Some(Kind::I32 | Kind::I64) | None => 0.0,
        }
    }

    /// A number as it lies in memory.
    pub(super) fn spelled(self, bytes: &[u8]) -> String {
        match (self.kind, bytes) {
            (Some(kind), bytes) => verify::spelled(kind, verify::number(kind, bytes)),
            (None, [byte]) if self.is_signed => byte.cast_signed().to_string(),
            (None, [byte]) => byte.to_string(),
            (None, [low, high, ..]) => i16::from_le_bytes([*low, *high]).to_string(),
            (None, []) => String::new(),
        }
    }

    /// A right number with as many digits as the type has.
    pub(super) fn spelled_right(self, value: f64) -> String {
        verify::spelled(self.kind.unwrap_or(Kind::I32), value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_follow_the_type_and_torch() {
        let bound = |name: &str, torch| Element::of(name).unwrap().bound(torch);
        for (name, torch, wanted) in [
            ("float32", 0.0, 1e-4),
            ("float32", 1e-6, 1e-4),
            ("float32", 1e-3, 4e-3),
            ("float64", 0.0, 1e-9),
            ("float64", 1e-7, 1e-4),
            ("float16", 1e-3, 1e-2),
            ("bfloat16", 4e-3, 1.6e-2),
            ("int64", 1e-3, 0.0),
            ("bool", 1e-3, 0.0),
        ] {
            assert!((bound(name, torch) - wanted).abs() < 1e-12, "{name}");
        }
        assert_eq!(Element::of("complex64"), None);
    }

    #[test]
    fn short_integers_are_read_as_they_lie() {
        let spelled = |name: &str, bytes: &[u8]| Element::of(name).unwrap().spelled(bytes);
        assert_eq!(spelled("int8", &[0xff]), "-1");
        assert_eq!(spelled("uint8", &[0xff]), "255");
        assert_eq!(spelled("int16", &[0xfe, 0xff]), "-2");
        assert_eq!(spelled("int32", &7i32.to_le_bytes()), "7");
    }
}
