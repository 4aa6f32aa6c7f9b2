//! Element types of torch, and tensors over memory, as far as a plan knows them.

use serde::{Deserialize, Serialize};

/// Torch's numbers of element types, with their names and bytes.
const TYPES: [(u64, &str, u64); 10] = [
    (0, "uint8", 1),
    (1, "int8", 1),
    (2, "int16", 2),
    (3, "int32", 4),
    (4, "int64", 8),
    (5, "float16", 2),
    (6, "float32", 4),
    (7, "float64", 8),
    (11, "bool", 1),
    (15, "bfloat16", 2),
];

/// The name and the bytes of an element type by torch's number.
pub(super) fn of_number(number: u64) -> Option<(&'static str, u64)> {
    let found = TYPES.iter().find(|(one, ..)| *one == number)?;
    Some((found.1, found.2))
}

/// The bytes of an element type by its name.
pub(super) fn bytes_of(name: &str) -> Option<u64> {
    let found = TYPES.iter().find(|(_, one, _)| *one == name)?;
    Some(found.2)
}

/// Torch's number of an element type and its bytes, by its name.
pub(super) fn number_of(name: &str) -> Option<(u64, u64)> {
    let found = TYPES.iter().find(|(_, one, _)| *one == name)?;
    Some((found.0, found.2))
}

/// The strides of a tensor whose elements lie one after the other.
pub(super) fn contiguous(shape: &[u64]) -> Vec<u64> {
    let mut strides = vec![1; shape.len()];
    for at in (1..shape.len()).rev() {
        strides[at - 1] = shape[at].saturating_mul(strides[at]);
    }
    strides
}

/// Dimensions that a tensor may have.
const DIMENSIONS: usize = 16;

/// A tensor as the stand-in names it: anything, until [`Wire::check`] has looked at it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wire {
    /// The number of its memory.
    pub(super) storage: usize,
    /// Bytes from the memory's begin.
    pub(super) offset: u64,
    /// Torch's number of its element type.
    pub(super) dtype: u64,
    pub(super) shape: Vec<u64>,
    /// In elements.
    pub(super) strides: Vec<u64>,
}

impl Wire {
    /// Its element type's name and size, if it lies within memory of `bytes` bytes.
    pub(super) fn check(&self, bytes: u64) -> Result<(&'static str, u64), String> {
        let (name, size) = of_number(self.dtype).ok_or("a tensor of no known type")?;
        if !self.offset.is_multiple_of(size) {
            return Err(format!(
                "a tensor of {name} begins {} bytes into its memory, within an element",
                self.offset
            ));
        }
        if self.shape.len() > DIMENSIONS || self.shape.len() != self.strides.len() {
            return Err("a tensor of too many dimensions".into());
        }
        let mut end = self.offset;
        if !self.shape.contains(&0) {
            let mut last: u64 = 0;
            for (length, stride) in self.shape.iter().zip(&self.strides) {
                let reach = (length - 1).checked_mul(*stride);
                last = reach
                    .and_then(|reach| last.checked_add(reach))
                    .ok_or("a tensor larger than any memory")?;
            }
            end = last
                .checked_add(1)
                .and_then(|count| count.checked_mul(size))
                .and_then(|length| end.checked_add(length))
                .ok_or("a tensor larger than any memory")?;
        }
        if end > bytes {
            return Err(format!(
                "a tensor reaches {end} bytes into memory of {bytes}"
            ));
        }
        Ok((name, size))
    }

    /// How many elements it has; [`Wire::check`] comes first.
    pub(super) fn elements(&self) -> u64 {
        self.shape
            .iter()
            .fold(1, |product, length| product.saturating_mul(*length))
    }

    /// Whether its elements lie one after the other.
    pub(super) fn is_contiguous(&self) -> bool {
        let mut step = 1;
        let pairs = self.shape.iter().zip(&self.strides).rev();
        for (length, stride) in pairs {
            if *length != 1 && *stride != step {
                return false;
            }
            step = step.saturating_mul(*length);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(offset: u64, shape: &[u64], strides: &[u64]) -> Wire {
        Wire {
            storage: 0,
            offset,
            dtype: 6,
            shape: shape.to_vec(),
            strides: strides.to_vec(),
        }
    }

    #[test]
    fn a_tensor_lies_within_its_memory() {
        assert_eq!(wire(0, &[2, 3], &[3, 1]).check(24), Ok(("float32", 4)));
        assert!(wire(4, &[2, 3], &[3, 1]).check(24).is_err());
        assert!(wire(0, &[2, 3], &[4, 1]).check(24).is_err());
        assert!(wire(0, &[u64::MAX], &[u64::MAX]).check(24).is_err());
        assert!(wire(u64::MAX, &[1], &[1]).check(24).is_err());
        assert!(wire(8, &[2], &[1]).check(24).is_ok());
        assert!(wire(6, &[2], &[1]).check(24).is_err(), "within an element");
        assert!(wire(0, &[0, 9], &[9, 1]).check(0).is_ok());
        assert!(wire(0, &[1], &[]).check(24).is_err());
        assert!(wire(0, &[1; 17], &[1; 17]).check(24).is_err());
        assert!(wire(0, &[], &[]).check(4).is_ok());
    }

    #[test]
    fn contiguous_is_as_torch_has_it() {
        assert!(wire(0, &[2, 3], &[3, 1]).is_contiguous());
        assert!(wire(0, &[2, 1, 3], &[3, 77, 1]).is_contiguous());
        assert!(!wire(0, &[2, 3], &[1, 2]).is_contiguous());
    }
}
