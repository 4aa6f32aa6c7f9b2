//! A matrix product as it is asked for, in row-major terms.

use super::device::Address;

/// An operand: where it lies, how long its rows are in memory, and whether its transpose is meant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operand {
    pub(super) at: Address,
    pub(super) stride: usize,
    pub(super) transposed: bool,
}

impl Operand {
    /// Rows of that stride.
    pub(super) fn rows(at: Address, stride: usize) -> Self {
        Self {
            at,
            stride,
            transposed: false,
        }
    }

    /// Its transpose.
    #[must_use]
    pub(super) fn t(self) -> Self {
        Self {
            transposed: !self.transposed,
            ..self
        }
    }
}

/// Where a product goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    /// The place.
    pub(super) at: Address,
    /// Values between its rows.
    pub(super) stride: usize,
    /// f32 rather than the device's precision.
    pub(super) wide: bool,
    /// Added to what is there rather than replacing it.
    pub(super) add: bool,
}

impl Target {
    /// Replaces activations.
    pub(super) fn set(at: Address, stride: usize) -> Self {
        Self {
            at,
            stride,
            wide: false,
            add: false,
        }
    }

    /// Adds to activations.
    pub(super) fn add(at: Address, stride: usize) -> Self {
        Self {
            add: true,
            ..Self::set(at, stride)
        }
    }

    /// Adds to a gradient in f32.
    pub(super) fn gradient(at: Address, stride: usize) -> Self {
        Self {
            at,
            stride,
            wide: true,
            add: true,
        }
    }

    /// Replaces f32 values.
    pub(super) fn wide(at: Address, stride: usize) -> Self {
        Self {
            at,
            stride,
            wide: true,
            add: false,
        }
    }
}

/// Rows and columns of the result, and the length summed over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dims(pub(super) usize, pub(super) usize, pub(super) usize);

/// One product as it is asked for: `c = alpha a b (+ c)`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Product {
    pub(super) a: Operand,
    pub(super) b: Operand,
    pub(super) c: Target,
    pub(super) dims: Dims,
    pub(super) alpha: f32,
}
