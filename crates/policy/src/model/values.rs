//! The values of a tensor, as they are kept in memory.

use std::borrow::Cow;
use std::ops::{Deref, DerefMut};

use half::bf16;
use half::slice::HalfFloatSliceExt;

/// Values in f32, or in bf16 for a frozen matrix.
///
/// Trained values, norms and biases are always f32 and can be used as slices of f32. Only products
/// with matrices support both kinds. Using bf16 values as a slice of f32 is a bug.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// As they are.
    F32(Vec<f32>),
    /// Rounded to nearest, which halves memory and reads.
    Bf16(Vec<bf16>),
}

impl Values {
    /// The number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::Bf16(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory that they take.
    pub fn bytes(&self) -> usize {
        match self {
            Self::F32(values) => size_of_val(&values[..]),
            Self::Bf16(values) => size_of_val(&values[..]),
        }
    }

    /// The same values in bf16.
    #[must_use]
    pub fn rounded(self) -> Self {
        match self {
            Self::F32(values) => {
                let mut halves = vec![bf16::ZERO; values.len()];
                halves.convert_from_f32_slice(&values);
                Self::Bf16(halves)
            }
            Self::Bf16(_) => self,
        }
    }

    /// The same values in f32, for files and comparisons.
    pub fn widened(&self) -> Cow<'_, [f32]> {
        match self {
            Self::F32(values) => Cow::Borrowed(values),
            Self::Bf16(values) => Cow::Owned(values.iter().map(|value| value.to_f32()).collect()),
        }
    }
}

impl From<Vec<f32>> for Values {
    fn from(values: Vec<f32>) -> Self {
        Self::F32(values)
    }
}

impl<'a> IntoIterator for &'a Values {
    type Item = &'a f32;
    type IntoIter = std::slice::Iter<'a, f32>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Deref for Values {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        match self {
            Self::F32(values) => values,
            Self::Bf16(_) => panic!("a frozen matrix in bf16 was taken for one in f32"),
        }
    }
}

impl DerefMut for Values {
    fn deref_mut(&mut self) -> &mut [f32] {
        match self {
            Self::F32(values) => values,
            Self::Bf16(_) => panic!("a frozen matrix in bf16 was taken for one in f32"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_halves_the_bytes_and_goes_to_the_nearest() {
        let values = Values::from(vec![1.0, -2.5, 1.0 + 1.0 / 512.0, 3.0e-3]);
        let halves = values.clone().rounded();
        assert_eq!((values.bytes(), halves.bytes(), halves.len()), (16, 8, 4));
        assert_eq!(
            halves.widened()[..3],
            [1.0, -2.5, 1.0],
            "a tie goes to the even one"
        );
        let worst = values
            .iter()
            .zip(&*halves.widened())
            .map(|(a, b)| ((a - b) / a).abs())
            .fold(0.0, f32::max);
        assert!(worst <= 1.0 / 256.0, "{worst}");
        assert_eq!(halves.clone().rounded(), halves);
    }

    #[test]
    #[should_panic(expected = "taken for one in f32")]
    fn bf16_values_are_not_a_slice_of_f32() {
        let _ = &Values::from(vec![1.0]).rounded()[..];
    }
}
