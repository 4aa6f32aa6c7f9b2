//! How exactly weights are kept.

use std::str::FromStr;

/// The type of weights, and on a GPU of activations.
///
/// On the CPU bf16 is for matrices that nothing trains: activations, gradients, sums, adapters,
/// norms and biases are f32 with both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Precision {
    /// 8 bits of mantissa, with f32 sums: half the memory, and on most machines faster.
    Bf16,
    /// As the file has them. On a GPU slow, and for checks of the logic apart from rounding.
    F32,
}

impl Precision {
    /// Bytes of a value.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Bf16 => 2,
            Self::F32 => 4,
        }
    }
}

impl FromStr for Precision {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "bf16" => Ok(Self::Bf16),
            "f32" => Ok(Self::F32),
            other => Err(format!(
                "no precision is called {other}: choose bf16 or f32"
            )),
        }
    }
}
