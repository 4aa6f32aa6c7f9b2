//! A requested matrix product, in row-major terms.

use super::device::Address;

/// An operand: its address, its row stride, and whether it is transposed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operand {
    pub(super) at: Address,
    pub(super) stride: usize,
    pub(super) transposed: bool,
}

impl Operand {
    /// Rows with this stride.
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

/// The destination of a product.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    /// The place.
    pub(super) at: Address,
    /// Values between its rows.
    pub(super) stride: usize,
    /// Whether it is f32 instead of the device's precision.
    pub(super) wide: bool,
    /// Whether to add to the existing values instead of replacing them.
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

/// One requested product: `c = alpha a b (+ c)`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Product {
    pub(super) a: Operand,
    pub(super) b: Operand,
    pub(super) c: Target,
    pub(super) dims: Dims,
    pub(super) alpha: f32,
}
