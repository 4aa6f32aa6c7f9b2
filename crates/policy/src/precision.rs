//! The precision of weights.

use std::str::FromStr;

/// The type of weights, and on a GPU of activations.
///
/// On the CPU bf16 applies only to frozen matrices. Activations, gradients, sums, adapters, norms
/// and biases are always f32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Precision {
    /// 8 bits of mantissa with f32 sums. It halves the memory and is faster on most machines.
    Bf16,
    /// Full precision. On a GPU it is slow, and serves to check the logic without rounding.
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
